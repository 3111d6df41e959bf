#pragma once

// Writes what came of verifying a law (verifier/laws/verify.h): for people, and as JSON.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/law.h"
#include "tools/report/style.h"
#include "verifier/laws/verify.h"

namespace orrery {

/// A law with its verdict, and the commands that show its counterexample again.
struct VerifiedLaw {
  const Law& law;
  const LawVerdict& verdict;
  std::optional<uint64_t> asked = {};  // cases; empty if one was asked for by its number
  std::string run = {};                // of the small case; empty if its file was not written
  std::string verify = {};             // of the case that failed, or of the first that is undecided
};

/// Returns the law's line, what was drawn, and its counterexample.
std::string law_text(const VerifiedLaw& verified, const Style& style);

/// Returns the same as a JSON object on one line. Bytes that are not UTF-8 (in file names) become
/// U+FFFD.
std::string law_json(const VerifiedLaw& verified);

/// Returns the errors of a law that cannot be verified as such an object.
std::string law_json(const std::string& file, const InputError& error);

/// Returns the value as JSON on one line.
std::string value_json(const TemplateValue& value);

/// The sums over several laws.
struct LawCounts {
  uint64_t laws = 0;
  uint64_t failing = 0;
  uint64_t undecided = 0;  // laws that do not fail, of which a case is undecided
  uint64_t wrong = 0;      // laws that are no laws, or of which a case is no scenario
  uint64_t cases = 0;
};

/// Returns "2 laws hold, 200 cases", "1 of 2 laws fails, 101 cases" or the like.
std::string counts_text(const LawCounts& counts);

/// Returns what was drawn for a name in all cases: "1 to 8", "of length 3", "f32 34,
/// bf16 31", "1 (12 cases), 2 (14)".
std::string drawn_text(const Draw& draw, const DrawnValues& drawn);

}  // namespace orrery
