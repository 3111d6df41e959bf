// Tests proofs of a ring all-reduce, right and with planted errors (mutants.h).

#include "verifier/prove/prove.h"

#include <optional>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "simulator/schedule/walk.h"
#include "tests/simulator/values/host_rig.h"
#include "tests/simulator/values/mutants.h"
#include "tests/verifier/values_check.h"
#include "verifier/check/checks.h"
#include "verifier/prove/prover.h"

using namespace orrery;
using namespace orrery::test;

namespace {

/// Returns the proof that a schedule over 4 ranks is a psum of 8 elements.
Proof prove_psum(const Schedule& schedule) {
  Op op;
  op.kind = OpKind::Psum;
  op.attributes.set("axis_name", Names{"x"});
  const View whole = View::whole(8);
  return prove(trace(schedule, whole_areas(schedule.extent())), {whole, whole},
               [&](Rank rank) { return define(op, {8}, 4, rank); });
}

/// A `PlantedRing` is a program of one ring psum over 4 devices, 8 elements, executed by another
/// schedule. Element i of device d is 2^(3d) + 8192 i, so that different contributions make
/// different sums.
struct PlantedRing {
  explicit PlantedRing(const Schedule& schedule) : rig({{"x", 4}}) {
    std::vector<Numbers> data(4);
    for (int d = 0; d < 4; ++d)
      for (int i = 0; i < 8; ++i)
        data[static_cast<size_t>(d)].push_back(static_cast<double>((1 << (3 * d)) + 8192 * i));
    rig.argument("a", data);
    rig.op("psum", "r", {"a"}, {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}});
    rig.lower();
    rig.lowered.collectives.front().schedule = &schedule;
  }

  Check values() {
    const HostRun run = execute(rig.program, rig.lowered, rig.arguments);
    REQUIRE(run.stop.finished());
    Prover prover(rig.program, rig.lowered);
    return values_check(rig.program, rig.lowered, prover, run.values).value();
  }

  HostRig rig;
};

/// A `SkippingExecutor` digests the halves that it is given, except one.
class SkippingExecutor : public NoVisitor {
 public:
  SkippingExecutor(const Lowered& lowered, uint64_t skips) : lowered_(lowered), skips_(skips) {}
  void receive(CollectiveRun run, StepRef ref, const Step& step) {
    add(run.collective, ref, Half::Receive, step);
  }
  void send(CollectiveRun run, StepRef ref, const Step& step) {
    add(run.collective, ref, Half::Send, step);
  }
  Digest digest() const { return digest_; }
  uint64_t halves() const { return halves_; }

 private:
  void add(CollectiveId id, StepRef ref, Half half, const Step& step) {
    if (halves_++ != skips_)
      digest_.add(id, ref, half, bytes_moved(step, half, itemsize(lowered_.collective(id).work)));
  }

  const Lowered& lowered_;
  uint64_t skips_;
  uint64_t halves_ = 0;
  Digest digest_;
};

}  // namespace

TEST_CASE("proof: a correct ring all-reduce is a psum") {
  CHECK(prove_psum(right_ring()).holds);
  const StoredSchedule ring = right_ring();
  CHECK(PlantedRing(ring).values().holds());
}

TEST_CASE("proof: a dropped contribution is named") {
  // Rank 1 does not add its part to chunk 0.
  CHECK(prove_psum(dropped_contribution()).why_not ==
        "element 0 of rank 0 lacks element 0 of rank 1");
}

TEST_CASE("proof: a repeated contribution is named") {
  // Rank 2 adds its part of chunk 3, elements 6 and 7, twice.
  CHECK(prove_psum(repeated_contribution()).why_not ==
        "element 6 of rank 0 has 2 times element 6 of rank 2");
}

TEST_CASE("proof: a shifted source is named") {
  // Rank 1 adds its elements 1 and 2 instead of 0 and 1.
  CHECK(prove_psum(shifted_source()).why_not == "element 0 of rank 0 lacks element 0 of rank 1");
}

TEST_CASE("proof: messages to the wrong peers are found") {
  CHECK_FALSE(prove_psum(wrong_peer()).holds);
}

TEST_CASE("proof: a message that is never sent is found") {
  CHECK_FALSE(prove_psum(dropped_message()).holds);
}

TEST_CASE("proof: a reduction by another operation is named") {
  CHECK(prove_psum(wrong_reduction()).why_not ==
        "node 1 channel 0 step 1 reduces by another operation than the definition's");
}

TEST_CASE("proof: a schedule for more elements than the definition fails") {
  const StoredSchedule ring = right_ring();
  Op op;
  op.kind = OpKind::Psum;
  op.attributes.set("axis_name", Names{"x"});
  const View whole = View::whole(8);
  const Proof proof = prove(trace(ring, whole_areas(ring.extent())), {whole, whole},
                            [&](Rank rank) { return define(op, {9}, 4, rank); });
  CHECK(proof.why_not == "element 8 of rank 0 is never written");
}

/// In this ring, rank 0's channel 1 copies its input to its output, and nothing orders that before
/// the results of channel 0. In the order of the walk, the right values come last.
StoredSchedule racing_ring() {
  const StoredSchedule ring = right_ring();
  StoredSteps steps(4);
  std::vector<StoredSchedule::Message> messages;
  for (uint32_t n = 0; n < 4; ++n) {
    std::vector<Step>& own = steps[n].emplace_back();
    for (uint32_t s = 0; s < ring.steps(Node(n), Channel(0)); ++s) {
      const StepRef ref{Node(n), Channel(0), s};
      own.push_back(ring.step(ref));
      if (own.back().to)
        messages.push_back({ref, ring.peer(ref, Half::Send)});
    }
  }
  Step copy;
  copy.source = Slice{Area::Input, 0, 8};
  copy.target = Slice{Area::Output, 0, 8};
  steps[0].push_back({copy});
  return {ring.extent(), steps, messages};
}

TEST_CASE("proof: a schedule whose steps race is not proved, though the walk's order is right") {
  const StoredSchedule racing = racing_ring();
  CHECK(PlantedRing(racing).values().holds());
  CHECK(prove_psum(racing).why_not ==
        "on node 0, channel 0 step 4 writes and channel 1 step 0 writes output elements 0 to 1, "
        "and nothing orders the two");
}

TEST_CASE("races: those of steps are in RACE.FREE of a program, beside those of its ops") {
  HostRig rig({{"x", 4}});
  rig.argument("a", std::vector<Numbers>(4, Numbers{1, 2, 3, 4, 5, 6, 7, 8}));
  rig.op("psum", "r", {"a"}, {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}});
  rig.lower();
  const auto checked = [&](const Schedule& schedule) {
    rig.lowered.collectives.front().schedule = &schedule;
    Prover prover(rig.program, rig.lowered);
    return std::get<Check>(race_free(rig.program, rig.lowered, prover));
  };
  CHECK(checked(right_ring()).holds());
  const Check races = checked(racing_ring());
  CHECK(races.verdict == Verdict::Fails);
  CHECK(races.message.find("\"r\" by ring: on node 0, channel 0 step 4 writes") == 0);
}

TEST_CASE("races: no verdict where the budget leaves out the steps of a schedule") {
  HostRig rig({{"x", 4}});
  rig.argument("a", std::vector<Numbers>(4, Numbers{1, 2, 3, 4, 5, 6, 7, 8}));
  rig.op("psum", "r", {"a"}, {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}});
  rig.lower();
  const StoredSchedule racing = racing_ring();  // 4 x 7 steps and the copy
  rig.lowered.collectives.front().schedule = &racing;
  Prover prover(rig.program, rig.lowered, {}, {28, kUnlimited});
  CHECK(std::get<NotSearched>(race_free(rig.program, rig.lowered, prover)).ops == "\"r\"");
}

TEST_CASE("values: comparison with the definition finds each planted error that ends") {
  const StoredSchedule dropped = dropped_contribution();
  const StoredSchedule repeated = repeated_contribution();
  const StoredSchedule shifted = shifted_source();
  const StoredSchedule reduction = wrong_reduction();
  for (const Schedule* schedule : {&dropped, &repeated, &shifted, &reduction})
    CHECK(PlantedRing(*schedule).values().verdict == Verdict::Fails);
  // Element 0 of the sum is 1 + 8 + 64 + 512 = 585, or 577 without the 8 of device 1.
  CHECK(PlantedRing(dropped).values().message.find(
            "\"r\" on device 0 has 577 at element 0; psum of its operands is 585") == 0);
}

TEST_CASE("digests: an executor that skips any one half is caught, one that skips none is not") {
  const StoredSchedule ring = right_ring();
  PlantedRing planted(ring);
  ScheduleDigests digests;
  const WalkDigest whole = whole_digest(planted.rig.program, planted.rig.lowered, digests);
  // There are 4 ranks of 7 steps, with two halves each.
  for (uint64_t skips = 0; skips <= 56; ++skips) {
    SkippingExecutor executor(planted.rig.lowered, skips);
    walk(planted.rig.program, planted.rig.lowered, executor);
    REQUIRE(executor.halves() == 56);
    CHECK(digests_agree(whole, {{"planted", {executor.digest(), {}}}}).holds() == (skips == 56));
  }
}
