#pragma once

// Verdicts: what a check concludes, and what a run concludes as a whole. A property that does not
// hold is a result and not an error, so it has a witness and is never thrown.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

/// Each outweighs those before it. Undecided means that nothing is known to be wrong, but that what
/// was done could not have shown it.
enum class Verdict : uint8_t { Holds, Undecided, Fails };

/// The verdict on two checks together.
constexpr Verdict both(Verdict a, Verdict b) {
  return std::max(a, b);
}

/// One conclusion of a run: of a static check, of a comparison with a definition, of a proof or of
/// an expectation. names.h in check/ has all kinds, and makes checks.
struct Check {
  std::string name;  // "DEADLOCK.FREE", "VALUES.CLOSE", "MEMORY.CAPACITY", ...
  Verdict verdict = Verdict::Holds;
  /// The place of what was checked, as a JSON pointer: "/expect/0", "/program/3". An op that was
  /// not read from a file has its quoted name instead.
  std::string of;
  /// One sentence. If the check fails, it is the smallest witness in words; if it is undecided, the
  /// reason.
  std::string message;
  std::vector<std::pair<std::string, std::string>> witness;  // the witness as keys and texts
  /// A sentence on what a check that holds does not show; may be empty.
  std::string caveat = {};

  /// The message, followed by the caveat.
  std::string said() const { return caveat.empty() ? message : message + " " + caveat; }
  bool holds() const { return verdict == Verdict::Holds; }
};

}  // namespace orrery
