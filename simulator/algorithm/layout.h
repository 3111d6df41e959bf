#pragma once

// A Layout says how the ranks of a group lie on the fabric, as far as algorithms use it. Lowering
// finds it (lower/groupings.h).

#include <compare>
#include <cstdint>

#include "models/base/shared_list.h"

namespace orrery {

struct Layout {
  /// So many consecutive ranks are on one node of the topology "nodes". The last node may have
  /// fewer.
  uint32_t together = 1;
  /// The sizes of the axes of a torus that the ranks fill, row-major. It is empty elsewhere.
  SharedList<uint32_t> axes = {};
  /// The orders of the ranks in which rings use different links: channel c of a ring has order c
  /// mod their number. If there are none, rings go by rank.
  SharedList<SharedList<uint32_t>> orders = {};

  friend bool operator==(const Layout&, const Layout&) = default;
  friend auto operator<=>(const Layout&, const Layout&) = default;
};

}  // namespace orrery
