// Tests bounds of collectives: exact ones, and that no algorithm is quicker on random fabrics.

#include "simulator/analyze/fabric_bounds.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "models/fabric/topology.h"
#include "models/program/builder.h"
#include "models/program/sides.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/lower/lower.h"
#include "simulator/time/completion.h"
#include "tests/support/tries.h"
#include "tests/support/units.h"

namespace orrery::test {
namespace {

constexpr LinkFigures kFifty{BytesPerSecond(50 * kGBps), Duration()};

/// An op over the axis x of a mesh, whose last axis it is.
struct Call {
  std::string op;
  std::vector<std::pair<std::string, Attribute>> parameters = {};
  Shape operand;
  std::string algorithm = {};  // empty: the quickest
  Dtype dtype = Dtype::F32;
};

struct Timed {
  Duration takes;
  std::optional<FabricBound> bound;
  std::optional<BusiestLink> busiest;
};

/// Lowers the call on the fabric, and times it. The bound is that of the first group. The result is
/// empty if the algorithm does not fit.
std::optional<Timed> try_timed(const Fabric& fabric, const Call& call, std::vector<Axis> axes) {
  Diagnostics diagnostics("call");
  ProgramBuilder builder(Mesh(axes), Checks::Shapes, diagnostics);
  std::vector<std::string> names;
  for (const Axis& axis : axes)
    names.push_back(axis.name);
  builder.argument("a", call.dtype, call.operand, names);
  std::vector<LogicalId> devices;
  for (uint32_t d = 0; d < Mesh(axes).devices(); ++d)
    devices.emplace_back(d);
  builder.thread("t", devices);
  OpRequest request;
  request.name = "r";
  request.kind = op_named(call.op)->kind;
  request.operands = {"a"};
  request.attributes.set("axis_name", std::vector<std::string>{"x"});
  for (const auto& [key, value] : call.parameters)
    request.attributes.set(key, value);
  if (!call.algorithm.empty())
    request.attributes.set("algorithm", call.algorithm);
  builder.op(std::move(request));
  const Program program = builder.finish();
  diagnostics.throw_if_any();
  Paths paths(fabric);
  const Lowered lowered = lower(program, {"c", fabric, {}}, paths, diagnostics);
  if (!diagnostics.empty())
    return std::nullopt;
  const Op& op = program.ops.front();
  const Collective& collective = lowered.collectives.front();
  FabricBounds bounds(paths);
  const auto ranks = static_cast<uint32_t>(collective.members.size());
  const ExchangedData exchange =
      exchanged_data(op, ranks, collective.work, exchanged_operand(program, op).shape.elements());
  return Timed{run_time(program, lowered, fabric).makespan - Instant(),
               bounds.of(exchange, std::span(collective.vertices.begin(), ranks)),
               bounds.busiest(collective)};
}

Timed timed(const Fabric& fabric, const Call& call) {
  const auto n = static_cast<int64_t>(fabric.devices());
  std::optional<Timed> result = try_timed(fabric, call, {{"x", n}});
  REQUIRE(result.has_value());
  REQUIRE(result->bound.has_value());
  return std::move(*result);
}

Fabric tree_fabric(std::vector<TreeLevel> levels) {
  return Fabric(std::make_shared<const Tree>(std::move(levels)));
}

Duration at_50(int64_t bytes) {
  return transfer_time(Bytes(bytes), kFifty.bandwidth);
}

Call psum(int64_t bytes, std::string algorithm = {}) {
  return {"psum", {}, {bytes}, std::move(algorithm), Dtype::U8};
}

TEST_CASE("bounds: a ring over a switch gathers as fast as one device's link allows") {
  for (const uint32_t n : {2U, 3U, 8U, 13U}) {
    const Timed ran = timed(switch_fabric(n, kFifty),
                            {"all_gather", {{"tiled", true}}, {1000}, "ring", Dtype::U8});
    CHECK(ran.bound->cut == at_50((n - 1) * 1000));
    CHECK(ran.takes == ran.bound->least());
    CHECK(ran.busiest->takes == ran.takes);
  }
}

TEST_CASE("bounds: a ring over a switch reduces as fast as all devices' links allow together") {
  for (const uint32_t n : {2U, 3U, 8U, 13U}) {
    const Timed ran = timed(switch_fabric(n, kFifty), psum(n * 1000, "ring"));
    // The 2 (n - 1) operands of n parts cross the links of n devices.
    CHECK(ran.bound->cut == at_50(2 * (n - 1) * 1000));
    CHECK(ran.bound->links.size() == (n == 2 ? 1 : n));  // of two, one link is as tight as both
    CHECK(ran.takes == ran.bound->least());
  }
}

TEST_CASE("bounds: a switch that reduces takes each operand once, and gives the sum once") {
  const Fabric fabric = switch_fabric(8, kFifty).with_reduction({VertexId(8)});
  const Timed ran = timed(fabric, psum(80'000, "ring"));
  CHECK(ran.bound->cut == at_50(80'000));
  CHECK(ran.takes == at_50(2 * 7 * 10'000));
}

TEST_CASE("bounds: rings of a ring both ways use all links") {
  for (const uint32_t n : {3U, 4U, 8U}) {
    const Timed ran = timed(ring_fabric(n, kFifty), psum(n * 2000, "bidirectional"));
    CHECK(ran.bound->cut == at_50((n - 1) * 2000));
    CHECK(ran.takes == ran.bound->least());
  }
}

TEST_CASE("bounds: an exchange over a full mesh uses every link to its end") {
  for (const int64_t n : {2, 5, 8}) {
    const Timed ran =
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
  const Timed ran =
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
  const Timed ran = timed(switch_fabric(4, kFifty),
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
  const Timed ran = timed(fabric, {"pbroadcast", {{"source", int64_t{3}}}, {1000}, {}, Dtype::U8});
  CHECK(ran.bound->cut == at_50(1000));
}

TEST_CASE("bounds: the links up from leaves, or from pods, limit a tree") {
  const LinkFigures half{BytesPerSecond(25 * kGBps), Duration()};
  // A leaf of 4 hosts has half a link up. Four sets of D bytes each exchange 2 x 3 D.
  const Timed leaf = timed(tree_fabric({{4, 1, 1, kFifty}, {4, 1, 1, half}}), psum(16'000));
  CHECK(leaf.bound->cut == at_50(2 * 3 * 16'000 / 4 * 2));
  CHECK(leaf.bound->links.size() == 4);
  // Two pods of two leaves, whose spine has half a link up. Leaves have two links up.
  const Timed pod =
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
  const Timed ran = timed(Fabric(std::make_shared<const Nodes>(std::move(form))), psum(16 << 20));
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
    const std::optional<Timed> one = try_timed(fabric, psum(8000, "ring"), {{"x", 2}, {"y", 8}});
    REQUIRE(one.has_value());
    CHECK(one->bound->cut == at_50(8000));
    CHECK(one->bound->links.size() == 1);
    const std::optional<Timed> two = try_timed(fabric, psum(8000, "ring"), {{"x", 4}, {"y", 4}});
    REQUIRE(two.has_value());
    CHECK(two->bound->cut == at_50(8000 / 2));
  }
}

/// Returns whether the call takes at most 100/95 of its bound.
bool reaches_95_percent(const Timed& ran) {
  return ran.takes.count() * 95 <= ran.bound->least().count() * 100;
}

/// Returns nodes of some devices behind a switch of 450 GB/s, each with a NIC of 50 GB/s on a rail
/// of its own. Each link has a latency of 1 us.
Fabric h100s(uint32_t nodes, uint32_t devices) {
  const LinkFigures inside{BytesPerSecond(450 * kGBps), Duration(kUs)};
  const LinkFigures nic{BytesPerSecond(50 * kGBps), Duration(kUs)};
  NodesForm form{
      nodes,   std::make_shared<const Tree>(std::vector<TreeLevel>{{devices, 1, 1, inside}}),
      devices, nullptr,
      true,    true,
      nic};
  form.outside = std::make_shared<const Tree>(std::vector<TreeLevel>{{nodes, 1, 1, nic}}, devices);
  return Fabric(std::make_shared<const Nodes>(std::move(form)));
}

TEST_CASE("bounds: rings in nodes and between them reach 95 % on rails of 2 to 64 nodes") {
  // Up to 4 nodes, what a device sends and receives over all its links binds. Rings send 7/8 of it
  // inside the node, which alone takes 96.4 % of the bound on 2 nodes.
  for (const int64_t nodes : {2, 3, 4, 8, 16, 32, 64}) {
    CAPTURE(nodes);
    if (test::is_sanitized() && nodes > 8)
      continue;
    const Fabric fabric = h100s(static_cast<uint32_t>(nodes), 8);
    const int64_t elements = (nodes > 16 ? int64_t{1} : int64_t{8}) << 28;
    const int64_t part = elements / (8 * nodes);
    CHECK(reaches_95_percent(
        timed(fabric, {"all_gather", {{"tiled", true}}, {part}, "ring+ring", Dtype::F32})));
    CHECK(reaches_95_percent(timed(
        fabric, {"psum_scatter", {{"tiled", true}}, {part * 8 * nodes}, "ring+ring", Dtype::F32})));
    CHECK(reaches_95_percent(timed(fabric, {"psum", {}, {elements}, "ring+ring", Dtype::F32})));
  }
}

TEST_CASE("bounds: a tree takes as long as its NICs send, and the latencies of its longest way") {
  // With 64 nodes, six messages go up and six down, over two links each, and each NIC sends the
  // data twice. With eight ranks each, an eighth of the data, and seven messages more each way
  // through the node. In the time of one piece for each message, it is within 15 %.
  const auto psum = [](const Fabric& fabric, int64_t bytes) {
    return timed(fabric, {"psum", {}, {bytes / 4}, "tree", Dtype::F32});
  };
  constexpr int64_t kMiB = int64_t{1} << 20;
  const auto least = [](int64_t bytes, int64_t messages) {
    return at_50(2 * bytes) + Duration(2 * kUs) * messages;
  };
  const Timed one = psum(h100s(64, 1), 4 * kMiB);
  CHECK(one.takes >= least(4 * kMiB, 12));
  CHECK(one.takes.count() * 95 <= least(4 * kMiB, 12).count() * 100);
  const Timed eight = psum(h100s(64, 8), 4 * kMiB);
  CHECK(eight.takes >= least(4 * kMiB / 8, 12 + 14));
  CHECK(eight.takes.count() * 85 <= least(4 * kMiB / 8, 12 + 14).count() * 100);
  // The bound counts neither the latencies nor that a NIC sends the data twice, instead of
  // 2 (M - 1) / M times. So a tree may reach 95 % on two nodes, or on more than 20.
  CHECK(reaches_95_percent(psum(h100s(2, 1), 4 * kMiB)));
  CHECK(reaches_95_percent(psum(h100s(64, 1), 32 * kMiB)));
  CHECK(reaches_95_percent(psum(h100s(64, 2), 128 * kMiB)));
}

TEST_CASE("bounds: a broadcast on a torus uses all links of each device") {
  for (const std::vector<uint32_t>& sizes : {std::vector<uint32_t>{4, 4}, {4, 4, 4}, {8, 8, 8}}) {
    const LinkFigures link{BytesPerSecond(50 * kGBps), Duration(kUs)};
    std::vector<TorusDimension> dimensions;
    for (const uint32_t size : sizes)
      dimensions.push_back({size, true, link});
    const Fabric fabric(std::make_shared<const Torus>(dimensions));
    const int64_t bytes = int64_t{4} << 30;
    const Timed ran =
        timed(fabric, {"pbroadcast", {{"source", int64_t{3}}}, {bytes / 4}, {}, Dtype::F32});
    CHECK(ran.bound->least() >= at_50(bytes / static_cast<int64_t>(2 * sizes.size())));
    // A chain has up to 512 pieces, and the last of n ranks gets the first one n - 1 turns later.
    const int64_t turns = 512 + fabric.devices() - 2;
    CHECK(ran.takes.count() * 95 <= ran.bound->least().count() * 100 * turns / 512);
  }
}

TEST_CASE("bounds: rings of all ranks are bound by what they send over NICs") {
  // A ring sends n - 1 of n parts over each of its links, and nodes must get M - 1 of M parts. So
  // rings reach 95 % from 18 nodes of 8 on.
  for (const int64_t nodes : {2, 8, 20, 32}) {
    CAPTURE(nodes);
    if (test::is_sanitized() && nodes > 8)
      continue;
    const Timed ran = timed(h100s(static_cast<uint32_t>(nodes), 8),
                            {"psum", {}, {int64_t{1} << 30}, "ring", Dtype::F32});
    const int64_t n = 8 * nodes;
    const Duration sent = at_50(2 * (n - 1) * ((int64_t{4} << 30) / n) / 8);
    CHECK(ran.takes.count() * 95 <= sent.count() * 100);
    CHECK(reaches_95_percent(ran) == (nodes >= 20));
  }
}

TEST_CASE("bounds: the NICs of a node limit it, however many spines a leaf with one of them has") {
  for (const uint32_t spines : {1U, 2U, 8U}) {
    const Fabric fabric = rails(2, {{1, 1, 1, kFifty}, {16, spines, 1, kFifty}}, 1, true);
    const Timed ran =
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
    const std::optional<Timed> ran = try_timed(fabric, psum(8000, algorithm), std::move(axes));
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
    Paths paths(fabric);
    return FabricBounds(paths).of(sum, two).has_value();
  };
  // n (n - 1) links are at most 2^20 for n up to 1024.
  CHECK(has_bound(1024));
  CHECK(!has_bound(1025));
  const Fabric fabric = switch_fabric(30, kFifty);
  Paths paths(fabric);
  FabricBounds bounds(paths);
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
  Paths paths(fabric);
  FabricBounds bounds(paths);
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
  Paths paths(fabric);
  const std::vector<VertexId> ranks = {VertexId(0), VertexId(1)};
  CHECK(FabricBounds(paths).of(exchange, ranks)->cut == at_50(700));
}

/// Returns figures that divide well: a bandwidth of 1 to 4 times 0.84 GB/s, and a latency.
LinkFigures any_figures(Random& random) {
  return {BytesPerSecond(840'000'000 * random.between(1, 4)),
          Duration(kUs / 4 * random.between(0, 3))};
}

/// Returns a fabric of 2 to 8 devices whose links are in a list. All reach each other.
Fabric any_list(Random& random) {
  const auto n = static_cast<uint32_t>(random.between(2, 8));
  const auto switches = static_cast<uint32_t>(random.below(3));
  std::vector<Link> links;
  const auto add = [&](uint32_t from, uint32_t to) {
    const LinkFigures figures = any_figures(random);
    if (from != to)
      links.push_back({VertexId(from), VertexId(to), figures.bandwidth, figures.latency});
  };
  const uint32_t vertices = n + switches;
  for (uint32_t v = 0; v < vertices; ++v)
    add(v, (v + 1) % vertices);
  for (uint64_t more = random.below(3 * vertices); more > 0; --more)
    add(static_cast<uint32_t>(random.below(vertices)),
        static_cast<uint32_t>(random.below(vertices)));
  return Fabric(n, std::vector<std::string>(switches, "s"), std::move(links));
}

Fabric any_tree(Random& random) {
  std::vector<TreeLevel> levels = {
      {static_cast<uint32_t>(random.between(1, 4)), 1, 1, any_figures(random)}};
  for (uint64_t more = random.below(3); more > 0; --more)
    levels.push_back({static_cast<uint32_t>(random.between(2, 3)),
                      static_cast<uint32_t>(random.between(1, 2)),
                      static_cast<uint32_t>(random.between(1, 2)), any_figures(random)});
  return Fabric(std::make_shared<const Tree>(std::move(levels), 1, random.below(3) == 0));
}

Fabric any_torus(Random& random) {
  std::vector<TorusDimension> dimensions;
  for (uint64_t d = 1 + random.below(3); d > 0; --d)
    dimensions.push_back(
        {static_cast<uint32_t>(random.between(1, 4)), random.below(2) == 0, any_figures(random)});
  return Fabric(std::make_shared<const Torus>(std::move(dimensions)));
}

Fabric any_nodes(Random& random) {
  const auto nodes = static_cast<uint32_t>(random.between(2, 4));
  const auto devices = static_cast<uint32_t>(random.between(1, 3));
  const uint32_t nics = random.below(2) == 0 ? devices : 1;
  NodesForm form;
  form.nodes = nodes;
  form.inside =
      std::make_shared<const Tree>(std::vector<TreeLevel>{{devices, 1, 1, any_figures(random)}});
  form.nics = nics;
  form.rails = random.below(2) == 0;
  form.over_nodes = form.rails && random.below(2) == 0;
  form.nic = any_figures(random);
  const TreeLevel leaf{nodes, 1, 1, any_figures(random)};
  if (form.rails)
    form.outside = std::make_shared<const Tree>(
        std::vector<TreeLevel>{leaf, {nics, 1, 1, any_figures(random)}});
  else
    form.outside = std::make_shared<const Tree>(
        std::vector<TreeLevel>{{nodes * nics, 1, 1, any_figures(random)}});
  return Fabric(std::make_shared<const Nodes>(std::move(form)));
}

Fabric any_fabric(Random& random) {
  const auto make = [&] {
    switch (random.below(5)) {
      case 0:
        return any_list(random);
      case 1:
        return any_tree(random);
      case 2:
        return any_torus(random);
      case 3:
        return any_nodes(random);
      default:
        return fully_connected_fabric(static_cast<uint32_t>(random.between(2, 6)),
                                      any_figures(random));
    }
  };
  Fabric fabric = make();
  if (random.below(4) == 0) {
    // Faults cut links, or divide their bandwidths.
    constexpr int64_t kParts = 3;
    std::vector<Link> links = fabric.links();
    for (Link& link : links) {
      link.cut = random.below(8) == 0;
      link.bandwidth = link.bandwidth * (random.below(4) == 0 ? 1 : kParts);
    }
    fabric = fabric.with_links(std::move(links), kParts);
  }
  std::vector<VertexId> reducing;
  for (uint32_t s = 0; s < fabric.switches(); ++s)
    if (random.below(3) == 0)
      reducing.emplace_back(fabric.devices() + s);
  return reducing.empty() ? fabric : fabric.with_reduction(reducing);
}

Call any_call(Random& random, int64_t n) {
  const int64_t part = random.between(1, 3) * (random.below(2) == 0 ? 1 : 10'000);
  switch (random.below(8)) {
    case 0:
      return {"all_gather", {{"tiled", true}}, {part}};
    case 1:
      return {"psum_scatter", {{"tiled", true}}, {n * part}};
    case 2:
      return {"all_to_all",
              {{"split_axis", int64_t{0}}, {"concat_axis", int64_t{0}}, {"tiled", true}},
              {n * part}};
    case 3:
      return {"pbroadcast", {{"source", random.between(0, n - 1)}}, {part}};
    case 4: {
      std::vector<std::vector<int64_t>> pairs;
      const int64_t by = random.between(0, n - 1);
      for (int64_t d = 0; d < n; ++d)
        if (random.below(4) != 0)
          pairs.push_back({d, (d + by) % n});
      return {"ppermute", {{"perm", pairs}}, {part}};
    }
    case 5:
      return {"pargmax", {}, {part}};
    case 6:
      return {"pmean", {}, {n * part + random.between(0, 2)}};
    default:
      return {"psum", {}, {n * part}};
  }
}

TEST_CASE("bounds: no algorithm is quicker, on 600 random fabrics") {
  Random random(35);
  size_t runs = 0;
  for (uint64_t i = 0; i < tries(600); ++i) {
    CAPTURE(i);
    const Fabric fabric = any_fabric(random);
    const auto devices = static_cast<int64_t>(fabric.devices());
    // The groups of a second axis are strided or consecutive.
    int64_t n = devices;
    if (random.below(2) == 0)
      while (n > 1 && (devices % n != 0 || n == devices))
        --n;
    std::vector<Axis> axes = {{"x", n}};
    if (n < devices)
      axes.insert(random.below(2) == 0 ? axes.begin() : axes.end(), {"y", devices / n});
    Call call = any_call(random, n);
    for (const Algorithm* algorithm : algorithms_for(op_named(call.op)->kind)) {
      CAPTURE(call.op);
      call.algorithm = algorithm->name;
      CAPTURE(call.algorithm);
      const std::optional<Timed> ran = try_timed(fabric, call, axes);
      if (!ran || !ran->bound)
        continue;
      ++runs;
      CHECK(ran->bound->least() <= ran->takes);
      REQUIRE(ran->busiest);
      CHECK(ran->busiest->takes <= ran->takes);
    }
  }
  CHECK(runs > 0);
}

/// The time of the tightest cut among sets of vertices that hold k of n ranks. `units` says, for k
/// and n, how many units must enter a set, or leave it.
class Sets {
 public:
  using Units = int64_t (*)(int64_t k, int64_t n);

  Sets(const Fabric& fabric, Bytes unit, bool enter, Units units)
      : fabric_(fabric), unit_(unit), enter_(enter), units_(units) {}

  void add(const std::vector<bool>& inside) {
    int64_t bandwidth = 0;
    for (const Link& link : fabric_.links())
      if (inside[link.from.index()] != inside[link.to.index()] && inside[link.to.index()] == enter_)
        bandwidth += link.bandwidth.count();
    const int64_t n = fabric_.devices();
    const int64_t k = std::count(inside.begin(), inside.begin() + n, true);
    if (k > 0 && k < n)
      tightest = std::max(tightest, transfer_time(unit_ * units_(k, n), BytesPerSecond(bandwidth)));
  }
  void add_all() {
    const uint32_t vertices = fabric_.vertices();
    for (uint32_t set = 1; set + 1 < uint32_t{1} << vertices; ++set) {
      std::vector<bool> inside(vertices);
      for (uint32_t v = 0; v < vertices; ++v)
        inside[v] = (set >> v & 1U) != 0;
      add(inside);
    }
  }
  void add_devices() {
    for (uint32_t d = 0; d < fabric_.devices(); ++d) {
      std::vector<bool> inside(fabric_.vertices());
      inside[d] = true;
      add(inside);
    }
  }
  void add_flows(std::span<const VertexId> ranks, FlowEnds ends) {
    for (const Division& cut : flow_cuts(fabric_, OpenLinks(fabric_), ranks, ends, ranks.size())) {
      std::vector<bool> inside(fabric_.vertices());
      for (size_t v = 0; v < inside.size(); ++v)
        inside[v] = cut.block[v] == 0;
      add(inside);
    }
  }

  Duration tightest;

 private:
  const Fabric& fabric_;
  Bytes unit_;
  bool enter_;
  Units units_;
};

TEST_CASE("bounds: in lists of links, flows and devices find the tightest set of all") {
  Random random(36);
  for (uint64_t i = 0; i < tries(300); ++i) {
    CAPTURE(i);
    const Fabric fabric = any_list(random);
    std::vector<VertexId> ranks;
    for (uint32_t d = 0; d < fabric.devices(); ++d)
      ranks.emplace_back(d);
    const Bytes unit(random.between(1, 1000) * 1000);
    Paths paths(fabric);
    FabricBounds bounds(paths);
    const auto check = [&](ExchangedData::Form form, bool enter, Sets::Units units, FlowEnds ends) {
      Sets all(fabric, unit, enter, units);
      all.add_all();
      Sets found(fabric, unit, enter, units);
      found.add_devices();
      found.add_flows(ranks, ends);
      CHECK(found.tightest == all.tightest);
      // All links out of sets that divide the fabric may be tighter than those of one set.
      CHECK(bounds.of({form, unit}, ranks)->cut >= all.tightest);
    };
    const auto others = [](int64_t k, int64_t n) { return n - k; };
    const auto one = [](int64_t /*k*/, int64_t /*n*/) { return int64_t{1}; };
    check(ExchangedData::Form::Gather, true, others, FlowEnds::FromAll);
    check(ExchangedData::Form::ScatteredReduction, false, others, FlowEnds::ToAll);
    check(ExchangedData::Form::Reduction, true, one, FlowEnds::Pairs);
  }
}

}  // namespace
}  // namespace orrery::test
