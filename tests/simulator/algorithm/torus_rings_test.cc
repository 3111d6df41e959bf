// Tests that rings over a torus have each rank, and use each link once.

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/fabric/topology.h"
#include "models/program/op.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/algorithm/hierarchical.h"

namespace orrery::test {
namespace {

TEST_CASE("torus rings: each has all ranks, and together they use each link once") {
  for (const std::vector<uint32_t>& sizes : {std::vector<uint32_t>{3, 3},
                                             {4, 4},
                                             {3, 7},
                                             {4, 8},
                                             {16, 4},
                                             {5, 3},
                                             {16, 16},
                                             {3, 3, 3},
                                             {4, 4, 4},
                                             {4, 4, 8},
                                             {3, 4, 5},
                                             {8, 8, 8},
                                             {4, 8, 16},
                                             {3, 4, 3, 5}}) {
    CAPTURE(sizes.size());
    CAPTURE(sizes.front());
    CAPTURE(sizes.back());
    std::vector<TorusDimension> dimensions;
    uint32_t ranks = 1;
    for (const uint32_t size : sizes) {
      dimensions.push_back({size, true, {}});
      ranks *= size;
    }
    const Torus torus(dimensions);
    const SharedList<SharedList<uint32_t>> rings = torus_rings(sizes);
    CHECK(rings.size() == 2 * sizes.size());
    std::set<std::pair<uint32_t, uint32_t>> used;
    for (const SharedList<uint32_t>& ring : rings) {
      CHECK(std::set<uint32_t>(ring.begin(), ring.end()).size() == ranks);
      CHECK(ring.size() == ranks);
      for (uint32_t r = 0; r < ranks; ++r)
        used.emplace(ring[r], ring[(r + 1) % ranks]);
    }
    std::set<std::pair<uint32_t, uint32_t>> links;
    for (uint32_t device = 0; device < ranks; ++device)
      torus.for_each_link_from(
          VertexId(device), [&](LinkId id) { links.emplace(device, torus.link(id).to.index()); });
    CHECK(links.size() == size_t{ranks} * 2 * sizes.size());
    CHECK(used == links);
  }
}

TEST_CASE("torus rings: where none are found, a broadcast is one chain by rank") {
  const std::vector<uint32_t> sizes = {4, 32};
  REQUIRE(torus_rings(sizes).empty());
  Layout layout;
  layout.axes = sizes;
  layout.wraps = true;
  const std::span<const Algorithm> all = algorithms();
  const auto ring = std::ranges::find_if(all, [](const Algorithm& each) {
    return each.name == "ring" &&
           std::ranges::find(each.kinds, OpKind::Pbroadcast) != each.kinds.end();
  });
  REQUIRE(ring != all.end());
  CHECK(ring->own_channels(layout) == 1);
}

}  // namespace
}  // namespace orrery::test
