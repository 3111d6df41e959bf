#pragma once

// Whether a property holds: a value, not an error.

#include <string>
#include <utility>

namespace orrery {

/// The outcome of one check. When it does not hold, `witness` is the smallest evidence found, in
/// words.
struct Verdict {
  bool holds = true;
  std::string witness;

  static Verdict yes() { return {}; }
  static Verdict no(std::string witness) { return {false, std::move(witness)}; }
};

}  // namespace orrery
