// Tests which groups take the same time by their places on a fabric, and which ranks are on one
// node.

#include "simulator/lower/groupings.h"

#include <doctest/doctest.h>

namespace orrery {
namespace {

constexpr LinkFigures kAlike{BytesPerSecond(50'000'000'000), Duration(1'000'000)};

Group group(const std::vector<uint32_t>& members) {
  Group made;
  for (const uint32_t member : members)
    made.emplace_back(member);
  return made;
}

TEST_CASE("groupings: on a torus, a row and a group that crosses rows are two shapes") {
  const Fabric torus(std::make_shared<const Torus>(
      std::vector{TorusDimension{4, true, kAlike}, TorusDimension{4, true, kAlike}}));
  Groupings groupings(torus);
  const std::vector<Group> rows = {group({0, 1, 2}), group({4, 5, 6})};
  CHECK(groupings.of(rows).shapes == std::vector<size_t>{0});
  const std::vector<Group> crossing = {group({0, 1, 2}), group({3, 4, 5})};
  CHECK(groupings.of(crossing).shapes == std::vector<size_t>{0, 1});
}

Fabric nodes_of_four(uint32_t nodes) {
  const auto inside = std::make_shared<const Tree>(std::vector{TreeLevel{4, 1, 1, kAlike}});
  const auto outside =
      std::make_shared<const Tree>(std::vector{TreeLevel{4 * nodes, 1, 1, kAlike}});
  return Fabric(
      std::make_shared<const Nodes>(NodesForm{nodes, inside, 4, outside, false, false, kAlike}));
}

TEST_CASE("groupings: how many consecutive ranks are on each node") {
  const Fabric fabric = nodes_of_four(3);
  const auto together = [&](const std::vector<uint32_t>& members) {
    const SharedList<VertexId> ranks = vertices_of(group(members));
    return layout_of(fabric, {ranks.begin(), ranks.size()}).together;
  };
  CHECK(together({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) == 4);
  CHECK(together({0, 1, 4, 5, 8}) == 2);     // the last node may have fewer
  CHECK(together({0, 1, 4, 8, 9}) == 1);     // but not another one
  CHECK(together({0, 1, 4, 5, 2, 3}) == 1);  // the first node comes twice
  CHECK(together({1, 5, 9}) == 1);
  CHECK(together({0, 1, 2}) == 3);
}

}  // namespace
}  // namespace orrery
