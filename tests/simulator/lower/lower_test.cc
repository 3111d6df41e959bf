#include "simulator/lower/lower.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "simulator/algorithm/recursive_doubling.h"
#include "simulator/algorithm/ring.h"
#include "tests/simulator/lower/lower_rig.h"

namespace orrery {
namespace {

using test::LowerRig;
using test::Names;
using Groups = std::vector<std::vector<int64_t>>;

/// "local add, enter psum 0, wait psum 0": op, and stream for collectives.
std::string text(const Program& program, const Tape& tape) {
  std::string result;
  for (const Instruction& instruction : tape) {
    result += result.empty() ? "" : ", ";
    if (instruction.kind == Instruction::Kind::Local)
      result += "local " + program.op(instruction.op).name;
    else
      result += fmt::format("{} {}/{} on {}",
                            instruction.kind == Instruction::Kind::Enter ? "enter" : "wait",
                            program.op(instruction.op).name,
                            program.op(instruction.collective).name, instruction.stream.index());
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
        "enter s/s on 3, local b, enter p/p on 0, wait p/p on 0, wait d/s on 3");
}

TEST_CASE("lower: work elements move, and what no tensor can hold of them is scratch") {
  const test::Parameters ring = {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}};
  LowerRig rig(2);
  rig.argument("p", Dtype::Pred, Shape{8})
      .argument("h", Dtype::F16, Shape{8})
      .op("psum", "sum", {"p"}, ring)
      .op("pmean", "mean", {"h"}, ring)
      .op("pargmax", "rank", {"h"}, ring);
  const Lowered& lowered = rig.lower();
  // A ring needs no scratch of its own. The pred of the operand are not the s32 counts, which take
  // 32 bytes; their sum fits the result.
  CHECK(itemsize(lowered.collectives[0].work) == Bytes(4));
  CHECK(lowered.collectives[0].scratch == Bytes(32));
  // Sums of f16 are what operand and result hold.
  CHECK(itemsize(lowered.collectives[1].work) == Bytes(2));
  CHECK(lowered.collectives[1].scratch == Bytes(0));
  // An f16 and its rank are 6 bytes: neither the f16 operand nor the s32 result has room for them.
  CHECK(itemsize(lowered.collectives[2].work) == Bytes(6));
  CHECK(lowered.collectives[2].scratch == Bytes(96));
}

TEST_CASE("lower: each group of a site is a collective, and equal groups share a schedule") {
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
  CHECK(lowered.collectives[2].places == std::vector<VertexId>{VertexId(3), VertexId(1)});
  CHECK(lowered.choices.size() == 1);
  const SiteMembers& members = lowered.members[0];
  CHECK(members.find(LogicalId(1))->collective == CollectiveId(2));
  CHECK(members.find(LogicalId(1))->node == Node(1));
  CHECK(members.find(LogicalId(4))->collective == CollectiveId(1));
}

TEST_CASE("lower: devices outside the threads that meet take no part") {
  LowerRig rig(4);
  rig.argument("a", Dtype::F32, Shape{8})
      .thread({LogicalId(0), LogicalId(1)})
      .op("psum", "p", {"a"},
          {{"axis_name", Names{"x"}}, {"axis_index_groups", Groups{{0, 1}, {2, 3}}}})
      .thread({LogicalId(2), LogicalId(3)})
      .op("add", "b", {"a", "a"});
  const Lowered& lowered = rig.lower();
  REQUIRE(lowered.collectives.size() == 1);
  CHECK(lowered.members[0].find(LogicalId(1)) != nullptr);
  CHECK(lowered.members[0].find(LogicalId(2)) == nullptr);
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
  CHECK(text(rig.program, lowered.tapes[0]) == "enter p/p on 0, wait p/p on 0");
  CHECK(text(rig.program, lowered.tapes[1]) == "enter q/q on 0, wait q/q on 0");
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
  CHECK(lowered.choices[0].because == "asked for by the scenario");
}

TEST_CASE("lower: the model looks as far as an algorithm sends, and at who shares the way") {
  // 1 GB/s and 1 ns: 8 f32 over 4 ranks take the ring 6 (1 ns + 8 B / 1 GB/s = 8 ns) = 54 ns, and
  // doubling 2 (1 ns + 32 ns) = 66 ns. With 1 us of latency it is 6048 ns against 2064 ns.
  LowerRig rig(4);
  rig.argument("a", Dtype::F32, Shape{8}).op("psum", "p", {"a"}, {{"axis_name", Names{"x"}}});
  CHECK(rig.lower().choices[0].because == "ring 54 ns < recursive_doubling 66 ns (model)");
  LowerRig far(4);
  far.cluster.fabric =
      fully_connected_fabric(4, {BytesPerSecond(1'000'000'000), Duration(1'000'000)});
  far.argument("a", Dtype::F32, Shape{8}).op("psum", "p", {"a"}, {{"axis_name", Names{"x"}}});
  CHECK(far.lower().choices[0].because == "recursive_doubling 2064 ns < ring 6048 ns (model)");
  // On a ring of 8 devices, 1 us a link, 50 GB/s: ranks 2 apart are 2 us away and share each link
  // in twos, ranks 4 apart 4 us and in fours. 8 f32 are 32 B, 640 ps at the full rate: doubling
  // takes 1 + 2 + 4 us and (1 + 2 + 4) 640 ps, the ring 14 (1 us + 4 B / 50 GB/s = 80 ps).
  LowerRig ring(8);
  ring.cluster.fabric = ring_fabric(8, {BytesPerSecond(50'000'000'000), Duration(1'000'000)});
  ring.argument("a", Dtype::F32, Shape{8}).op("psum", "p", {"a"}, {{"axis_name", Names{"x"}}});
  CHECK(ring.lower().choices[0].because ==
        "recursive_doubling 7.00448 us < ring 14.00112 us (model)");
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

TEST_CASE("lower: what the cluster does not give is labelled where it matters") {
  LowerRig gathers(2);
  gathers.argument("a", Dtype::F32, Shape{8})
      .op("all_gather", "g", {"a"}, {{"axis_name", Names{"x"}}});
  CHECK(gathers.lower().labels == Names{"launch: 0 (not given)"});
  LowerRig sums(2);
  sums.argument("a", Dtype::F32, Shape{8}).op("psum", "p", {"a"}, {{"axis_name", Names{"x"}}});
  CHECK(sums.lower().labels == Names{"launch: 0 (not given)", "reduce_rate: infinite (not given)"});
  LowerRig given(2);
  given.cluster.device.launch = Duration(5);
  given.cluster.device.reduce_rate = BytesPerSecond(7);
  given.argument("a", Dtype::F32, Shape{8}).op("psum", "p", {"a"}, {{"axis_name", Names{"x"}}});
  CHECK(given.lower().labels.empty());
  CHECK(given.lowered.launch == Duration(5));
  CHECK(given.lowered.reduce_rate == BytesPerSecond(7));
}

TEST_CASE("lower: an algorithm that is none is a fault at its parameter") {
  LowerRig rig(2);
  rig.argument("a", Dtype::F32, Shape{8})
      .op("psum_start", "p", {"a"},
          {{"axis_name", Names{"x"}}, {"algorithm", std::string("rings")}})
      .op("done", "d", {"p"});
  CHECK(rig.fault() ==
        "rig.json:7:1: /program/p/algorithm: psum_start: expected one of ring, "
        "recursive_doubling, got \"rings\"; did you mean \"ring\"?");
}

TEST_CASE("lower: members without a way to each other are a fault") {
  LowerRig rig(3);
  const Link onward = {VertexId(0), VertexId(1), BytesPerSecond(1), Duration(0)};
  const Link back = {VertexId(1), VertexId(0), BytesPerSecond(1), Duration(0)};
  rig.cluster.fabric = Fabric(3, {}, {onward, back});
  rig.argument("a", Dtype::F32, Shape{8}).op("psum", "p", {"a"}, {{"axis_name", Names{"x"}}});
  CHECK(rig.fault() ==
        "rig.json:7:1: /program/p: psum: expected a route from device 1 to device 2, where ring "
        "sends, got none over the cluster's links");
}

TEST_CASE("lower: a way in one direction is enough where nothing is sent back") {
  LowerRig rig(2);
  rig.cluster.fabric = Fabric(2, {}, {{VertexId(0), VertexId(1), BytesPerSecond(1), Duration(0)}});
  rig.argument("a", Dtype::F32, Shape{8})
      .op("ppermute", "p", {"a"}, {{"axis_name", Names{"x"}}, {"perm", Groups{{0, 1}}}});
  CHECK(rig.lower().collectives.size() == 1);
  LowerRig back(2);
  back.cluster.fabric = rig.cluster.fabric;
  back.argument("a", Dtype::F32, Shape{8})
      .op("ppermute", "p", {"a"}, {{"axis_name", Names{"x"}}, {"perm", Groups{{1, 0}}}});
  CHECK(back.fault() ==
        "rig.json:7:1: /program/p: ppermute: expected a route from device 1 to device 0, where "
        "direct sends, got none over the cluster's links");
}

TEST_CASE("lower: a mesh larger than the cluster is a fault") {
  LowerRig rig(4);
  rig.cluster.fabric = ring_fabric(3, {BytesPerSecond(1), Duration(0)});
  rig.argument("a", Dtype::F32, Shape{8}).thread({LogicalId(0)}).op("add", "b", {"a", "a"});
  CHECK(rig.fault() ==
        "rig.json: /mesh: expected a mesh of at most the 3 devices of the cluster, got 4");
}

}  // namespace
}  // namespace orrery
