#pragma once

// Whether a property holds, with the evidence where it does not: a value, not an error.

#include <string>
#include <utility>

namespace orrery {

/// The answer to one question. When it is no, `witness` is the smallest evidence found, in words.
struct Answer {
  bool holds = true;
  std::string witness;

  static Answer yes() { return {}; }
  static Answer no(std::string witness) { return {false, std::move(witness)}; }
};

}  // namespace orrery
