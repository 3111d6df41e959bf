#pragma once

// Runs a program of a corpus as `orrery run` does, and compares its results with those of JAX.

#include <array>
#include <string>
#include <vector>

#include "tests/oracle/corpus.h"
#include "verifier/report.h"

namespace orrery::test {

struct Disagreement {
  const Expected* expected;  // null if a type or a check is wrong
  std::string what;          // a sentence
};

/// A `Compared` counts the elements of results, and the types, that a replay compared.
struct Compared {
  size_t types = 0;
  size_t by_bits = 0;
  size_t within_bounds = 0;
  size_t undecided = 0;  // within the bounds, but these are as large as the values

  void add(const Compared& more) {
    types += more.types;
    by_bits += more.by_bits;
    within_bounds += more.within_bounds;
    undecided += more.undecided;
  }
};

struct Replay {
  Report report;
  std::vector<Disagreement> disagreements;
  Compared compared;
};

/// Runs and compares one program. Where bits may differ, it compares by the bounds on the roundings
/// of both sides: ours, and those of XLA on the CPU (verifier/definition/bounds.h).
Replay replay(const Case& made);

}  // namespace orrery::test
