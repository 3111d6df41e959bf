// Tests which groups take the same time by their places on a fabric, and which ranks are on one
// node.

#include "simulator/lower/groupings.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

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

/// Returns nodes with a NIC for each device.
Fabric nodes_of(std::shared_ptr<const Topology> inside, uint32_t nodes) {
  const uint32_t each = inside->devices();
  const auto outside =
      std::make_shared<const Tree>(std::vector{TreeLevel{each * nodes, 1, 1, kAlike}});
  return Fabric(std::make_shared<const Nodes>(
      NodesForm{nodes, std::move(inside), each, outside, false, false, kAlike}));
}

Fabric nodes_of_four(uint32_t nodes) {
  return nodes_of(std::make_shared<const Tree>(std::vector{TreeLevel{4, 1, 1, kAlike}}), nodes);
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

/// Returns the orders of a group of these devices.
std::vector<std::vector<uint32_t>> orders(const Fabric& fabric,
                                          const std::vector<uint32_t>& members) {
  const SharedList<VertexId> ranks = vertices_of(group(members));
  std::vector<std::vector<uint32_t>> lists;
  for (const SharedList<uint32_t>& order : layout_of(fabric, {ranks.begin(), ranks.size()}).orders)
    lists.emplace_back(order.begin(), order.end());
  return lists;
}

/// Returns those of the first devices.
std::vector<std::vector<uint32_t>> orders(const Fabric& fabric, uint32_t ranks) {
  std::vector<uint32_t> members(ranks);
  std::iota(members.begin(), members.end(), 0U);
  return orders(fabric, members);
}

TEST_CASE("groupings: each NIC begins an order that enters and leaves each node once by it") {
  const auto found = orders(nodes_of_four(2), 8);
  CHECK(found == std::vector<std::vector<uint32_t>>{{0, 1, 2, 3, 7, 6, 5, 4},
                                                    {1, 2, 3, 0, 4, 7, 6, 5},
                                                    {2, 3, 0, 1, 5, 4, 7, 6},
                                                    {3, 0, 1, 2, 6, 5, 4, 7}});
  // Over any even number of nodes, each device sends to other nodes in one order, and takes in one.
  for (const uint32_t nodes : {2U, 4U, 6U}) {
    std::map<uint32_t, int> sends;
    std::map<uint32_t, int> takes;
    for (const std::vector<uint32_t>& order : orders(nodes_of_four(nodes), 4 * nodes))
      for (size_t i = 0; i < order.size(); ++i)
        if (const uint32_t next = order[(i + 1) % order.size()]; order[i] / 4 != next / 4) {
          CHECK(order[i] % 4 == next % 4);  // on one rail
          ++sends[order[i]];
          ++takes[next];
        }
    CHECK(sends.size() == 4 * nodes);
    CHECK(sends == takes);
    for (const auto& [device, times] : sends)
      CHECK(times == 1);
  }
}

TEST_CASE("groupings: a group within one node, or with one rank a node, goes by rank") {
  CHECK(orders(nodes_of_four(3), 4).empty());
  CHECK(orders(nodes_of_four(3), {1, 5, 9}).empty());
}

TEST_CASE(
    "groupings: ranks that do not follow each other go by rank where nodes are slower inside") {
  const std::vector<uint32_t> across = {0, 4, 1, 5, 2, 6, 3, 7};
  const auto inside = [](int64_t rate) {
    const LinkFigures figures{BytesPerSecond(rate), Duration(1'000'000)};
    return nodes_of(std::make_shared<const Tree>(std::vector{TreeLevel{4, 1, 1, figures}}), 2);
  };
  CHECK(orders(inside(49'999'999'999), across).empty());
  CHECK(orders(inside(50'000'000'000), across).size() == 4);
  CHECK(orders(inside(49'999'999'999), 8).size() == 4);  // they follow each other
}

/// Returns how often the orders lead out of a node by the NIC of each device, and into one.
std::pair<std::map<uint32_t, int>, std::map<uint32_t, int>> crossings(
    const std::vector<std::vector<uint32_t>>& orders, const std::vector<uint32_t>& members) {
  std::map<uint32_t, int> out;
  std::map<uint32_t, int> in;
  for (const std::vector<uint32_t>& order : orders) {
    CHECK(std::set<uint32_t>(order.begin(), order.end()).size() == members.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const uint32_t from = members[order[i]];
      const uint32_t to = members[order[(i + 1) % order.size()]];
      if (from / 4 == to / 4)
        continue;
      ++out[from];
      ++in[to];
    }
  }
  return {out, in};
}

TEST_CASE(
    "groupings: ranks of a node that do not follow each other have the same orders of devices") {
  // As a group over the axes of a mesh in the other order.
  const std::vector<uint32_t> across = {0, 4, 1, 5, 2, 6, 3, 7};
  std::vector<std::vector<uint32_t>> devices = orders(nodes_of_four(2), across);
  for (std::vector<uint32_t>& order : devices)
    for (uint32_t& rank : order)
      rank = across[rank];
  CHECK(devices == orders(nodes_of_four(2), 8));
}

TEST_CASE(
    "groupings: each order leaves and enters a node once, each by another NIC if it has enough") {
  // Three ranks on one node and four on the other: three orders, which use three NICs of each.
  for (const std::vector<uint32_t>& members :
       {std::vector<uint32_t>{0, 1, 2, 4, 5, 6, 7}, std::vector<uint32_t>{4, 5, 6, 7, 1, 2, 3}}) {
    const auto found = orders(nodes_of_four(2), members);
    CHECK(found.size() == 3);
    const auto [out, in] = crossings(found, members);
    CHECK(out.size() == 6);
    CHECK(in.size() == 6);
  }
  // Four and two: two orders, for the NICs of the second node.
  const std::vector<uint32_t> members = {0, 1, 2, 3, 4, 5};
  const auto found = orders(nodes_of_four(2), members);
  CHECK(found.size() == 2);
  const auto [out, in] = crossings(found, members);
  CHECK(out.size() == 4);
  CHECK(in.size() == 4);
}

/// Returns how many of the orders use each link between ranks of one node.
std::map<std::pair<uint32_t, uint32_t>, int> uses_inside(
    const std::vector<std::vector<uint32_t>>& orders, uint32_t per_node) {
  std::map<std::pair<uint32_t, uint32_t>, int> uses;
  for (const std::vector<uint32_t>& order : orders)
    for (size_t i = 0; i < order.size(); ++i)
      if (const uint32_t next = order[(i + 1) % order.size()];
          order[i] / per_node == next / per_node)
        ++uses[{order[i], next}];
  return uses;
}

TEST_CASE("groupings: through nodes whose devices are all joined, the orders use each link once") {
  for (const uint32_t each : {2U, 4U, 6U, 8U})
    for (const uint32_t nodes : {2U, 3U}) {
      const auto found =
          orders(nodes_of(std::make_shared<const FullMesh>(each, kAlike), nodes), nodes * each);
      CHECK(found.size() == each);
      const auto uses = uses_inside(found, each);
      CHECK(uses.size() == nodes * each * (each - 1));
      for (const auto& [link, times] : uses)
        CHECK(times == 1);
    }
  // An odd number of devices has no such orders. Here some links have two, and others none.
  const auto found = orders(nodes_of(std::make_shared<const FullMesh>(5, kAlike), 2), 10);
  for (const auto& [link, times] : uses_inside(found, 5))
    CHECK(times == 2);
}

TEST_CASE("groupings: where all ranks are joined, rings share no link") {
  for (uint32_t ranks = 5; ranks <= 16; ++ranks)
    for (const bool in_node : {false, true}) {
      const auto mesh = std::make_shared<const FullMesh>(ranks, kAlike);
      const auto found = orders(in_node ? nodes_of(mesh, 2) : Fabric(mesh), ranks);
      CHECK(found.size() == (ranks - 1) / 2);
      std::set<std::pair<uint32_t, uint32_t>> used;
      for (const std::vector<uint32_t>& order : found)
        for (size_t i = 0; i < order.size(); ++i) {
          const uint32_t next = order[(i + 1) % order.size()];
          CHECK(used.emplace(std::min(order[i], next), std::max(order[i], next)).second);
        }
    }
}

TEST_CASE("groupings: rings over the links of a DGX-1 use each link once") {
  // Each pair with the number of its NVLinks, each way (NVIDIA DGX-1 with V100, white paper, 2017).
  const std::vector<std::array<uint32_t, 3>> pairs = {
      {0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1}, {1, 5, 2}, {2, 3, 2},
      {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};
  std::vector<Link> links;
  for (const auto& [a, b, count] : pairs)
    for (uint32_t l = 0; l < count; ++l)
      for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)})
        links.push_back({VertexId(from), VertexId(to), kAlike.bandwidth, kAlike.latency});
  const auto found = orders(Fabric(8, {}, links), 8);
  REQUIRE(found.size() == 3);
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> used;
  for (const std::vector<uint32_t>& order : found) {
    CHECK(std::set<uint32_t>(order.begin(), order.end()).size() == 8);
    for (size_t i = 0; i < 8; ++i)
      ++used[std::minmax(order[i], order[(i + 1) % 8])];
  }
  for (const auto& [a, b, count] : pairs)
    CHECK(used[{a, b}] == count);
}

TEST_CASE("groupings: the axes of a torus that a group fills") {
  const Fabric fabric(std::make_shared<const Torus>(
      std::vector<TorusDimension>{{4, true, kAlike}, {2, true, kAlike}, {3, true, kAlike}}));
  const auto axes = [&](const std::vector<uint32_t>& devices) {
    std::vector<VertexId> ranks;
    for (const uint32_t device : devices)
      ranks.emplace_back(device);
    const SharedList<uint32_t> filled = layout_of(fabric, ranks).axes;
    return std::vector<uint32_t>(filled.begin(), filled.end());
  };
  std::vector<uint32_t> all(24);
  std::iota(all.begin(), all.end(), 0U);
  CHECK(axes(all) == std::vector<uint32_t>{4, 2, 3});
  CHECK(axes({6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}) == std::vector<uint32_t>{2, 2, 3});
  CHECK(axes({1, 2, 7, 8}) == std::vector<uint32_t>{2, 2});
  CHECK(axes({0, 6, 12, 18}) == std::vector<uint32_t>{4});
  CHECK(axes({0, 1, 2, 6, 7}).empty());
  CHECK(axes({3, 0}).empty());
  // In other orders of the axes: the ranks of an outer one come farthest apart.
  CHECK(axes({0, 3, 1, 4}) == std::vector<uint32_t>{2, 2});
  CHECK(axes({0, 6, 12, 18, 1, 7, 13, 19}) == std::vector<uint32_t>{2, 4});
  CHECK(axes({0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}) == std::vector<uint32_t>{2, 3, 2});
  CHECK(axes({0,  3,  6,  9,  12, 15, 18, 21, 1,  4,  7,  10,
              13, 16, 19, 22, 2,  5,  8,  11, 14, 17, 20, 23}) == std::vector<uint32_t>{3, 4, 2});
  CHECK(axes({0, 4, 1, 3}).empty());
}

}  // namespace
}  // namespace orrery
