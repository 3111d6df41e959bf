#pragma once

// The library's front door: one scenario in, one report out. run() takes these steps:
//  1. The iterations of loops are written: all of them where that is cheap (long_loops.h). Where
//     some are left out, times and values are those of the program with regions.
//  2. The tables of ragged exchanges are found (ragged/ragged_tables.h).
//  3. The program is lowered, and the stages (stages.h) answer how long it takes, how much memory
//     it needs, what its values are, and where it stops if it does not end.
//  4. Checks (check/), comparisons with definitions (oracle/) and proofs (prove/) judge them. Each
//     gives a verdict (verdict.h).
//  5. The scenario's expectations are judged by all of these (expect/).
//  6. The report (report.h) gets its labels and rows (report/), and a fingerprint.
// With GPUs, step 3 also runs the program there (gpus/), and compares the two runs.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "models/program/unroll.h"
#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"
#include "verifier/gpus/gpu_options.h"
#include "verifier/report.h"

namespace orrery {

/// Whether to move data: Auto moves it when all values together fit `data_budget`, and they take
/// few ops (`values_budget`) or an expectation needs them.
enum class Data : uint8_t { Auto, On, Off };

struct RunOptions {
  uint64_t seed = 0;
  Data data = Data::Auto;
  Bytes data_budget = Bytes(int64_t{1} << 30);
  /// Steps up to which a schedule is proved without being asked to.
  uint64_t proof_budget = 1'000'000;
  /// The same limit in pieces (ProofBudget::pieces), above those of usual schedules.
  uint64_t proof_piece_budget = 16'000'000;
  /// Steps of the whole program up to which the slack of its ops is computed.
  uint64_t slack_budget = kStepsLookedAt;
  /// Ops over all devices up to which every iteration of a loop is a part of the report's program.
  /// Above it, iterations are left out (models/program/loop.h), and slack and the critical path are
  /// not worked out.
  uint64_t iterations_budget = 200'000;
  /// Ops over all devices, in all iterations, up to which Data::Auto computes values where
  /// iterations are left out and no expectation needs them.
  uint64_t values_budget = 500'000;
  /// WrittenOut: every iteration is, whatever the budget; beyond the limits the program is refused.
  LongLoops long_loops = LongLoops::LeftOut;
  /// If given, values are those of GPUs, and are compared with the host's.
  std::optional<GpuOptions> gpus = {};
  /// A program beyond them is refused (models/scenario/size_limits.h).
  Limits limits;
};

/// The message for a quantity that exceeds 64 bits.
std::string too_large(const Overflow& overflow);

/// Throws InputError for a scenario that cannot be lowered (no route, unknown rate) or is too large
/// (a limit, or a quantity that exceeds 64 bits). With `gpus` it throws NoGpus where there are none
/// or the driver fails, and TooLittleGpuMemory; with `fast_dot` also NoFastDot.
Report run(Scenario scenario, const RunOptions& options);

/// The same without a copy, for a scenario that is run several times. `scenario` is not null.
Report run(std::shared_ptr<const Scenario> scenario, const RunOptions& options);

}  // namespace orrery
