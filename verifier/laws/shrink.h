#pragma once

// Makes a failing case of a law small: numbers least, choices the first, lists short, permutations
// the identity, the cluster plain, and elements of arrays 0 or 1, as long as the same check fails
// at the same place. Where no value alone can be made simpler, two at once are tried. The search is
// greedy and draws nothing, so the same case gives the same result.

#include <cstdint>
#include <optional>
#include <string>

#include "models/base/callable.h"
#include "models/scenario/law.h"
#include "verifier/laws/law_case.h"
#include "verifier/verdict.h"

namespace orrery {

struct Shrunk {
  LawCase least;
  Scenario scenario;  // of that case; arrays with drawn elements are given per device
  Check check;        // as it fails there
  bool ended_early;   // not all were tried: the tries were spent, or elements are too many
};

/// Runs a scenario, and returns the check of that name and place if it fails.
using StillFails = FunctionRef<std::optional<Check>(const Scenario& scenario)>;

/// At most so many smaller cases are tried. A case with more than kBytesOfTry of data counts as
/// several. If all arrays together have more than kMostShrunk elements, these stay as drawn.
inline constexpr int64_t kMostTries = 2000;
inline constexpr int64_t kBytesOfTry = 1 << 18;
inline constexpr size_t kMostShrunk = 4096;

/// Returns the smallest case found. `check` is what fails in `failing`.
Shrunk shrunk(const Law& law, LawCase failing, Check check, StillFails still_fails);

}  // namespace orrery
