#include "simulator/lower/assumptions.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/simulator/lower/lower_rig.h"

namespace orrery {
namespace {

std::vector<std::string> labels_of(std::vector<FigureSource> sources) {
  Cluster cluster{"one", ring_fabric(1, {BytesPerSecond(1), Duration()}), {}};
  cluster.sources = std::move(sources);
  return fitted_figures(cluster, Program());
}

using Labels = std::vector<std::string>;
using test::LowerRig;

TEST_CASE("fitted figures: those of one label, source and date are one label, in their order") {
  CHECK(
      labels_of({{"z", "calibrated", "a table", "2026"}, {"a", "calibrated", "a table", "2026"}}) ==
      Labels{"z, a: calibrated (a table, 2026)"});
}

TEST_CASE("fitted figures: another label, source or date is another label, by its first figure") {
  CHECK(labels_of({{"a", "calibrated", "s", "d"},
                   {"b", "overridden", "s", "d"},
                   {"c", "calibrated", "t", "d"},
                   {"d", "calibrated", "s", "e"},
                   {"e", "calibrated", "s", "d"},
                   {"f", "overridden", "s", "d"}}) ==
        Labels{"a, e: calibrated (s, d)", "b, f: overridden (s, d)", "c: calibrated (t, d)",
               "d: calibrated (s, e)"});
}

TEST_CASE("fitted figures: calibrated, extrapolated and overridden ones, and no others") {
  CHECK(labels_of({{"a", "data sheet", "s", "d"},
                   {"b", "calibrated", "s", "d"},
                   {"c", "measured", "s", "d"},
                   {"d", "extrapolated", "s", "d"},
                   {"e", "", "s", "d"},
                   {"f", "overridden", "s", "d"},
                   {"g", "Calibrated", "s", "d"}}) ==
        Labels{"b: calibrated (s, d)", "d: extrapolated (s, d)", "f: overridden (s, d)"});
}

TEST_CASE("fitted figures: several of one protocol are counted, one alone is named") {
  CHECK(labels_of({{"latency", "calibrated", "s", "d"},
                   {"transport/ll/latency", "calibrated", "s", "d"},
                   {"transport/ll/launch", "calibrated", "s", "d"},
                   {"transport/simple/launch", "calibrated", "s", "d"}}) ==
        Labels{"latency, transport/ll (2 figures), transport/simple/launch: calibrated (s, d)"});
}

TEST_CASE("fitted figures: an efficiency on which no op depends is left out") {
  const auto labels = [](LowerRig& rig) {
    rig.cluster.device.efficiency[Dtype::F32] = {};
    rig.cluster.device.efficiency[Dtype::BF16] = {};
    rig.cluster.sources = {{"efficiency/f32/share", "calibrated", "s", "d"},
                           {"efficiency/bf16/launch", "calibrated", "s", "d"},
                           {"efficiency/f32/launch", "calibrated", "s", "d"},
                           {"efficiency/memory", "calibrated", "s", "d"},
                           {"latency", "calibrated", "s", "d"}};
    rig.lower();
    return fitted_figures(rig.cluster, rig.program);
  };
  LowerRig collective(2);
  collective.argument("a", Dtype::BF16, Shape{8})
      .op("psum", "r", {"a"}, {{"axis_name", test::Names{"x"}}});
  CHECK(labels(collective) == Labels{"latency: calibrated (s, d)"});
  LowerRig sum(1);
  sum.argument("a", Dtype::F32, Shape{8}).op("add", "r", {"a", "a"});
  CHECK(labels(sum) ==
        Labels{"efficiency/f32/share, efficiency/memory, latency: calibrated (s, d)"});
  LowerRig view(1);
  view.argument("a", Dtype::BF16, Shape{8})
      .op("reshape", "r", {"a"}, {{"new_sizes", std::vector<int64_t>{4, 2}}});
  CHECK(labels(view) == Labels{"latency: calibrated (s, d)"});
}

TEST_CASE("fitted figures: none without sources") {
  CHECK(labels_of({}) == Labels{});
}

/// Returns two nodes of three devices. Each node has a switch, and each device a NIC to another
/// one, of `nic` B/s.
Fabric two_nodes(int64_t nic) {
  std::vector<Link> links;
  const auto join = [&](uint32_t device, uint32_t hub, int64_t rate) {
    links.push_back({VertexId(device), VertexId(hub), BytesPerSecond(rate), Duration(1)});
    links.push_back({VertexId(hub), VertexId(device), BytesPerSecond(rate), Duration(1)});
  };
  for (uint32_t device = 0; device < 6; ++device) {
    join(device, 6 + device / 3, 300);
    join(device, 8, nic);
  }
  return Fabric(6, {"n0", "n1", "ib"}, std::move(links));
}

std::string nodes_on(const Fabric& fabric, std::vector<uint32_t> ranks,
                     const std::string& algorithm = "ring", int64_t elements = 8) {
  Collective collective;
  collective.site = SiteId(0);
  std::vector<LogicalId> members;
  std::vector<VertexId> vertices;
  for (const uint32_t rank : ranks) {
    members.emplace_back(rank);
    vertices.emplace_back(rank);
  }
  collective.members = members;
  collective.vertices = vertices;
  collective.input = collective.output = View::whole(elements);
  const std::vector<Collective> all = {collective};
  const std::vector<Choice> choices = {{algorithm, "", ""}};
  return nodes_label(fabric, all, choices).value_or("none");
}

std::string nodes_of(std::vector<uint32_t> ranks, const std::string& algorithm = "ring",
                     int64_t nic = 50, int64_t elements = 8) {
  return nodes_on(two_nodes(nic), std::move(ranks), algorithm, elements);
}

TEST_CASE("nodes: a ring in rank order sends over one NIC of each node, which is said") {
  CHECK(nodes_of({0, 1, 2, 3, 4, 5}) ==
        "nodes: psum by ring: one ring in rank order, so 1 of the 3 NICs of each node");
  CHECK(nodes_of({0, 1, 3, 4}) ==
        "nodes: psum by ring: one ring in rank order, so 1 of the 2 NICs of each node");
  // Three NICs of the group's first node, two of the other.
  CHECK(nodes_of({0, 1, 2, 3, 4}) ==
        "nodes: psum by ring: one ring in rank order, so not all NICs of each node");
}

TEST_CASE("nodes: a topology of nodes says which NICs there are, and rings with orders use them") {
  const LinkFigures alike{BytesPerSecond(50), Duration()};
  const LinkFigures slow{BytesPerSecond(49), Duration()};
  const auto nodes = [&](uint32_t nics, LinkFigures in_node) {
    const auto inside = std::make_shared<const Tree>(std::vector{TreeLevel{4, 1, 1, in_node}});
    const auto outside =
        std::make_shared<const Tree>(std::vector{TreeLevel{2 * nics, 1, 1, alike}});
    return Fabric(
        std::make_shared<const Nodes>(NodesForm{2, inside, nics, outside, false, false, alike}));
  };
  // There is an order for each NIC, also where ranks of a node do not follow each other
  // (groupings_test.cc).
  const std::vector<uint32_t> mixed = {0, 1, 4, 5, 2, 3, 6, 7};
  for (const uint32_t nics : {4U, 2U, 1U}) {
    CHECK(nodes_on(nodes(nics, alike), {0, 1, 2, 3, 4, 5, 6, 7}) == "none");
    CHECK(nodes_on(nodes(nics, alike), mixed) == "none");
  }
  // If nodes are slower inside, such a ring goes in rank order. Ranks 1, 5, 3 and 7 send to the
  // other node. With two NICs, the first two devices of a node share one, and the last two the
  // other.
  CHECK(nodes_on(nodes(4, slow), mixed) ==
        "nodes: psum by ring: one ring in rank order, so 2 of the 4 NICs of each node");
  CHECK(nodes_on(nodes(2, slow), mixed) == "none");
  CHECK(nodes_on(nodes(1, slow), mixed) == "none");
}

TEST_CASE("nodes: nothing is said where all NICs are used, or no group crosses nodes by a ring") {
  CHECK(nodes_of({0, 1, 2}) == "none");           // in one node
  CHECK(nodes_of({0, 3, 1, 4, 2, 5}) == "none");  // each rank sends to the other node
  CHECK(nodes_of({0, 3}) == "none");              // one NIC of each node is in the group
  CHECK(nodes_of({0, 1, 2, 3, 4, 5}, "direct") == "none");
  CHECK(nodes_of({0, 1, 2, 3, 4, 5}, "ring", 300) == "none");    // all links are alike
  CHECK(nodes_of({0, 1, 2, 3, 4, 5}, "ring", 50, 0) == "none");  // it is discarded
}

}  // namespace
}  // namespace orrery
