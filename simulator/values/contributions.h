#pragma once

// What one element is made of: how often each input element went into it. The contributions of a
// piece (piece_map.h) are kept as runs of ranks, so that a sum over all ranks of a ring is one
// entry, and a partial sum at most two.

#include <compare>
#include <cstdint>
#include <vector>

#include "models/base/id.h"

namespace orrery {

/// Element j of a piece that begins at `first` is made of input element source + (j - first) of
/// each of the ranks [rank, rank + ranks), `times` times each.
struct Contribution {
  Rank rank;
  uint32_t ranks = 1;
  int64_t source = 0;
  uint32_t times = 1;
  friend auto operator<=>(const Contribution&, const Contribution&) = default;
};

/// Sorted; per source, runs of ranks that are disjoint and as long as can be. So equal sums have
/// equal lists.
using Contributions = std::vector<Contribution>;

/// The contributions of an element that combines two others: their times added, and held at the
/// largest number where the sum leaves 32 bits.
Contributions sum(const Contributions& a, const Contributions& b);

}  // namespace orrery
