// Tests broadcasts along a chain as a user meets them: by name without a transport, their values,
// their proofs, planted errors, and the operand's storage.

#include "simulator/algorithm/chain.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/simulator/schedule/stored_copy.h"
#include "tests/simulator/values/host_rig.h"
#include "tests/verifier/scenario_rig.h"
#include "tests/verifier/values_check.h"
#include "verifier/prove/prover.h"

namespace orrery::test {
namespace {

/// A `PlantedChain` is a pbroadcast of 8 elements from rank 2 of 4, on 2 channels, with one error.
/// The chain is 2, 3, 0, 1. Element i of device d is 100 d + i.
class PlantedChain {
 public:
  PlantedChain() : right_(4, 8, Node(2), {2, 2, Entry::Eager}), steps_(stored_steps(right_)) {}

  Step& at(uint32_t node, uint32_t channel) { return steps_[node][channel][0]; }

  std::string why_not_proved() {
    Op op;
    op.kind = OpKind::Pbroadcast;
    op.attributes.set("axis_name", Names{"x"});
    op.attributes.set("source", int64_t{2});
    const View whole = View::whole(8);
    const StoredSchedule& schedule = make();
    const Proof proof = prove(trace(schedule, whole_areas(schedule.extent())), {whole, whole},
                              [&](Rank rank) { return define(op, {8}, 4, rank); });
    return proof.holds ? "" : proof.why_not;
  }

  Check values() {
    std::vector<Numbers> data(4);
    for (int d = 0; d < 4; ++d)
      for (int i = 0; i < 8; ++i)
        data[static_cast<size_t>(d)].push_back(100 * d + i);
    HostRig rig({{"x", 4}});
    rig.argument("a", data);
    rig.op("pbroadcast", "r", {"a"}, {{"axis_name", Names{"x"}}, {"source", int64_t{2}}});
    rig.lower();
    rig.lowered.collectives.front().schedule = &make();
    const HostRun run = execute(rig.program, rig.lowered, rig.arguments);
    REQUIRE(run.stop.finished());
    Prover prover(rig.program, rig.lowered);
    return values_check(rig.program, rig.lowered, prover, run.values).value();
  }

 private:
  const StoredSchedule& make() {
    made_.emplace(right_.extent(), steps_, stored_messages(right_));
    return *made_;
  }

  const ChainSchedule right_;
  StoredSteps steps_;
  std::optional<StoredSchedule> made_;
};

TEST_CASE("chain: without an error it is proved, and has its values") {
  PlantedChain planted;
  CHECK(planted.why_not_proved() == "");
  CHECK(planted.values().holds());
}

TEST_CASE("chain: planted errors are found by the proof and by the values") {
  struct Error {
    std::function<void(PlantedChain&)> plant;
    std::string why_not;
  };
  const Error errors[] = {
      // Rank 3 adds its own elements.
      {[](PlantedChain& p) {
         p.at(3, 0).source = Slice{Area::Input, 0, 4};
         p.at(3, 0).combine = Combine::Add;
       },
       "node 3 channel 0 step 0 reduces by another operation than the definition's"},
      // The source sends its first elements on the second channel too.
      {[](PlantedChain& p) {
         p.at(2, 1).source = Slice{Area::Input, 0, 4};
       },
       "element 4 of rank 0 lacks element 4 of rank 2"},
      // The last rank stores its two parts in each other's place.
      {[](PlantedChain& p) { std::swap(p.at(1, 0).target, p.at(1, 1).target); },
       "element 0 of rank 1 lacks element 0 of rank 2"},
      // Rank 0 sends its part on without storing it.
      {[](PlantedChain& p) {
         p.at(0, 1).source = p.at(0, 1).target;
         p.at(0, 1).target.reset();
       },
       "element 4 of rank 0 is never written"},
  };
  for (const Error& error : errors) {
    PlantedChain planted;
    error.plant(planted);
    CHECK(planted.why_not_proved() == error.why_not);
    CHECK(planted.values().verdict == Verdict::Fails);
  }
}

/// Returns a pbroadcast from device 1 of 4, of 32 B per device over 1 GB/s and 1 us.
ScenarioParts by_name(const std::string& parameters = "") {
  ScenarioParts parts;
  parts.program = fmt::format(
      R"([{{"id": "r", "op": "pbroadcast", "of": "a", "axis_name": "x", "source": 1,
            "algorithm": "ring"{}}}])",
      parameters);
  parts.expect = R"([{"holds": ["deadlock_free", "race_free", "proved"]},
                     {"values": {"r": [[8, 9, 10, 11, 12, 13, 14, 15], [8, 9, 10, 11, 12, 13, 14, 15],
                                       [8, 9, 10, 11, 12, 13, 14, 15], [8, 9, 10, 11, 12, 13, 14, 15]]}}])";
  return parts;
}

TEST_CASE("chain: a scenario may ask for it without a transport") {
  const Ran ran = run_parts(by_name());
  CHECK(ran.broken().empty());
  CHECK(ran.report.completion->makespan == Instant(3 * (1'000'000 + 32'000)));
  CHECK(ran.report.completion->messages == 3);
}

TEST_CASE("chain: the result may take the operand's storage") {
  ScenarioParts parts = by_name(R"(, "donate": "a")");
  parts.policy = R"({"reuse": "xla"})";
  const Ran ran = run_parts(parts);
  CHECK(ran.broken().empty());
  // Each value has 32 B, in blocks of 256 B.
  CHECK(ran.report.memory.largest_peak() == Bytes(256));
  CHECK(run_parts(by_name()).report.memory.largest_peak() == Bytes(2 * 256));
}

TEST_CASE("chain: a cut link leaves no route") {
  // The chain is 1, 2, 3, 0. In a switch, a device has one link out.
  ScenarioParts parts = by_name();
  parts.fabric = R"("topology": "switch")";
  parts.expect = "[]";
  parts.faults = R"([{"cut_link": {"from": 3, "to": "switch"}}])";
  const Ran ran = run_parts(parts);
  const Check& check = ran.check("ROUTE.LEFT");
  CHECK(check.verdict == Verdict::Fails);
  CHECK(check.message ==
        "\"r\" cannot end: device 3 sends to device 0, and no route is left since the link "
        "device 3 -> switch \"switch\" is cut.");
  // Device 0, the last of the chain, sends nothing.
  parts.faults = R"([{"cut_link": {"from": 0, "to": "switch"}}])";
  CHECK(run_parts(parts).broken().empty());
}

}  // namespace
}  // namespace orrery::test
