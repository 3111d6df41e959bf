#pragma once

// The library's front door: one scenario in, one report out.

#include <cstdint>

#include "models/scenario/scenario.h"
#include "verifier/report.h"

namespace orrery {

/// Whether to move data: Auto moves it when all values together fit `data_budget`.
enum class Data : uint8_t { Auto, On, Off };

struct RunOptions {
  uint64_t seed = 0;
  Data data = Data::Auto;
  Bytes data_budget = Bytes(int64_t{1} << 30);
  /// The most that Data::On may take; more is refused before anything is allocated.
  Bytes data_limit = Bytes(int64_t{4} << 30);
  /// Steps up to which a schedule is proved without being asked to.
  uint64_t proof_budget = 1'000'000;
  /// Steps of the whole program up to which the slack of its ops is worked out.
  uint64_t slack_budget = 1'000'000;
};

/// Throws InputError for a scenario that cannot be lowered (no route, unknown rate, overflow).
Report run(const Scenario& scenario, const RunOptions& options);

}  // namespace orrery
