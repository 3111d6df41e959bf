#pragma once

// Runs a program of a corpus as `orrery run` does, and compares its results with those of JAX.

#include <array>
#include <string>
#include <vector>

#include "tests/oracle/corpus.h"
#include "verifier/report.h"

namespace orrery::test {

struct Disagreement {
  const Expected* expected;  // null: of a type, or of a check that fails
  std::string what;          // a sentence
};

/// How many elements of results, and how many types, a replay compared.
struct Compared {
  size_t types = 0;
  size_t by_bits = 0;
  size_t within_bounds = 0;
  size_t undecided = 0;  // they differ by less than a bound that is as large as they are

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

/// Where bits may differ, results are compared by the bounds on the roundings of both: of ours, and
/// of XLA on the CPU (verifier/oracle/bounds.h).
Replay replay(const Case& made);

}  // namespace orrery::test
