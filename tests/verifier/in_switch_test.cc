// Tests collectives in a switch as a user meets them: their values, their proofs, planted errors,
// hangs, cut links, memory and explanations.

#include "simulator/algorithm/in_switch.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/base/random.h"
#include "simulator/analyze/why.h"
#include "tests/models/array/random_tensors.h"
#include "tests/simulator/schedule/stored_copy.h"
#include "tests/simulator/values/host_rig.h"
#include "tests/verifier/scenario_rig.h"
#include "tests/verifier/values_check.h"
#include "verifier/check/checks.h"
#include "verifier/check/names.h"
#include "verifier/prove/prover.h"

namespace orrery::test {
namespace {

const std::string kFabric = R"("topology": "switch", "in_switch_reduction": true)";

TEST_CASE("in switch: the result is the fold in the order of the ranks, bit for bit") {
  Random random(11);
  for (const Dtype dtype :
       {Dtype::F8E4M3FN, Dtype::F8E5M2, Dtype::BF16, Dtype::F16, Dtype::F32, Dtype::S8}) {
    for (const auto& [op, combine] :
         {std::pair("psum", Combine::Add), {"pmax", Combine::Max}, {"pmin", Combine::Min}}) {
      const std::string called(op);
      CAPTURE(called);
      CAPTURE(std::string(name(dtype)));
      const uint32_t ranks = 5;
      const Shape shape{23};
      HostRig rig({{"x", ranks}});
      rig.in_switch = true;
      std::vector<Tensor> data;
      for (uint32_t r = 0; r < ranks; ++r)
        data.push_back(random_normalish(dtype, shape, random));
      if (dtype != Dtype::S8) {  // zeros of both signs, and a NaN
        set_element_from_double(data[0], 0, -0.0);
        set_element_from_double(data[1], 0, 0.0);
        set_element_from_double(data[3], 7, std::numeric_limits<double>::quiet_NaN());
      }
      Tensor expected = data[0];
      for (uint32_t r = 1; r < ranks; ++r) {
        Tensor folded(dtype, shape);
        combine_into(dtype, combine, folded.bytes().data(), expected.bytes().data(),
                     data[r].bytes().data(), expected.elements());
        expected = std::move(folded);
      }
      rig.argument("a", data);
      rig.op(op, "r", {"a"},
             {{"axis_name", Names{"x"}},
              {"algorithm", std::string("in_switch")},
              {"channels", int64_t{2}}});
      const HostRun run = rig.run();
      REQUIRE(run.stop.finished());
      for (uint32_t r = 0; r < ranks; ++r) {
        const Tensor& result = run.values.at(rig.value("r"), LogicalId(r)).value();
        CHECK(std::ranges::equal(result.bytes(), expected.bytes()));
      }
    }
  }
}

/// A `Planted` is a psum of 8 elements over 4 ranks in a switch, with one error.
class Planted {
 public:
  Planted()
      : right_(InSwitchSchedule::Form::AllReduce, 4, 8, Combine::Add, Node(0), {}),
        steps_(stored_steps(right_)) {}

  Step& at(uint32_t node, uint32_t channel, uint32_t index) { return steps_[node][channel][index]; }

  const StoredSchedule& make() {
    made_.emplace(right_.extent(), steps_, stored_messages(right_));
    return *made_;
  }

  std::string why_not_proved() {
    Op op;
    op.kind = OpKind::Psum;
    op.attributes.set("axis_name", Names{"x"});
    const View whole = View::whole(8);
    const StoredSchedule& schedule = make();
    const Proof proof = prove(trace(schedule, whole_areas(schedule.extent())), {whole, whole},
                              [&](Rank rank) { return define(op, {8}, 4, rank); });
    return proof.holds ? "" : proof.why_not;
  }

  /// Returns the check of the values that the schedule makes. Element i of device d is 8^d + 4096
  /// i.
  Check values() {
    std::vector<Numbers> data(4);
    for (int d = 0; d < 4; ++d)
      for (int i = 0; i < 8; ++i)
        data[static_cast<size_t>(d)].push_back(static_cast<double>((1 << (3 * d)) + 4096 * i));
    HostRig rig({{"x", 4}});
    rig.in_switch = true;
    rig.argument("a", data);
    rig.op("psum", "r", {"a"},
           {{"axis_name", Names{"x"}}, {"algorithm", std::string("in_switch")}});
    rig.lower();
    rig.lowered.collectives.front().schedule = &make();
    const HostRun run = execute(rig.program, rig.lowered, rig.arguments);
    REQUIRE(run.stop.finished());
    Prover prover(rig.program, rig.lowered);
    return values_check(rig.program, rig.lowered, prover, run.values).value();
  }

 private:
  const InSwitchSchedule right_;
  StoredSteps steps_;
  std::optional<StoredSchedule> made_;
};

// Switch node j is node 4 + j. Its channel 0 folds chunk j, elements 2j and 2j + 1, in scratch 0
// and 1. Its channel 1 takes the result to scratch 2 and 3. Port p is its channel 2 + p. A rank
// sends chunk j up on channel j, and gets the result on channel 4 + j.
TEST_CASE("in switch: without an error it is proved, and has its values") {
  Planted planted;
  CHECK(planted.why_not_proved() == "");
  CHECK(planted.values().holds());
}

TEST_CASE("in switch: planted errors are found by the proof and by the values") {
  struct Error {
    std::function<void(Planted&)> plant;
    std::string why_not;
  };
  const Error errors[] = {
      // The switch drops its data of rank 0 when the data of rank 1 arrive.
      {[](Planted& p) {
         p.at(4, 0, 1).combine = Combine::None;
         p.at(4, 0, 1).source.reset();
       },
       "element 0 of rank 0 lacks element 0 of rank 0"},
      // Rank 2 sends its elements of chunk 1 instead of those of chunk 3.
      {[](Planted& p) {
         p.at(2, 3, 0).source = Slice{Area::Input, 2, 2};
       },
       "element 6 of rank 0 lacks element 6 of rank 2"},
      // Switch node 1 hands its second port the data from before rank 3's data arrived.
      {[](Planted& p) {
         p.at(5, 1, 1).source = Slice{Area::Scratch, 0, 2};
       },
       "element 2 of rank 3 lacks element 2 of rank 3"},
      // Rank 3 stores chunks 0 and 1 in each other's place.
      {[](Planted& p) { std::swap(p.at(3, 4, 0).target, p.at(3, 5, 0).target); },
       "element 0 of rank 3 lacks element 0 of rank 0"},
  };
  for (const Error& error : errors) {
    Planted planted;
    error.plant(planted);
    CHECK(planted.why_not_proved() == error.why_not);
    CHECK(planted.values().verdict == Verdict::Fails);
  }
}

TEST_CASE("in switch: errors of the schedule itself are found") {
  // The switch takes the maximum of rank 2's data.
  Planted reduction;
  reduction.at(6, 0, 2).combine = Combine::Max;
  CHECK(reduction.why_not_proved() ==
        "node 6 channel 0 step 2 reduces by another operation than the definition's");
  // A switch has no operand.
  Planted operand;
  operand.at(6, 1, 1).source = Slice{Area::Input, 0, 2};
  CHECK(operand.why_not_proved() ==
        "node 6 channel 1 step 1 reads input[0, 2), but its input has 0 elements");
  // Rank 1 stores two chunks in one place, and nothing orders the two steps.
  Planted race;
  race.at(1, 4, 0).target = race.at(1, 6, 0).target;
  CHECK(race.why_not_proved() ==
        "on node 1, channel 4 step 0 writes and channel 6 step 0 writes output elements 4 to 5, "
        "and nothing orders the two");
}

Ran run_in_switch(const std::string& op, const std::string& policy = "{}",
                  const std::string& faults = "[]") {
  ScenarioParts parts;
  parts.fabric = kFabric;
  parts.program = fmt::format(
      R"([{{"id": "r", "of": "a", "axis_name": "x", "algorithm": "in_switch", "op": "{}"}}])", op);
  parts.policy = policy;
  parts.faults = faults;
  return run_parts(parts);
}

bool labelled(const Ran& ran, const std::string& label) {
  return std::count(ran.report.labels.begin(), ran.report.labels.end(), label) > 0;
}

TEST_CASE("in switch: a report holds, and says that the switch is as fast as its links") {
  // 32 B per device are 4 chunks of 8 B. They take 32 ns up and 8 ns down, 8 ns up and 24 ns down
  // at 1 GB/s, and 4 latencies of 1 us.
  const Ran ran = run_in_switch("psum");
  CHECK(ran.broken().empty());
  CHECK(ran.report.completion->makespan == Instant(4'072'000));
  const std::string label = "in-switch reduction: as fast as the switch's links (not given)";
  CHECK(labelled(ran, label));
  CHECK_FALSE(labelled(ran, "reduce_rate: infinite (not given)"));  // the devices reduce nothing
  ScenarioParts ring;
  ring.fabric = kFabric;
  ring.program = R"([{"id": "r", "of": "a", "axis_name": "x", "algorithm": "ring", "op": "psum"}])";
  CHECK_FALSE(labelled(run_parts(ring), label));
}

TEST_CASE("in switch: a switch takes no memory of a device") {
  const Ran plain = run_in_switch("psum");
  // Memory has the operand, whose place the result could take with reuse, and the result.
  CHECK(plain.report.memory.largest_peak() == Bytes(2 * 256));
  // The group has 4 ranks, so each has 4 connections of 2 slots. The messages that it sends wait in
  // the switch.
  const Ran buffers =
      run_in_switch("psum", R"({"transport": {"protocol": "simple", "slot": "1000 B"}})");
  CHECK(buffers.broken().empty());
  CHECK(buffers.report.memory.largest_peak() == Bytes(2 * 256 + 4 * 2 * 1000));
}

TEST_CASE("in switch: sites of one group share the connections of the switch") {
  // Each rank has as many connections as the group has ranks, for both ops.
  ScenarioParts parts;
  parts.fabric = kFabric;
  parts.program = R"([
      {"id": "r", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "in_switch"},
      {"id": "g", "op": "all_gather", "of": "a", "axis_name": "x", "algorithm": "in_switch"}])";
  const Ran without = run_parts(parts);
  parts.policy = R"({"transport": {"protocol": "simple", "slot": "1000 B"}})";
  CHECK(run_parts(parts).report.memory.largest_peak() ==
        without.report.memory.largest_peak() + Bytes(4 * 2 * 1000));
}

TEST_CASE("in switch: a cut link to the switch leaves no route") {
  const Ran ran = run_in_switch("psum", "{}", R"([{"cut_link": {"from": 2, "to": "switch"}}])");
  const Check& check = ran.check("ROUTE.LEFT");
  CHECK(check.verdict == Verdict::Fails);
  CHECK(
      check.message ==
      "\"r\" cannot end: device 2 sends to switch \"switch\", and no route is left since the link "
      "device 2 -> switch \"switch\" is cut.");
}

TEST_CASE("in switch: devices that wait for each other through the switch are named") {
  ScenarioParts parts;
  parts.fabric = kFabric;
  parts.threads = true;
  const auto psum = [](const std::string& id, const std::string& site) {
    return fmt::format(R"({{"id": "{}", "op": "psum", "of": "a", "axis_name": "x", "site": "{}",
                           "algorithm": "in_switch"}})",
                       id, site);
  };
  parts.program = fmt::format(
      R"([{{"on": [0, 1], "do": [{}, {}]}}, {{"on": [2, 3], "do": [{}, {}]}}])",
      psum("p0", "first"), psum("q0", "second"), psum("q1", "second"), psum("p1", "first"));
  const Ran ran = run_parts(parts);
  const Check& check = ran.check("DEADLOCK.FREE");
  CHECK(check.verdict == Verdict::Fails);
  REQUIRE(check.witness.size() == 2);
  CHECK(check.witness[0].first == "device 0");
  CHECK(check.witness[0].second.rfind("waits in \"p0\" for device 2 to enter \"p1\"", 0) == 0);
  CHECK(check.witness[1].first == "device 2");
}

TEST_CASE("in switch: steps that wait for each other through the switch are named") {
  // Rank 0 sends the data of chunk 0 up only after it has the result. Its channel 0 waits for
  // channel 2, which waits for the fold, whose first step waits for rank 0's message.
  const InSwitchSchedule right(InSwitchSchedule::Form::AllReduce, 2, 4, Combine::Add, Node(0), {});
  StoredSteps steps = stored_steps(right);
  steps[0][0][0].after = StepRef{Node(0), Channel(2), 0};
  HostRig rig({{"x", 2}});
  rig.in_switch = true;
  rig.argument("a", {Numbers{1, 2, 3, 4}, Numbers{5, 6, 7, 8}});
  rig.op("psum", "r", {"a"}, {{"axis_name", Names{"x"}}, {"algorithm", std::string("in_switch")}});
  rig.lower();
  const StoredSchedule stuck(right.extent(), steps, stored_messages(right));
  rig.lowered.collectives.front().schedule = &stuck;
  const HostRun run = execute(rig.program, rig.lowered, rig.arguments);
  REQUIRE(!run.stop.finished());
  const Check check = deadlock_free(rig.program, rig.lowered, run.stop);
  CHECK(check.message ==
        "The schedule of \"r\" cannot end: its steps wait for each other, in a cycle of 3.");
  CHECK(check.witness ==
        Witness{{"device 0 channel 0 step 0", "waits for the end of device 0 channel 2 step 0"},
                {"device 0 channel 2 step 0",
                 "waits for the message of switch (node 2) channel 0 step 1"},
                {"switch (node 2) channel 0 step 0",
                 "waits for the message of device 0 channel 0 step 0"}});
}

TEST_CASE("in switch: an explanation goes through the switch") {
  const Ran ran = run_in_switch("psum");
  const Report& report = ran.report;
  std::string chain;
  for (const Reason& reason : why(report.scenario->program, *report.lowered, report.fabric(),
                                  *report.completion, OpId(0), LogicalId(0)))
    if (reason.what == Reason::What::Send)
      chain += fmt::format("{}{} to {}", chain.empty() ? "" : ", ",
                           report.fabric().vertex_text(reason.place),
                           report.fabric().vertex_text(*reason.to));
  // All ranks' data of chunk 1 arrive at once; the fold takes those of rank 0 first. Among the
  // copies that arrive last at device 0, the chain has the one on its first channel.
  CHECK(chain ==
        "device 0 to switch \"switch\", switch \"switch\" to device 1, "
        "device 1 to switch \"switch\", switch \"switch\" to device 0");
}

}  // namespace
}  // namespace orrery::test
