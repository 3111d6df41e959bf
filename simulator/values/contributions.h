#pragma once

// How often each input element went into one element. The contributions of a piece (piece_map.h)
// are kept as runs of ranks. So a sum over all ranks of a ring is one entry, and a partial sum at
// most two.

#include <compare>
#include <cstdint>
#include <vector>

#include "models/base/id.h"

namespace orrery {

/// Element j of a piece that begins at `first` contains input element source + (j - first) of each
/// of the ranks [rank, rank + ranks), `times` times each.
struct Contribution {
  Rank rank;
  uint32_t ranks = 1;
  int64_t source = 0;
  uint32_t times = 1;
  friend auto operator<=>(const Contribution&, const Contribution&) = default;
};

/// Sorted. The runs of a source are disjoint and as long as possible, so equal sums have equal
/// lists.
using Contributions = std::vector<Contribution>;

/// The contributions of an element that combines two others: their times added, saturating at 2^32
/// - 1.
Contributions sum(const Contributions& a, const Contributions& b);

}  // namespace orrery
