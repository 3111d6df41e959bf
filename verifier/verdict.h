#pragma once

// What a check concludes, and a run as a whole.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

/// Each outweighs those before it. Undecided: nothing is known to be wrong, but what was done could
/// not have shown it.
enum class Verdict : uint8_t { Holds, Undecided, Fails };

/// The verdict on two checks together.
constexpr Verdict both(Verdict a, Verdict b) {
  return std::max(a, b);
}

/// One verdict of a run: a static check, the oracle's comparison of an op, a proof, or an
/// expectation.
struct Check {
  std::string name;  // "DEADLOCK.FREE", "VALUES.CLOSE", "MEMORY.CAPACITY", ...
  Verdict verdict = Verdict::Holds;
  std::string of;  // what was checked, as a JSON pointer: "/expect/0", "/program/3"; for an op that
                   // was not read from a file, its quoted name
  std::string message;  // one sentence; when it does not hold, the smallest witness in words, or
                        // why it is undecided
  std::vector<std::pair<std::string, std::string>> witness;  // the same as key and text
  std::string caveat = {};  // a sentence on what a check that holds does not show; else empty

  /// The message and the caveat.
  std::string said() const { return caveat.empty() ? message : message + " " + caveat; }
  bool holds() const { return verdict == Verdict::Holds; }
};

}  // namespace orrery
