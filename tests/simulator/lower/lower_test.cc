// Tests the lowering of small programs, whose tapes, scratch and times are worked out by hand.

#include "simulator/lower/lower.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "simulator/algorithm/recursive_doubling.h"
#include "simulator/algorithm/ring.h"
#include "simulator/network/demand.h"
#include "simulator/time/completion.h"
#include "tests/simulator/lower/lower_rig.h"

namespace orrery {
namespace {

using test::LowerRig;
using test::Names;
using Groups = std::vector<std::vector<int64_t>>;

/// Returns the tape as "local b, enter p on 0, wait p/p". An enter has its stream, a wait the op
/// that entered.
std::string text(const Program& program, const Tape& tape) {
  std::string result;
  for (uint64_t at = 0; at < tape.size(); ++at) {
    const Instruction& instruction = tape[at];
    result += result.empty() ? "" : ", ";
    if (instruction.kind == Instruction::Kind::Local)
      result += "local " + program.op(instruction.op).name;
    else if (instruction.kind == Instruction::Kind::Enter)
      result += fmt::format("enter {} on {}", program.op(instruction.op).name,
                            instruction.stream.index());
    else
      result += fmt::format("wait {}/{}", program.op(instruction.op).name,
                            program.op(tape[tape.enter_of(at)].op).name);
  }
  return result;
}

TEST_CASE("lower: a sync collective enters and waits, a started one waits at its done") {
  LowerRig rig(2);
  rig.argument("a", Dtype::F32, Shape{8})
      .op("psum_start", "s", {"a"}, {{"axis_name", Names{"x"}}, {"stream", int64_t{3}}})
      .op("add", "b", {"a", "a"})
      .op("psum", "p", {"b"}, {{"axis_name", Names{"x"}}})
      .op("done", "d", {"s"});
  const Lowered& lowered = rig.lower();
  REQUIRE(lowered.tapes.size() == 1);
  CHECK(text(rig.program, lowered.tapes[0]) ==
        "enter s on 3, local b, enter p on 0, wait p/p, wait d/s");
}

TEST_CASE("lower: work elements move, and those that no tensor can hold need scratch") {
  const test::Parameters ring = {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}};
  LowerRig rig(2);
  rig.argument("p", Dtype::Pred, Shape{8})
      .argument("h", Dtype::F16, Shape{8})
      .op("psum", "sum", {"p"}, ring)
      .op("pmean", "mean", {"h"}, ring)
      .op("pargmax", "rank", {"h"}, ring);
  const Lowered& lowered = rig.lower();
  // A ring needs no scratch of its own. The operand's pred elements become s32 counts, which need
  // 32 bytes; their sum fits the result.
  CHECK(itemsize(lowered.collectives[0].work) == Bytes(4));
  CHECK(lowered.collectives[0].scratch == Bytes(32));
  // Sums of f16 fit the operand and the result.
  CHECK(itemsize(lowered.collectives[1].work) == Bytes(2));
  CHECK(lowered.collectives[1].scratch == Bytes(0));
  // An f16 and its rank are 6 bytes. Neither the f16 operand nor the s32 result has room for them.
  CHECK(itemsize(lowered.collectives[2].work) == Bytes(6));
  CHECK(lowered.collectives[2].scratch == Bytes(96));
}

TEST_CASE("lower: sums that become wider elements of the result need a place of their own") {
  LowerRig rig(2);
  rig.argument("b", Dtype::S8, Shape{8}).op("pmean", "mean", {"b"}, {{"axis_name", Names{"x"}}});
  // These are 8 sums of s8, before they are converted to the f32 result.
  CHECK(rig.lower().collectives[0].scratch == Bytes(8));
}

TEST_CASE("lower: a tensor that is reordered needs a second place for its elements") {
  const auto ring = [](int64_t axis) {
    return test::Parameters{{"axis_name", Names{"x"}},
                            {"algorithm", std::string("ring")},
                            {"axis", axis},
                            {"tiled", true}};
  };
  LowerRig rig(2);
  rig.argument("a", Dtype::F32, Shape{4, 6})
      .op("all_gather", "rows", {"a"}, ring(0))
      .op("all_gather", "columns", {"a"}, ring(1))
      .op("all_to_all", "exchanged", {"a"},
          {{"axis_name", Names{"x"}},
           {"split_axis", int64_t{1}},
           {"concat_axis", int64_t{0}},
           {"tiled", true}});
  const Lowered& lowered = rig.lower();
  // Gathered along the first axis, the parts lie one after another in the result.
  CHECK(lowered.collectives[0].scratch == Bytes(0));
  // Gathered along the second axis, the 48 elements are interleaved in the result.
  CHECK(lowered.collectives[1].scratch == Bytes(48 * 4));
  // The halves of the rows are made contiguous before they are sent; received elements are in
  // order.
  CHECK(lowered.collectives[2].scratch == Bytes(24 * 4));
}

TEST_CASE("lower: each group of a site is one collective, and equal groups share a schedule") {
  LowerRig rig(5);
  rig.argument("a", Dtype::F32, Shape{8})
      .op("psum", "p", {"a"},
          {{"axis_name", Names{"x"}}, {"axis_index_groups", Groups{{0, 2}, {4}, {3, 1}}}});
  const Lowered& lowered = rig.lower();
  REQUIRE(lowered.collectives.size() == 3);
  CHECK(lowered.schedules.size() == 2);
  CHECK(lowered.collectives[0].schedule == lowered.collectives[2].schedule);
  CHECK(lowered.collectives[1].schedule->extent().nodes == 1);
  CHECK(lowered.collectives[2].members == Group{LogicalId(3), LogicalId(1)});
  CHECK(lowered.collectives[2].vertices == std::vector<VertexId>{VertexId(3), VertexId(1)});
  CHECK(lowered.choices.size() == 1);
  const SiteMembers& members = lowered.members[0];
  CHECK(members.find(LogicalId(1), Side::Both)->collective == CollectiveId(2));
  CHECK(members.find(LogicalId(1), Side::Both)->node == Node(1));
  CHECK(members.find(LogicalId(4), Side::Both)->collective == CollectiveId(1));
}

TEST_CASE("lower: layers with equal collectives share schedules, groups and views") {
  const Groups pairs = {{0, 1}, {3, 2}};
  const test::Parameters in_pairs = {{"axis_name", Names{"x"}}, {"axis_index_groups", pairs}};
  test::Parameters on_stream = in_pairs;
  on_stream.emplace_back("stream", int64_t{1});
  LowerRig rig(4);
  rig.argument("a", Dtype::F32, Shape{8})
      .argument("b", Dtype::F32, Shape{2, 4})
      .argument("longer", Dtype::F32, Shape{9})
      .op("psum", "first", {"a"}, in_pairs)
      .op("psum", "same", {"first"}, on_stream)
      .op("psum", "other_shape", {"b"}, in_pairs)
      .op("psum", "other_size", {"longer"}, in_pairs)
      .op("pmax", "other_kind", {"a"}, in_pairs);
  const Lowered& lowered = rig.lower();
  const std::vector<Collective>& all = lowered.collectives;
  REQUIRE(all.size() == 10);
  CHECK(lowered.schedules.size() == 3);  // of 8 elements, of 9, of a maximum
  for (const size_t same : {1U, 2U, 3U, 4U, 5U})
    CHECK(all[same].schedule == all[0].schedule);
  CHECK(all[6].schedule != all[0].schedule);
  CHECK(all[8].schedule != all[0].schedule);
  CHECK(all[6].schedule->extent().input == 9);
  for (size_t c = 2; c < all.size(); ++c) {
    CHECK(all[c].members.begin() == all[c - 2].members.begin());
    CHECK(all[c].vertices.begin() == all[c - 2].vertices.begin());
  }
  CHECK(all[2].input.dims.begin() == all[0].input.dims.begin());
  CHECK(all[2].stream == StreamId(1));
  CHECK(lowered.members[4].find(LogicalId(2), Side::Both)->collective == CollectiveId(9));
}

TEST_CASE("lower: permutations share a schedule only where they are equal") {
  LowerRig rig(2);
  const auto permute = [&](const std::string& name, const Groups& perm) {
    rig.op("ppermute", name, {"a"}, {{"axis_name", Names{"x"}}, {"perm", perm}});
  };
  rig.argument("a", Dtype::F32, Shape{8});
  permute("there", {{0, 1}});
  permute("back", {{1, 0}});
  permute("again", {{0, 1}});
  const auto broadcast = [&](const std::string& name, int64_t source) {
    rig.op("pbroadcast", name, {"a"}, {{"axis_name", Names{"x"}}, {"source", source}});
  };
  broadcast("from_0", 0);
  broadcast("from_1", 1);
  broadcast("from_0_again", 0);
  const Lowered& lowered = rig.lower();
  CHECK(lowered.schedules.size() == 4);
  CHECK(lowered.collectives[2].schedule == lowered.collectives[0].schedule);
  CHECK(lowered.collectives[5].schedule == lowered.collectives[3].schedule);
}

TEST_CASE("lower: devices outside the meeting threads take no part") {
  LowerRig rig(4);
  rig.argument("a", Dtype::F32, Shape{8})
      .thread({LogicalId(0), LogicalId(1)})
      .op("psum", "p", {"a"},
          {{"axis_name", Names{"x"}}, {"axis_index_groups", Groups{{0, 1}, {2, 3}}}})
      .thread({LogicalId(2), LogicalId(3)})
      .op("add", "b", {"a", "a"});
  const Lowered& lowered = rig.lower();
  REQUIRE(lowered.collectives.size() == 1);
  CHECK(lowered.members[0].find(LogicalId(1), Side::Both).has_value());
  CHECK_FALSE(lowered.members[0].find(LogicalId(2), Side::Both).has_value());
  REQUIRE(lowered.tapes.size() == 2);
  CHECK(text(rig.program, lowered.tapes[1]) == "local b");
}

TEST_CASE("lower: two threads that meet at a site are members of one collective") {
  LowerRig rig(4);
  const test::Parameters over_x = {{"axis_name", Names{"x"}}};
  rig.argument("a", Dtype::F32, Shape{8})
      .thread({LogicalId(0), LogicalId(2)})
      .op("psum", "p", {"a"}, over_x, "here")
      .thread({LogicalId(1), LogicalId(3)})
      .op("psum", "q", {"a"}, over_x, "here");
  const Lowered& lowered = rig.lower();
  REQUIRE(lowered.collectives.size() == 1);
  CHECK(lowered.collectives[0].members.size() == 4);
  CHECK(text(rig.program, lowered.tapes[0]) == "enter p on 0, wait p/p");
  CHECK(text(rig.program, lowered.tapes[1]) == "enter q on 0, wait q/q");
}

TEST_CASE("lower: a sum of pred works in s32") {
  LowerRig rig(2);
  rig.argument("a", Dtype::Pred, Shape{8}).op("psum", "p", {"a"}, {{"axis_name", Names{"x"}}});
  CHECK(rig.lower().collectives[0].work == WorkType{Dtype::S32});
}

TEST_CASE("lower: the scenario's transport reaches the schedule") {
  LowerRig rig(4);
  rig.argument("a", Dtype::F32, Shape{8})
      .op("psum", "p", {"a"},
          {{"axis_name", Names{"x"}},
           {"algorithm", std::string("ring")},
           {"channels", int64_t{3}},
           {"slots", int64_t{5}},
           {"entry", std::string("rendezvous")}});
  const Lowered& lowered = rig.lower();
  const Extent& extent = lowered.collectives[0].schedule->extent();
  CHECK(dynamic_cast<const RingSchedule*>(lowered.collectives[0].schedule) != nullptr);
  CHECK(extent.channels == 3);
  CHECK(extent.slots == 5);
  CHECK(extent.entry == Entry::Rendezvous);
  CHECK(lowered.choices[0].algorithm == "ring");
  CHECK(lowered.choices[0].because == "asked for");
}

TEST_CASE("lower: the choice depends on the cluster's links") {
  // 8 f32 over 4 ranks, at 1 GB/s and 1 ns:
  //   ring:      6 steps of 1 ns + 8 B   = 54 ns
  //   both ways: 6 steps of 1 ns + 4 B   = 30 ns
  //   doubling:  2 steps of 1 ns + 32 B  = 66 ns
  // With 1 us of latency the last two times are 6024 ns and 2064 ns.
  LowerRig rig(4);
  rig.argument("a", Dtype::F32, Shape{8}).op("psum", "p", {"a"}, {{"axis_name", Names{"x"}}});
  CHECK(rig.lower().choices[0].because == "bidirectional 30 ns < ring 54 ns (model)");
  LowerRig far(4);
  far.cluster.fabric =
      fully_connected_fabric(4, {BytesPerSecond(1'000'000'000), Duration(1'000'000)});
  far.argument("a", Dtype::F32, Shape{8}).op("psum", "p", {"a"}, {{"axis_name", Names{"x"}}});
  CHECK(far.lower().choices[0].because ==
        "recursive_doubling 2064 ns < bidirectional 6024 ns (model)");
}

TEST_CASE("lower: ppermute over no axes keeps the operand, over an axis of one it may drop it") {
  const Groups none;
  LowerRig kept(1);
  kept.argument("a", Dtype::F32, Shape{8})
      .op("ppermute", "p", {"a"}, {{"axis_name", Names{}}, {"perm", none}});
  CHECK_FALSE(kept.lower().collectives[0].schedule->extent().zero_output);
  LowerRig dropped(1);
  dropped.argument("a", Dtype::F32, Shape{8})
      .op("ppermute", "p", {"a"}, {{"axis_name", Names{"x"}}, {"perm", none}});
  CHECK(dropped.lower().collectives[0].schedule->extent().zero_output);
}

const char* const kNoTransport = "transport buffers: not counted (no memory.transport given)";

TEST_CASE("lower: figures that the cluster does not give are labelled where they matter") {
  LowerRig gathers(2);
  gathers.argument("a", Dtype::F32, Shape{8})
      .op("all_gather", "g", {"a"}, {{"axis_name", Names{"x"}}});
  CHECK(gathers.lower().labels ==
        Names{"launch: 0 (not given)", "copy_rate: infinite (not given)", kNoTransport});
  LowerRig sums(2);
  const test::Parameters ring = {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}};
  sums.argument("a", Dtype::F32, Shape{8}).op("psum", "p", {"a"}, ring);
  CHECK(sums.lower().labels ==
        Names{"launch: 0 (not given)", "reduce_rate: infinite (not given)", kNoTransport});
  LowerRig given(2);
  given.cluster.device.launch = Duration(5);
  given.cluster.device.reduce_rate = BytesPerSecond(7);
  given.argument("a", Dtype::F32, Shape{8}).op("psum", "p", {"a"}, ring);
  CHECK(given.lower().labels == Names{kNoTransport});
  CHECK(given.lowered.collectives[0].figures.launch == Duration(5));
  CHECK(given.lowered.collectives[0].figures.rates.reduce == BytesPerSecond(7));
}

TEST_CASE("lower: packing and unpacking at the ends take the copy rate") {
  LowerRig rig(4);
  rig.cluster.device.copy_rate = BytesPerSecond(1'000'000'000);  // a byte takes 1 ns
  const test::Parameters ring = {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}};
  const auto along = [](const char* parameter, int64_t dimension) -> test::Parameters {
    return {{"axis_name", Names{"x"}}, {parameter, dimension}, {"tiled", true}};
  };
  rig.argument("a", Dtype::F32, Shape{8, 8})
      .argument("p", Dtype::Pred, Shape{8})
      .argument("h", Dtype::F16, Shape{8})
      .op("psum", "sum", {"a"}, ring)
      .op("pmean", "mean", {"a"}, ring)
      .op("psum", "count", {"p"}, ring)
      .op("pargmax", "rank", {"h"}, ring)
      .op("all_gather", "rows", {"a"}, along("axis", 0))
      .op("all_gather", "columns", {"a"}, along("axis", 1))
      .op("psum_scatter", "parts", {"a"}, along("scatter_dimension", 1));
  const std::vector<Collective>& all = rig.lower().collectives;
  REQUIRE(all.size() == 7);
  const auto copies = [&](size_t c) {
    return std::pair(all[c].pack.count(), all[c].leave.count());
  };
  CHECK(copies(0) == std::pair(int64_t{0}, int64_t{0}));
  CHECK(copies(1) == std::pair(int64_t{0}, int64_t{256'000}));      // divided: 64 x 4 B
  CHECK(copies(2) == std::pair(int64_t{32'000}, int64_t{0}));       // counted in s32: 8 x 4 B
  CHECK(copies(3) == std::pair(int64_t{48'000}, int64_t{48'000}));  // an f16 and its rank: 8 x 6 B
  CHECK(copies(4) == std::pair(int64_t{0}, int64_t{0}));
  CHECK(copies(5) == std::pair(int64_t{0}, int64_t{1'024'000}));  // 4 ranks' 64 x 4 B
  CHECK(copies(6) == std::pair(int64_t{256'000}, int64_t{0}));
}

TEST_CASE("lower: copies take their time before the first step, in the steps and after the last") {
  const auto takes = [](const std::string& op, const char* parameter) {
    LowerRig rig(2);  // 1 GB/s and 1 ns between any two
    rig.cluster.device.copy_rate = BytesPerSecond(1'000'000'000);
    rig.argument("a", Dtype::F32, Shape{2, 2})
        .op(op, "c", {"a"}, {{"axis_name", Names{"x"}}, {parameter, int64_t{1}}, {"tiled", true}});
    const Lowered& lowered = rig.lower();
    return run_time(rig.program, lowered, rig.cluster.fabric).makespan;
  };
  // The rank's own 16 B are copied in 16 ns and sent in 16 ns + 1 ns; the 32 B of the result are
  // unpacked.
  CHECK(takes("all_gather", "axis") == Instant(16'000 + 17'000 + 32'000));
  // The 16 B are packed, and 8 of them are sent in 8 ns + 1 ns.
  CHECK(takes("psum_scatter", "scatter_dimension") == Instant(16'000 + 9'000));
}

TEST_CASE("lower: a missing copy rate is labelled where a device copies") {
  const auto labels = [](const std::string& op, const test::Parameters& parameters) {
    LowerRig rig(2);
    rig.cluster.device.launch = Duration(0);
    rig.cluster.device.reduce_rate = BytesPerSecond(1);
    rig.argument("a", Dtype::F32, Shape{4, 4}).op(op, "p", {"a"}, parameters);
    return rig.lower().labels;
  };
  const test::Parameters ring = {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}};
  const Names none = {kNoTransport};
  const Names label = {"copy_rate: infinite (not given)", kNoTransport};
  CHECK(labels("psum", ring) == none);
  CHECK(labels("pmean", ring) == label);
  CHECK(labels("all_gather", ring) == label);
  const auto scattered = [](int64_t dimension) {  // along the second, blocks are packed first
    return test::Parameters{{"axis_name", Names{"x"}},
                            {"scatter_dimension", dimension},
                            {"tiled", true},
                            {"algorithm", std::string("ring")}};
  };
  CHECK(labels("psum_scatter", scattered(0)) == none);
  CHECK(labels("psum_scatter", scattered(1)) == label);
  CHECK(labels("ppermute", {{"axis_name", Names{"x"}}, {"perm", Groups{{0, 1}}}}) == none);
  CHECK(labels("ppermute", {{"axis_name", Names{"x"}}, {"perm", Groups{{0, 0}}}}) == label);
}

TEST_CASE("lower: an unknown algorithm is an error at its parameter") {
  LowerRig rig(2);
  rig.argument("a", Dtype::F32, Shape{8})
      .op("psum_start", "p", {"a"},
          {{"axis_name", Names{"x"}}, {"algorithm", std::string("rings")}})
      .op("done", "d", {"p"});
  CHECK(
      rig.error() ==
      "rig.json:7:1: /program/p/algorithm: psum_start \"p\": expected one of ring, "
      "recursive_doubling, bidirectional, halving_doubling, tree, one_shot, got \"rings\"; did you "
      "mean \"ring\"?");
}

TEST_CASE("lower: members without a route to each other are an error") {
  LowerRig rig(3);
  const Link onward = {VertexId(0), VertexId(1), BytesPerSecond(1), Duration(0)};
  const Link back = {VertexId(1), VertexId(0), BytesPerSecond(1), Duration(0)};
  rig.cluster.fabric = Fabric(3, {}, {onward, back});
  rig.argument("a", Dtype::F32, Shape{8}).op("psum", "p", {"a"}, {{"axis_name", Names{"x"}}});
  CHECK(rig.error() ==
        "rig.json:7:1: /program/p: psum \"p\": expected a route from device 1 to device 2, where "
        "ring "
        "sends, got none over the cluster's links");
}

TEST_CASE("lower: within the limit on steps, routes count") {
  const auto fill = [](LowerRig& rig) {
    rig.argument("a", Dtype::F32, Shape{8})
        .op("psum", "p", {"a"}, {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}});
  };
  const auto error = [&](int64_t fewer) {
    LowerRig routed(2);
    fill(routed);
    Limits limits;
    limits.steps = static_cast<int64_t>(routed.lower().steps) - fewer;
    LowerRig rig(2);
    rig.cluster.fabric = Fabric(2, {}, {});
    fill(rig);
    return rig.error(limits);
  };
  CHECK(error(0).find("expected a route from device 0 to device 1") != std::string::npos);
  CHECK(error(1).find("steps") != std::string::npos);
}

TEST_CASE("lower: a given schedule is lowered as one that lowering chooses") {
  LowerRig rig(3);
  rig.cluster.device.copy_rate = BytesPerSecond(1'000'000'000);
  rig.cluster.device.reduce_rate = BytesPerSecond(2'000'000'000);
  rig.cluster.device.launch = Duration(5);
  rig.argument("a", Dtype::BF16, Shape{4, 6})
      .op("psum_scatter", "p", {"a"},
          {{"axis_name", Names{"x"}},
           {"scatter_dimension", int64_t{1}},
           {"tiled", true},
           {"algorithm", std::string("ring")}});
  const Lowered& chosen = rig.lower();
  const Lowered given = lower_with(std::make_unique<RingSchedule>(RingSchedule::Form::ReduceScatter,
                                                                  3, 24, Combine::Add, Transport{}),
                                   "mine", rig.program, rig.cluster.device);
  const Collective& a = chosen.collectives.at(0);
  const Collective& b = given.collectives.at(0);
  CHECK(a.kind == b.kind);
  CHECK(a.work == b.work);
  CHECK(a.members == b.members);
  CHECK(a.vertices == b.vertices);
  CHECK(a.input == b.input);
  CHECK(a.output == b.output);
  CHECK(a.scratch == b.scratch);
  CHECK(a.pack == b.pack);
  CHECK(a.leave == b.leave);
  CHECK(a.figures == b.figures);
  CHECK(run_time(rig.program, chosen, rig.cluster.fabric).makespan ==
        run_time(rig.program, given, rig.cluster.fabric).makespan);
}

TEST_CASE("lower: a route in one direction is enough where nothing is sent back") {
  LowerRig rig(2);
  rig.cluster.fabric = Fabric(2, {}, {{VertexId(0), VertexId(1), BytesPerSecond(1), Duration(0)}});
  rig.argument("a", Dtype::F32, Shape{8})
      .op("ppermute", "p", {"a"}, {{"axis_name", Names{"x"}}, {"perm", Groups{{0, 1}}}});
  CHECK(rig.lower().collectives.size() == 1);
  LowerRig back(2);
  back.cluster.fabric = rig.cluster.fabric;
  back.argument("a", Dtype::F32, Shape{8})
      .op("ppermute", "p", {"a"}, {{"axis_name", Names{"x"}}, {"perm", Groups{{1, 0}}}});
  CHECK(
      back.error() ==
      "rig.json:7:1: /program/p: ppermute \"p\": expected a route from device 1 to device 0, where "
      "direct sends, got none over the cluster's links");
}

TEST_CASE("lower: a mesh larger than the cluster is an error") {
  LowerRig rig(4);
  rig.cluster.fabric = ring_fabric(3, {BytesPerSecond(1), Duration(0)});
  rig.argument("a", Dtype::F32, Shape{8}).thread({LogicalId(0)}).op("add", "b", {"a", "a"});
  CHECK(rig.error() ==
        "rig.json: /mesh: expected a mesh of at most the 3 devices of the cluster, got 4");
}

/// Returns two nodes of 4 devices. Each device has a NIC of its own, as fast as its link inside.
Fabric two_nodes_of_four() {
  const LinkFigures link{BytesPerSecond(1'000'000'000), Duration(1000)};
  const auto inside = std::make_shared<const Tree>(std::vector{TreeLevel{4, 1, 1, link}});
  const auto outside = std::make_shared<const Tree>(std::vector{TreeLevel{8, 1, 1, link}});
  return Fabric(
      std::make_shared<const Nodes>(NodesForm{2, inside, 4, outside, false, false, link}));
}

/// Returns the members of a collective over all 8 devices, the device of each rank in turn, in
/// groups whose ranks alternate between two nodes.
std::vector<uint32_t> members_across_nodes(const std::string& op, Parameters parameters) {
  LowerRig rig(8);
  rig.cluster.fabric = two_nodes_of_four();
  parameters.emplace_back("axis_name", Names{"x"});
  parameters.emplace_back("axis_index_groups", Groups{{0, 4, 1, 5, 2, 6, 3, 7}});
  rig.argument("a", Dtype::F32, {8}).op(op, "s", {"a"}, parameters);
  std::vector<uint32_t> members;
  for (const LogicalId member : rig.lower().collectives.front().members)
    members.push_back(member.index());
  return members;
}

TEST_CASE(
    "lower: a reduction of whole operands goes node by node, others keep the order of ranks") {
  const std::vector<uint32_t> by_node = {0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<uint32_t> by_rank = {0, 4, 1, 5, 2, 6, 3, 7};
  CHECK(members_across_nodes("psum", {}) == by_node);
  CHECK(members_across_nodes("pmax", {}) == by_node);
  CHECK(members_across_nodes("psum_scatter", {{"tiled", true}}) == by_rank);
  CHECK(members_across_nodes("all_gather", {}) == by_rank);
  CHECK(members_across_nodes("pbroadcast", {{"source", int64_t{1}}}) == by_rank);
  // Its result is the place of a rank in its group.
  CHECK(members_across_nodes("pargmax", {}) == by_rank);
}

/// Returns the bytes that each NIC sends in a psum of 2,400 B by tree.
std::vector<int64_t> bytes_of_nics(Parameters parameters) {
  LowerRig rig(8);
  rig.cluster.fabric = two_nodes_of_four();
  parameters.emplace_back("axis_name", Names{"x"});
  parameters.emplace_back("algorithm", std::string("tree"));
  rig.argument("a", Dtype::F32, {600}).op("psum", "s", {"a"}, parameters);
  const Lowered& lowered = rig.lower();
  Paths paths(rig.cluster.fabric);
  const Demands asked = demands(lowered, paths);
  const uint32_t first = 2 * 2 * 4;  // the first link of a NIC
  std::vector<int64_t> bytes;
  for (uint32_t device = 0; device < 8; ++device)
    bytes.push_back(static_cast<int64_t>(asked.links[first + 2 * device].bytes));
  return bytes;
}

// In both tests half of 2,400 B goes up and half down, in each of the two trees' halves of the
// data.

TEST_CASE("lower: a tree's ranks of one node form a chain, and its first rank sends outside") {
  CHECK(bytes_of_nics({{"channels", int64_t{2}}}) ==
        std::vector<int64_t>{2'400, 0, 0, 0, 2'400, 0, 0, 0});
}

TEST_CASE("lower: unless it is said how many channels a tree has, each NIC sends the same") {
  CHECK(bytes_of_nics({}) == std::vector<int64_t>(8, 2'400 / 4));
}

}  // namespace
}  // namespace orrery
