#pragma once

// A verdict is the conclusion of a check, and of a run as a whole. A property that does not hold is
// a result and not an error, so it has a witness and is never thrown.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

/// Each value outweighs those before it. Undecided means that nothing is known to be wrong, but
/// that the check could not have shown it.
enum class Verdict : uint8_t { Holds, Undecided, Fails };

/// Returns the verdict on two checks together.
constexpr Verdict both(Verdict a, Verdict b) {
  return std::max(a, b);
}

/// A Check is one conclusion of a run: of a static check, of a comparison with a definition, of a
/// proof or of an expectation. check/names.h lists all kinds, and makes checks.
struct Check {
  std::string name;  // "DEADLOCK.FREE", "VALUES.CLOSE", "MEMORY.CAPACITY", ...
  Verdict verdict = Verdict::Holds;
  /// The place of the checked thing, as a JSON pointer: "/expect/0", "/program/3". An op that was
  /// not read from a file has its quoted name instead.
  std::string of;
  /// The outcome in one sentence. If the check fails, it is the smallest witness in words; if it is
  /// undecided, the reason.
  std::string message;
  std::vector<std::pair<std::string, std::string>> witness;  // the witness as keys and texts
  /// A sentence on what a check that holds does not show; it may be empty.
  std::string caveat = {};

  /// Returns the message, followed by the caveat.
  std::string said() const { return caveat.empty() ? message : message + " " + caveat; }
  bool holds() const { return verdict == Verdict::Holds; }
};

}  // namespace orrery
