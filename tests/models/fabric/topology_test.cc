// Compares topologies by rule with lists of the same links, and their routes with searched ones.

#include "models/fabric/topology.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "models/fabric/fabric.h"
#include "tests/models/fabric/shortest_route.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

using TopologyPtr = std::shared_ptr<const Topology>;

constexpr LinkFigures kFast{BytesPerSecond(450'000'000'000), Duration(300'000)};
constexpr LinkFigures kSlow{BytesPerSecond(50'000'000'000), Duration(1'000'000)};

TopologyPtr torus(std::vector<uint32_t> sizes, bool wraps) {
  std::vector<TorusDimension> dimensions;
  for (const uint32_t size : sizes)
    dimensions.push_back({size, wraps, kSlow});
  return std::make_shared<const Torus>(std::move(dimensions));
}

TopologyPtr tree(std::vector<TreeLevel> levels, uint32_t trees = 1, bool spread = false) {
  for (TreeLevel& level : levels)
    level.figures = kSlow;
  return std::make_shared<const Tree>(std::move(levels), trees, spread);
}

/// Returns nodes of devices under a switch, with rails.
TopologyPtr rails(uint32_t nodes, uint32_t devices, uint32_t nics, uint32_t spines, bool pxn) {
  NodesForm form{nodes, tree({{devices}}), nics, nullptr, true, pxn, kFast};
  form.outside = spines == 0 ? tree({{nodes}}, nics) : tree({{nodes}, {nics, spines}});
  return std::make_shared<const Nodes>(std::move(form));
}

std::vector<TopologyPtr> small_topologies() {
  return {
      torus({1}, true),
      torus({2}, true),
      torus({7}, true),
      torus({8}, true),
      torus({5}, false),
      torus({2, 3}, false),
      torus({4, 4}, true),
      torus({2, 3, 4}, true),
      torus({4, 4, 4}, true),
      std::make_shared<const FullMesh>(2, kSlow),
      std::make_shared<const FullMesh>(9, kSlow),
      tree({{1}}),
      tree({{12}}),
      tree({{12, 1, 3}}),
      tree({{4}, {4, 4}}),
      tree({{8}, {5, 4, 2}}),
      tree({{8}, {3, 3}}, 2),
      tree({{4}, {4, 4}, {3, 2}}),
      tree({{4}, {3, 2, 2}, {4, 3, 2}}),
      tree({{6}, {4, 3, 2}}, 1, true),
      rails(4, 8, 8, 4, true),
      rails(4, 8, 8, 4, false),
      rails(5, 4, 4, 0, true),
      rails(3, 8, 4, 2, true),
      rails(3, 8, 2, 2, false),
      std::make_shared<const Nodes>(
          NodesForm{3, torus({4}, true), 4, tree({{12}}), false, false, kFast}),
  };
}

Route by_rule(const Topology& topology, uint32_t from, uint32_t to,
              std::optional<uint64_t> number = std::nullopt) {
  Route route;
  REQUIRE(topology.append_route(VertexId(from), VertexId(to), number, route));
  return route;
}

LinkList list_of(const Route& route) {
  return {route.begin(), route.end()};
}

TEST_CASE("topologies: each link is listed once, at the vertex that it leads from, in order") {
  for (const TopologyPtr& topology : small_topologies()) {
    const uint32_t vertices = topology->devices() + topology->switches();
    std::set<uint32_t> seen;
    for (uint32_t v = 0; v < vertices; ++v) {
      std::vector<LinkId> links;
      topology->for_each_link_from(VertexId(v), [&](LinkId link) { links.push_back(link); });
      CHECK(std::is_sorted(links.begin(), links.end()));
      for (const LinkId link : links) {
        CHECK(seen.insert(link.index()).second);
        CHECK(topology->link(link).from == VertexId(v));
        CHECK(topology->link(link).to.index() < vertices);
        CHECK(topology->link(link).to != VertexId(v));
      }
    }
    CHECK(seen.size() == topology->links());
    std::set<std::string> names;
    for (uint32_t s = 0; s < topology->switches(); ++s)
      CHECK(names.insert(topology->switch_name(s)).second);
  }
}

TEST_CASE("topologies: routes by rule lead from device to device, whatever number decides") {
  Random random(1);
  for (const TopologyPtr& topology : small_topologies())
    for (uint32_t from = 0; from < topology->devices(); ++from)
      for (uint32_t to = 0; to < topology->devices(); ++to) {
        for (const auto number : {std::optional<uint64_t>(), std::optional(random.next())}) {
          Route route;
          if (!topology->append_route(VertexId(from), VertexId(to), number, route)) {
            REQUIRE_FALSE(topology->joins_all());
            REQUIRE(route.empty());
            continue;
          }
          VertexId at(from);
          for (const LinkId link : route) {
            REQUIRE(topology->link(link).from == at);
            at = topology->link(link).to;
          }
          REQUIRE(at == VertexId(to));
        }
      }
}

/// Returns the first pair of devices whose route by rule is not that of the list.
std::optional<std::pair<uint32_t, uint32_t>> first_difference(const Topology& topology,
                                                              const Fabric& list,
                                                              uint64_t added = 0) {
  for (uint32_t from = 0; from < topology.devices(); ++from)
    for (uint32_t to = 0; to < topology.devices(); ++to) {
      const std::optional<LinkList> expected = shortest_route(list, VertexId(from), VertexId(to));
      Route route;
      const bool found = topology.append_route(VertexId(from), VertexId(to), to + added, route);
      if (found != expected.has_value() || (found && list_of(route) != *expected))
        return std::pair(from, to);
    }
  return std::nullopt;
}

Fabric listed(const TopologyPtr& topology) {
  return test::listed(Fabric(topology));
}

TEST_CASE("topologies: where only numbers decide, routes by rule are those of the list") {
  uint64_t seed = 0;
  for (const TopologyPtr& topology :
       {torus({7}, true), torus({5}, false), TopologyPtr(std::make_shared<FullMesh>(9, kSlow)),
        tree({{12}}), tree({{12, 1, 3}}), tree({{4}, {4, 4}}), tree({{8}, {5, 4, 2}}),
        tree({{8}, {3, 3}}, 2), tree({{4}, {4, 4}, {3, 2}}), tree({{4}, {3, 2, 2}, {4, 3, 2}})})
    if (test::is_tried_sanitized(++seed))
      CHECK_FALSE(first_difference(*topology, listed(topology)).has_value());
}

TEST_CASE("topologies: a wrong rule is found: each number is taken for the next one") {
  for (const TopologyPtr& topology :
       {tree({{12, 1, 3}}), tree({{4}, {4, 4}}), tree({{4}, {3, 2, 2}, {4, 3, 2}})})
    CHECK(first_difference(*topology, listed(topology), 1).has_value());
}

TEST_CASE("torus: a route has the fewest links, and corrects one dimension after the other") {
  for (const std::vector<uint32_t>& sizes :
       std::vector<std::vector<uint32_t>>{{8}, {2}, {2, 3}, {4, 4}, {3, 2, 4}, {4, 4, 4}})
    for (const bool wraps : {false, true}) {
      const TopologyPtr topology = torus(sizes, wraps);
      const Fabric list = listed(topology);
      for (uint32_t from = 0; from < topology->devices(); ++from) {
        const std::map<VertexId, uint32_t> distance = distances(list, VertexId(from));
        for (uint32_t to = 0; to < topology->devices(); ++to) {
          const Route route = by_rule(*topology, from, to);
          REQUIRE(route.size() == distance.at(VertexId(to)));
          // Links of the first dimension come first, so the dimensions of the links never fall.
          std::vector<size_t> dimensions;
          for (const LinkId id : route) {
            const Link link = topology->link(id);
            const uint32_t apart = link.from > link.to ? link.from.index() - link.to.index()
                                                       : link.to.index() - link.from.index();
            size_t dimension = 0;
            for (uint32_t stride = topology->devices() / sizes[0]; stride > apart;
                 stride /= sizes[++dimension]) {
            }
            dimensions.push_back(dimension);
          }
          REQUIRE(std::is_sorted(dimensions.begin(), dimensions.end()));
        }
      }
    }
}

TEST_CASE("torus: when each device sends to each other one, all links of a dimension work alike") {
  for (const std::vector<uint32_t>& sizes :
       std::vector<std::vector<uint32_t>>{{8}, {4, 4}, {4, 4, 4}, {3, 5}, {8, 4}}) {
    const TopologyPtr topology = torus(sizes, true);
    std::vector<uint32_t> crossed(topology->links());
    for (uint32_t from = 0; from < topology->devices(); ++from)
      for (uint32_t to = 0; to < topology->devices(); ++to)
        for (const LinkId link : by_rule(*topology, from, to))
          ++crossed[link.index()];
    // Where half of the way round is odd, parity cannot divide it evenly; these sizes have none. On
    // a ring of s devices the distances 0 to s-1 sum to ⌊s²/4⌋, over 2 s links; each of the
    // other dimensions' pairs repeats that.
    size_t first = 0;
    for (const uint32_t size : sizes) {
      const size_t links = 2 * size_t{topology->devices()};
      const uint32_t expected = topology->devices() / size * (size * size / 4) * size / (2 * size);
      for (size_t l = first; l < first + links; ++l)
        CHECK(crossed[l] == expected);
      first += links;
    }
  }
}

TEST_CASE("tree: no shift permutation blocks where there are as many ways up as hosts") {
  // Zahavi 2010: with D-mod-k each link carries one message of a shift permutation.
  for (const TopologyPtr& topology : {tree({{4}, {5, 4}}), tree({{4}, {6, 2, 2}}),
                                      tree({{4}, {4, 4}, {3, 4}}), tree({{2}, {4, 2}, {4, 4}})})
    for (uint32_t shift = 1; shift < topology->devices(); ++shift) {
      std::vector<uint32_t> crossed(topology->links());
      for (uint32_t from = 0; from < topology->devices(); ++from)
        for (const LinkId link : by_rule(*topology, from, (from + shift) % topology->devices()))
          ++crossed[link.index()];
      CHECK(*std::max_element(crossed.begin(), crossed.end()) <= 1);
    }
}

TEST_CASE("tree: names of switches, and links that are spread over are one") {
  const TopologyPtr three = tree({{4}, {3, 2}, {2, 3}});
  CHECK(three->devices() == 24);
  CHECK(three->switches() == 6 + 4 + 6);
  CHECK(three->switch_name(5) == "leaf 5");
  CHECK(three->switch_name(6) == "spine 0");
  CHECK(three->switch_name(15) == "core 5");
  const TopologyPtr spread = tree({{4}, {3, 2, 2}}, 1, true);
  CHECK(spread->switches() == 4);
  CHECK(spread->switch_name(3) == "spines");
  // A leaf has 2 spines, with 2 links to each.
  CHECK(spread->link(LinkId(2 * 12)).bandwidth == kSlow.bandwidth * 4);
  // The 2 spines of a pod have 3 cores each, with 2 links to each.
  const TopologyPtr cores = tree({{4}, {3, 2, 2}, {4, 3, 2}}, 1, true);
  CHECK(cores->link(LinkId(cores->links() - 1)).bandwidth == kSlow.bandwidth * 12);
  // A host has 2 links to its leaf, which has one link to each of 2 spines.
  const TopologyPtr hosts = tree({{4, 1, 2}, {3, 2}}, 1, true);
  CHECK(hosts->link(LinkId(0)).bandwidth == kSlow.bandwidth * 2);
  CHECK(hosts->link(LinkId(hosts->links() - 1)).bandwidth == kSlow.bandwidth * 2);
}

TEST_CASE("nodes: over its own NIC on its rail, and else by PXN or over the spines") {
  // 4 nodes of 8 devices; device 3 of node 1 is 11, and device 5 of node 2 is 21.
  const Fabric pxn(rails(4, 8, 8, 2, true));
  const auto texts = [](const Fabric& fabric, uint32_t from, uint32_t to) {
    std::vector<std::string> text;
    for (const LinkId link : by_rule(fabric.topology(), from, to))
      text.push_back(fabric.vertex_text(fabric.link(link).to));
    return text;
  };
  using Texts = std::vector<std::string>;
  CHECK(texts(pxn, 11, 19) == Texts{"switch \"rail 3 leaf 0\"", "device 19"});
  CHECK(texts(pxn, 11, 21) ==
        Texts{"switch \"node 1 switch\"", "device 13", "switch \"rail 5 leaf 0\"", "device 21"});
  CHECK(texts(pxn, 11, 13) == Texts{"switch \"node 1 switch\"", "device 13"});
  const Fabric spines(rails(4, 8, 8, 2, false));
  // NIC 5 of node 2 is host 22, so spine 0.
  CHECK(texts(spines, 11, 21) == Texts{"switch \"rail 3 leaf 0\"", "switch \"spine 0\"",
                                       "switch \"rail 5 leaf 0\"", "device 21"});
}

TEST_CASE("nodes: spines that rails spread over are one") {
  NodesForm form{4, tree({{8}}), 8, tree({{4}, {8, 3}}, 1, true), true, true, kFast};
  const Nodes nodes(form);
  CHECK(nodes.switch_name(nodes.switches() - 1) == "spines");
  form.outside = tree({{4}, {1, 3}}, 8, true);
  const Nodes apart(form);
  CHECK(apart.switch_name(apart.switches() - 1) == "rail 7 spines");
}

TEST_CASE("nodes: devices that share a NIC send over its links") {
  const Fabric fabric(rails(3, 8, 4, 0, true));
  // Devices 2 and 3 of a node share NIC 1.
  const Route route = by_rule(fabric.topology(), 2, 8 + 3);
  REQUIRE(route.size() == 4);
  CHECK(fabric.link_text(route[0]) == "device 2 -> switch \"node 0 nic 1\"");
  CHECK(fabric.link_text(route[1]) == "switch \"node 0 nic 1\" -> switch \"rail 1 leaf 0\"");
  CHECK(fabric.link_text(route[2]) == "switch \"rail 1 leaf 0\" -> switch \"node 1 nic 1\"");
  CHECK(fabric.link_text(route[3]) == "switch \"node 1 nic 1\" -> device 11");
}

TEST_CASE("topologies: pairs of devices are placed alike in other nodes, and under other leaves") {
  const TopologyPtr nodes = rails(4, 8, 8, 2, true);
  const auto placed = [](const TopologyPtr& topology, uint32_t first, uint32_t device) {
    return topology->placed(VertexId(first), VertexId(device));
  };
  CHECK(placed(nodes, 0, 5) == placed(nodes, 8, 13));
  CHECK(placed(nodes, 0, 5) != placed(nodes, 4, 9));  // the second pair is on two nodes
  CHECK(placed(nodes, 0, 8) == placed(nodes, 1, 9));  // on another rail
  const TopologyPtr shared = rails(3, 8, 4, 0, true);
  CHECK(placed(shared, 0, 1) != placed(shared, 1, 2));  // the second pair has two NICs
  const TopologyPtr leaves = tree({{4}, {4, 4}});
  CHECK(placed(leaves, 0, 3) == placed(leaves, 4, 7));
  CHECK(placed(leaves, 0, 3) != placed(leaves, 2, 5));
  const TopologyPtr rows = torus({4, 4}, true);
  CHECK(placed(rows, 0, 1) == placed(rows, 4, 5));
  CHECK(placed(rows, 0, 1) != placed(rows, 3, 4));  // the second pair is in two rows
}

TEST_CASE("a tree of a million devices has routes of six links") {
  // 4 pods of 500 leaves of 500 hosts.
  const TopologyPtr large = tree({{500}, {500, 16}, {4, 4}});
  CHECK(large->devices() == 1'000'000);
  const Route route = by_rule(*large, 0, 999'999);
  CHECK(route.size() == 6);
  CHECK(large->link(route.back()).to == VertexId(999'999));
}

TEST_CASE("hashed ways depend on the ends, the channel and the seed, and reach all ways") {
  const TopologyPtr topology = tree({{4}, {4, 4}});
  const auto spine = [&](uint64_t seed, uint32_t from, uint32_t channel) {
    const Fabric fabric(topology, {true, seed});
    Route route;
    const VertexId to(15);
    REQUIRE(topology->append_route(VertexId(from), to,
                                   fabric.way_number(VertexId(from), to, channel), route));
    return topology->link(route[1]).to.index();
  };
  std::set<uint32_t> by_seed;
  std::set<uint32_t> by_channel;
  std::set<uint32_t> by_sender;
  for (uint32_t i = 0; i < 64; ++i) {
    by_seed.insert(spine(i, 0, 0));
    by_channel.insert(spine(0, 0, i));
  }
  for (uint32_t i = 0; i < 12; ++i)
    by_sender.insert(spine(0, i, 0));
  CHECK(by_seed.size() == 4);
  CHECK(by_channel.size() == 4);
  CHECK(by_sender.size() == 4);
  CHECK_FALSE(Fabric(topology).way_number(VertexId(0), VertexId(1), 0).has_value());
}

}  // namespace
}  // namespace orrery::test
