#pragma once

// Compares the values of a program without loops with the definitions of its collectives.

#include <optional>

#include "verifier/check/values.h"
#include "verifier/prove/prover.h"

namespace orrery::test {

/// Returns the check of the first site, with the folds that the prover proves.
inline std::optional<Check> values_check(const Program& program, const Lowered& lowered,
                                         Prover& prover, const DeviceValues& values) {
  ValuesAgainstDefinitions definitions(
      program, lowered,
      [&](const Op& op, const Collective& collective) { return prover.folds(op, collective); });
  definitions.add(values);
  return definitions.check(SiteId(0));
}

}  // namespace orrery::test
