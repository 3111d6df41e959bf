// Tests exact bounds of collectives.

#include "simulator/analyze/fabric_bounds.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/fabric/topology.h"
#include "models/program/sides.h"
#include "tests/simulator/analyze/timed_call.h"
#include "tests/support/units.h"

namespace orrery::test {
namespace {

Fabric tree_fabric(std::vector<TreeLevel> levels) {
  return Fabric(std::make_shared<const Tree>(std::move(levels)));
}

TEST_CASE("bounds: a ring over a switch gathers as fast as one device's link allows") {
  for (const uint32_t n : {2U, 3U, 8U, 13U}) {
    const TimedCall ran = timed(switch_fabric(n, kFifty),
                                {"all_gather", {{"tiled", true}}, {1000}, "ring", Dtype::U8});
    CHECK(ran.bound->cut == at_50((n - 1) * 1000));
    CHECK(ran.takes == ran.bound->least());
    CHECK(ran.busiest->takes == ran.takes);
  }
}

TEST_CASE("bounds: other calls of the program do not change what is the busiest link of one") {
  const Fabric fabrics[] = {ring_fabric(5, kFifty), switch_fabric(5, kFifty),
                            tree_fabric({{5, 2, 1, kFifty}, {2, 1, 3, kFifty}})};
  for (const Fabric& fabric : fabrics) {
    CAPTURE(fabric.devices());
    const int64_t n = fabric.devices();
    const Call sum = psum(n * 1000, "ring");
    const Call exchange = {
        "all_to_all",
        {{"split_axis", int64_t{0}}, {"concat_axis", int64_t{0}}, {"tiled", true}},
        {n * 700},
        "pairwise",
        Dtype::U8};
    // The demands say what a single call sends over each link; the routes say it of both.
    const Call both[] = {sum, exchange};
    const auto by_routes = busiest_links(fabric, both);
    CHECK(busiest_links(fabric, {&sum, 1}).front() == by_routes[0]);
    CHECK(busiest_links(fabric, {&exchange, 1}).front() == by_routes[1]);
    CHECK(by_routes[0] != by_routes[1]);
  }
}

TEST_CASE("bounds: a ring over a switch reduces as fast as all devices' links allow together") {
  for (const uint32_t n : {2U, 3U, 8U, 13U}) {
    const TimedCall ran = timed(switch_fabric(n, kFifty), psum(n * 1000, "ring"));
    // The 2 (n - 1) operands of n parts cross the links of n devices.
    CHECK(ran.bound->cut == at_50(2 * (n - 1) * 1000));
    CHECK(ran.bound->links.size() == (n == 2 ? 1 : n));  // of two, one link is as tight as both
    CHECK(ran.takes == ran.bound->least());
  }
}

TEST_CASE("bounds: a switch that reduces takes each operand once, and gives the sum once") {
  const Fabric fabric = switch_fabric(8, kFifty).with_reduction({VertexId(8)});
  const TimedCall ran = timed(fabric, psum(80'000, "ring"));
  CHECK(ran.bound->cut == at_50(80'000));
  CHECK(ran.takes == at_50(2 * 7 * 10'000));
}

TEST_CASE("bounds: rings of a ring both ways use all links") {
  for (const uint32_t n : {3U, 4U, 8U}) {
    const TimedCall ran = timed(ring_fabric(n, kFifty), psum(n * 2000, "bidirectional"));
    CHECK(ran.bound->cut == at_50((n - 1) * 2000));
    CHECK(ran.takes == ran.bound->least());
  }
}

TEST_CASE("bounds: an exchange over a full mesh uses every link to its end") {
  for (const int64_t n : {2, 5, 8}) {
    const TimedCall ran =
        timed(fully_connected_fabric(static_cast<uint32_t>(n), kFifty),
              {"all_to_all",
               {{"split_axis", int64_t{0}}, {"concat_axis", int64_t{0}}, {"tiled", true}},
               {n * 1000},
               "direct",
               Dtype::U8});
    CHECK(ran.bound->cut == at_50(1000));
    CHECK(ran.takes == ran.bound->least());
  }
}

TEST_CASE("bounds: an exchange over a torus crosses the middle of its longest dimension") {
  const TorusDimension eight{8, true, kFifty};
  const TorusDimension two{2, true, kFifty};
  const Fabric fabric(std::make_shared<const Torus>(std::vector<TorusDimension>{two, eight, two}));
  const TimedCall ran =
      timed(fabric, {"all_to_all",
                     {{"split_axis", int64_t{0}}, {"concat_axis", int64_t{0}}, {"tiled", true}},
                     {32 * 1000},
                     {},
                     Dtype::U8});
  // Each of 16 devices sends 1000 B to each of the 16 others, over two planes of 4 links.
  CHECK(ran.bound->cut == at_50(16 * 16 * 1000 / 8));
  CHECK(ran.bound->links.size() == 8);
}

TEST_CASE("bounds: the scattered parts of a sum leave each device") {
  const TimedCall ran = timed(switch_fabric(4, kFifty),
                              {"psum_scatter", {{"tiled", true}}, {4 * 1000}, "ring", Dtype::U8});
  CHECK(ran.bound->cut == at_50(3 * 1000));
  CHECK(ran.takes == ran.bound->least());
}

TEST_CASE("bounds: a permutation crosses the middle as often as its pairs do") {
  // Two leaves of 4 hosts have a spine; their links up are as fast as those of one host.
  const Fabric fabric = tree_fabric({{4, 1, 1, kFifty}, {2, 1, 1, kFifty}});
  const auto shift = [&](int64_t by) {
    std::vector<int64_t> from;
    for (int64_t d = 0; d < 8; ++d)
      from.push_back((d + by) % 8);
    return timed(fabric, {"pshuffle", {{"perm", from}}, {1000}, {}, Dtype::U8});
  };
  CHECK(shift(1).bound->cut == at_50(1000));  // of each host, and of one over each link up
  CHECK(shift(2).bound->cut == at_50(2000));
  CHECK(shift(4).bound->cut == at_50(4000));
  CHECK(shift(4).takes == shift(4).bound->least());
}

TEST_CASE("bounds: a broadcast enters each side once") {
  const Fabric fabric = tree_fabric({{4, 1, 1, kFifty}, {2, 1, 1, kFifty}});
  const TimedCall ran =
      timed(fabric, {"pbroadcast", {{"source", int64_t{3}}}, {1000}, {}, Dtype::U8});
  CHECK(ran.bound->cut == at_50(1000));
}

TEST_CASE("bounds: the links up from leaves, or from pods, limit a tree") {
  const LinkFigures half{BytesPerSecond(25 * kGBps), Duration()};
  // A leaf of 4 hosts has half a link up. Four sets of D bytes each exchange 2 x 3 D.
  const TimedCall leaf = timed(tree_fabric({{4, 1, 1, kFifty}, {4, 1, 1, half}}), psum(16'000));
  CHECK(leaf.bound->cut == at_50(2 * 3 * 16'000 / 4 * 2));
  CHECK(leaf.bound->links.size() == 4);
  // Two pods of two leaves, whose spine has half a link up. Leaves have two links up.
  const TimedCall pod =
      timed(tree_fabric({{2, 1, 1, kFifty}, {2, 1, 2, kFifty}, {2, 1, 1, half}}), psum(16'000));
  CHECK(pod.bound->cut == at_50(2 * 16'000));
}

TEST_CASE("bounds: the NICs of a node limit what it exchanges with others") {
  const LinkFigures inside{BytesPerSecond(4500 * kGBps), Duration()};
  NodesForm form{2,    std::make_shared<const Tree>(std::vector<TreeLevel>{{8, 1, 1, inside}}),
                 8,    nullptr,
                 true, true,
                 {}};
  form.outside = std::make_shared<const Tree>(std::vector<TreeLevel>{{2, 1, 1, kFifty}}, 8);
  const TimedCall ran =
      timed(Fabric(std::make_shared<const Nodes>(std::move(form))), psum(16 << 20));
  CHECK(ran.bound->cut == at_50((16 << 20) / 8));
  CHECK(ran.bound->links.size() == 8);
}

/// Returns nodes of 8 devices behind a fast switch, each with a NIC on a rail of its own.
Fabric rails(uint32_t nodes, std::vector<TreeLevel> rail, uint32_t trees, bool over_nodes) {
  const LinkFigures inside{BytesPerSecond(4500 * kGBps), Duration()};
  NodesForm form{nodes, std::make_shared<const Tree>(std::vector<TreeLevel>{{8, 1, 1, inside}}),
                 8,     nullptr,
                 true,  over_nodes,
                 {}};
  form.outside = std::make_shared<const Tree>(std::move(rail), trees);
  return Fabric(std::make_shared<const Nodes>(std::move(form)));
}

TEST_CASE("bounds: of ranks on one rail, only the NICs of that rail count") {
  for (const bool over_nodes : {false, true}) {
    // One rank on each of 2 nodes, or two of 4, which send by as many NICs.
    const Fabric fabric = rails(2, {{2, 1, 1, kFifty}}, 8, over_nodes);
    const std::optional<TimedCall> one =
        try_timed(fabric, psum(8000, "ring"), {{"x", 2}, {"y", 8}});
    REQUIRE(one.has_value());
    CHECK(one->bound->cut == at_50(8000));
    CHECK(one->bound->links.size() == 1);
    const std::optional<TimedCall> two =
        try_timed(fabric, psum(8000, "ring"), {{"x", 4}, {"y", 4}});
    REQUIRE(two.has_value());
    CHECK(two->bound->cut == at_50(8000 / 2));
  }
}

TEST_CASE("bounds: the NICs of a node limit it, however many spines a leaf with one of them has") {
  for (const uint32_t spines : {1U, 2U, 8U}) {
    const Fabric fabric = rails(2, {{1, 1, 1, kFifty}, {16, spines, 1, kFifty}}, 1, true);
    const TimedCall ran =
        timed(fabric, {"all_to_all",
                       {{"split_axis", int64_t{0}}, {"concat_axis", int64_t{0}}, {"tiled", true}},
                       {16 * 1000},
                       {},
                       Dtype::U8});
    // 8 ranks send 1000 bytes to each of 8 in the other node, by 8 NICs.
    CHECK(ran.bound->cut == at_50(8 * 8 * 1000 / 8));
  }
}

TEST_CASE("bounds: a group counts the links that its messages may cross") {
  const auto bound = [](const Fabric& fabric, std::vector<Axis> axes,
                        const std::string& algorithm) {
    const std::optional<TimedCall> ran = try_timed(fabric, psum(8000, algorithm), std::move(axes));
    REQUIRE(ran.has_value());
    CHECK(ran->takes == ran->bound->least());
    return ran->bound->cut;
  };
  // Two links out of each of 4 devices of a line of a torus, of those 4 that they have.
  const TorusDimension four{4, true, kFifty};
  const Fabric torus(std::make_shared<const Torus>(std::vector<TorusDimension>{four, four}));
  CHECK(bound(torus, {{"y", 4}, {"x", 4}}, "bidirectional") == at_50(2 * 3 * 8000 / 8));
  CHECK(bound(torus, {{"x", 4}, {"y", 4}}, "bidirectional") == at_50(2 * 3 * 8000 / 8));
  // One link each way between two of 8 devices.
  CHECK(bound(fully_connected_fabric(8, kFifty), {{"y", 4}, {"x", 2}}, "ring") == at_50(8000));
  // The links of 4 devices of a node, without their NICs'.
  NodesForm form{2,    std::make_shared<const Tree>(std::vector<TreeLevel>{{4, 1, 1, kFifty}}),
                 4,    nullptr,
                 true, true,
                 {}};
  form.outside = std::make_shared<const Tree>(std::vector<TreeLevel>{{2, 1, 1, kFifty}}, 4);
  const Fabric nodes(std::make_shared<const Nodes>(std::move(form)));
  CHECK(bound(nodes, {{"y", 2}, {"x", 4}}, "ring") == at_50(2 * 3 * 8000 / 4));
}

TEST_CASE("bounds: latency is that of the two ranks that are farthest apart") {
  const LinkFigures link{BytesPerSecond(50 * kGBps), Duration(kUs)};
  CHECK(timed(ring_fabric(8, link), psum(8)).bound->latency == Duration(4 * kUs));
  CHECK(timed(ring_fabric(9, link), psum(9)).bound->latency == Duration(4 * kUs));
  CHECK(timed(line_fabric(9, link), psum(9)).bound->latency == Duration(8 * kUs));
  CHECK(timed(switch_fabric(8, link), psum(8)).bound->latency == Duration(2 * kUs));
  // Only neighbours exchange.
  std::vector<int64_t> next;
  for (int64_t d = 0; d < 8; ++d)
    next.push_back((d + 1) % 8);
  CHECK(timed(ring_fabric(8, link), {"pshuffle", {{"perm", next}}, {8}, {}, Dtype::U8})
            .bound->latency == Duration(kUs));
}

TEST_CASE("bounds: nothing to exchange has no bound") {
  const auto none = [](const Fabric& fabric, const Call& call, std::vector<Axis> axes) {
    return !try_timed(fabric, call, std::move(axes))->bound.has_value();
  };
  CHECK(none(ring_fabric(4, kFifty), psum(8), {{"y", 4}, {"x", 1}}));
  CHECK(none(ring_fabric(4, kFifty), psum(0), {{"x", 4}}));
  CHECK(none(ring_fabric(4, kFifty),
             {"pshuffle", {{"perm", std::vector<int64_t>{0, 1, 2, 3}}}, {8}, {}, Dtype::U8},
             {{"x", 4}}));
}

TEST_CASE("bounds: fabrics of too many links have none, nor do exchanges after too many others") {
  const std::vector<VertexId> two = {VertexId(0), VertexId(1)};
  const ExchangedData sum{ExchangedData::Form::Reduction, Bytes(1000)};
  const auto has_bound = [&](uint32_t devices) {
    const Fabric fabric = fully_connected_fabric(devices, kFifty);
    return FabricBounds(fabric).of(sum, two).has_value();
  };
  // n (n - 1) links are at most 2^20 for n up to 1024.
  CHECK(has_bound(1024));
  CHECK(!has_bound(1025));
  const Fabric fabric = switch_fabric(30, kFifty);
  FabricBounds bounds(fabric);
  size_t found = 0;
  for (uint32_t a = 0; a < 30; ++a)
    for (uint32_t b = 0; b < a; ++b)
      found += bounds.of(sum, std::vector<VertexId>{VertexId(a), VertexId(b)}) ? 1 : 0;
  CHECK(found == FabricBounds::kMostExchanges);
  CHECK(bounds.of(sum, std::vector<VertexId>{VertexId(1), VertexId(0)}).has_value());
}

TEST_CASE("bounds: flows propose cuts for the first exchanges only") {
  // Even devices are under one switch, odd ones under another, and a slow link joins the two. No
  // rule proposes that set of devices.
  std::vector<Link> links;
  const auto join = [&](uint32_t a, uint32_t b, BytesPerSecond rate) {
    links.push_back({VertexId(a), VertexId(b), rate, Duration(0)});
    links.push_back({VertexId(b), VertexId(a), rate, Duration(0)});
  };
  for (uint32_t device = 0; device < 64; ++device)
    join(device, 64 + device % 2, BytesPerSecond(50'000'000'000));
  join(64, 65, BytesPerSecond(1'000'000'000));
  const Fabric fabric(64, {"even", "odd"}, links);
  FabricBounds bounds(fabric);
  // The sum of 1,000 B crosses the slow link once each way.
  const ExchangedData sum{ExchangedData::Form::Reduction, Bytes(1000)};
  const auto crosses_slow_link = [&](uint32_t without) {
    std::vector<VertexId> ranks;
    for (uint32_t device = 0; device < 64; ++device)
      if (device != without)
        ranks.emplace_back(device);
    return bounds.of(sum, ranks)->cut == Duration(1'000'000);
  };
  // An exchange of 63 ranks has a flow each way between the first rank and the others, and each
  // looks at 130 links and 66 vertices.
  const size_t work = size_t{2 * 63} * (130 + 66);
  const size_t most = FabricBounds::kMostFlowWorkOfAll / work;
  for (uint32_t device = 0; device <= most; ++device)  // the last one takes what is left
    CHECK(crosses_slow_link(device));
  CHECK_FALSE(crosses_slow_link(63));
  CHECK(crosses_slow_link(0));  // this is known
}

TEST_CASE("bounds: slices of tables cross as their sizes say") {
  RaggedGroup group;
  group.operand_rows = group.output_rows = 10;
  // Rank 0 sends 7 rows to rank 1, and rank 1 sends 2 to rank 0.
  group.ranks = {{{0, 1}, {1, 7}, {0, 0}, {1, 2}}, {{0, 2}, {2, 3}, {1, 7}, {7, 3}}};
  Op op;
  op.kind = OpKind::RaggedAllToAll;
  const ExchangedData exchange = exchanged_data(op, 2, {Dtype::U8}, 10 * 100, &group);
  CHECK(exchange.unit == Bytes(100));
  const std::vector<ExchangedData::Send> expected = {{0, 1, 7}, {1, 0, 2}};
  CHECK(exchange.sends == expected);
  const Fabric fabric = ring_fabric(2, kFifty);
  const std::vector<VertexId> ranks = {VertexId(0), VertexId(1)};
  CHECK(FabricBounds(fabric).of(exchange, ranks)->cut == at_50(700));
}

}  // namespace
}  // namespace orrery::test
