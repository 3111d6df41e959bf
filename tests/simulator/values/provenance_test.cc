// Tests the folds of each element: exactly for the computed algorithms, and for schedules with an
// error.

#include "simulator/values/provenance.h"

#include <doctest/doctest.h>

#include "simulator/algorithm/direct.h"
#include "simulator/algorithm/direct_all_to_all.h"
#include "simulator/algorithm/pairwise.h"
#include "simulator/algorithm/recursive_doubling.h"
#include "simulator/algorithm/ring.h"
#include "simulator/schedule/stored_schedule.h"
#include "tests/simulator/values/made_pieces.h"
#include "tests/simulator/values/mutants.h"

namespace orrery::test {

namespace {

ProvenanceRun prove(const Schedule& schedule) {
  return provenance(schedule, whole_areas(schedule.extent()), CollectiveId(0), kItem);
}

/// Returns the outputs by node.
std::vector<MadePieces> outputs(const ProvenanceRun& run) {
  std::vector<MadePieces> outputs;
  for (const Pieces& pieces : run.outputs)
    outputs.push_back(made(run.folds, pieces));
  return outputs;
}

/// Checks that the run ended, read nothing undefined, and has the schedule's own digest.
void check_sound(const Schedule& schedule, const ProvenanceRun& run) {
  CHECK(run.stuck.empty());
  CHECK(!run.misread);
  Digest halves;
  Digest moves;
  add_all(halves, &moves, CollectiveId(0), schedule, kItem);
  CHECK(run.digest == WalkDigest{halves, moves});
}

TEST_CASE("provenance: a ring all-reduce gives every rank each contribution once") {
  for (const uint32_t n : {1U, 2U, 3U, 8U}) {
    for (const int64_t count : {1, 7, 64}) {
      const RingSchedule ring(RingSchedule::Form::AllReduce, n, count, Combine::Add, {2, 2, {}});
      const ProvenanceRun run = prove(ring);
      check_sound(ring, run);
      for (const MadePieces& pieces : outputs(run))
        CHECK(pieces == MadePieces{{0, count, false, {{Rank(0), n, 0, 1}}}});
    }
  }
}

TEST_CASE("provenance: a ring reduce-scatter gives rank r the sums of chunk r") {
  const RingSchedule ring(RingSchedule::Form::ReduceScatter, 4, 12, Combine::Add, {});
  const ProvenanceRun run = prove(ring);
  check_sound(ring, run);
  for (size_t r = 0; r < 4; ++r)  // chunk r: 3 elements from 3r on
    CHECK(made(run.folds, run.outputs[r]) ==
          MadePieces{{0, 3, false, {{Rank(0), 4, 3 * static_cast<int64_t>(r), 1}}}});
}

TEST_CASE("provenance: a ring all-gather gives the ranks' inputs in rank order") {
  const RingSchedule ring(RingSchedule::Form::AllGather, 3, 6, Combine::None, {});
  const ProvenanceRun run = prove(ring);
  check_sound(ring, run);
  CHECK(run.combines.empty());
  for (const MadePieces& pieces : outputs(run))
    CHECK(pieces == MadePieces{{0, 2, false, {{Rank(0), 1, 0, 1}}},
                               {2, 2, false, {{Rank(1), 1, 0, 1}}},
                               {4, 2, false, {{Rank(2), 1, 0, 1}}}});
}

TEST_CASE("provenance: recursive doubling gives every rank each contribution once") {
  for (const uint32_t n : {1U, 2U, 4U, 5U, 7U, 8U}) {
    const RecursiveDoublingSchedule doubling(n, 10, Combine::Max, {});
    const ProvenanceRun run = prove(doubling);
    check_sound(doubling, run);
    for (const MadePieces& pieces : outputs(run))
      CHECK(pieces == MadePieces{{0, 10, false, {{Rank(0), n, 0, 1}}}});
  }
}

TEST_CASE("provenance: all-to-all gives rank r part r of every rank") {
  const auto check = [](const Schedule& schedule) {
    const ProvenanceRun run = prove(schedule);
    check_sound(schedule, run);
    // Part r of rank q is at 2q in the result, and was at 2r in rank q's input.
    for (size_t r = 0; r < 3; ++r) {
      MadePieces expected;
      for (int64_t q = 0; q < 3; ++q)
        expected.push_back(
            {2 * q, 2, false, {{Rank(static_cast<size_t>(q)), 1, 2 * static_cast<int64_t>(r), 1}}});
      CHECK(made(run.folds, run.outputs[r]) == expected);
    }
  };
  check(DirectAllToAllSchedule(3, 2, {}));
  check(PairwiseSchedule(3, 2, {}));
}

TEST_CASE("provenance: a rank that receives nothing has zeros after a permute") {
  const auto permute = direct_permute(3, 5, {{Node(0), Node(2)}, {Node(1), Node(1)}}, {});
  const ProvenanceRun run = prove(*permute);
  check_sound(*permute, run);
  CHECK(made(run.folds, run.outputs[0]) == MadePieces{{0, 5, false, {}}});
  CHECK(made(run.folds, run.outputs[1]) == MadePieces{{0, 5, false, {{Rank(1), 1, 0, 1}}}});
  CHECK(made(run.folds, run.outputs[2]) == MadePieces{{0, 5, false, {{Rank(0), 1, 0, 1}}}});
}

TEST_CASE("provenance: reports the reductions that combined the contributions") {
  const RingSchedule ring(RingSchedule::Form::AllReduce, 3, 3, Combine::Max, {});
  // Rank 0 sends first, and adds in its second step.
  CHECK(prove(ring).combines ==
        std::map<Combine, StepRef>{{Combine::Max, {Node(0), Channel(0), 1}}});
}

// The following tests run one node's own steps, written by hand.

ProvenanceRun prove_steps(Extent extent, std::vector<Step> steps) {
  return prove(StoredSchedule(extent, {{std::move(steps)}}, {}));
}

TEST_CASE("provenance: the output of an in-place schedule is its input area") {
  Extent extent;
  extent.input = 4;
  extent.in_place = true;
  Step copy;
  copy.source = Slice{Area::Input, 0, 2};
  copy.target = Slice{Area::Output, 2, 2};
  const ProvenanceRun run = prove_steps(extent, {copy});
  CHECK(!run.misread);
  CHECK(made(run.folds, run.outputs[0]) ==
        MadePieces{{0, 2, false, {{Rank(0), 1, 0, 1}}}, {2, 2, false, {{Rank(0), 1, 0, 1}}}});
}

TEST_CASE("provenance: an output that nothing writes is undefined") {
  Extent extent;
  extent.input = 1;
  extent.output = 3;
  const ProvenanceRun run = prove_steps(extent, {});
  CHECK(!run.misread);
  CHECK(made(run.folds, run.outputs[0]) == MadePieces{{0, 3, true, {}}});
}

TEST_CASE("provenance: a step that reads unwritten elements is named, with the elements") {
  Extent extent;
  extent.input = 4;
  extent.output = 4;
  extent.scratch = 4;
  Step fill;
  fill.source = Slice{Area::Input, 0, 1};
  fill.target = Slice{Area::Scratch, 0, 1};
  Step copy;
  copy.source = Slice{Area::Scratch, 0, 3};
  copy.target = Slice{Area::Output, 0, 3};
  CHECK(prove_steps(extent, {fill, copy}).misread.value().text ==
        "node 0 channel 0 step 1 reads scratch[0, 3), of which nothing has written scratch[1, "
        "3)");
}

TEST_CASE("provenance: a step that reads beyond its area is named") {
  Extent extent;
  extent.input = 4;
  extent.output = 9;
  Step copy;
  copy.source = Slice{Area::Input, 2, 3};
  copy.target = Slice{Area::Output, 0, 3};
  CHECK(prove_steps(extent, {copy}).misread.value().text ==
        "node 0 channel 0 step 0 reads input[2, 5), but its input has 4 elements");
}

TEST_CASE("provenance: a step that writes beyond its area is named") {
  Extent extent;
  extent.input = 4;
  extent.output = 2;
  Step copy;
  copy.source = Slice{Area::Input, 0, 3};
  copy.target = Slice{Area::Output, 0, 3};
  CHECK(prove_steps(extent, {copy}).misread.value().text ==
        "node 0 channel 0 step 0 writes output[0, 3), but its output has 2 elements");
}

TEST_CASE("provenance: of several steps that are wrong, the one that runs first is named") {
  Extent extent;
  extent.input = 4;
  extent.output = 2;
  Step reads;
  reads.source = Slice{Area::Input, 3, 2};
  reads.target = Slice{Area::Output, 0, 2};
  Step writes;
  writes.source = Slice{Area::Input, 0, 3};
  writes.target = Slice{Area::Output, 0, 3};
  CHECK(prove_steps(extent, {reads, writes}).misread.value().text ==
        "node 0 channel 0 step 0 reads input[3, 5), but its input has 4 elements");
}

TEST_CASE("provenance: source and target of a step must have the same length") {
  Extent extent;
  extent.input = 4;
  extent.output = 4;
  Step copy;
  copy.source = Slice{Area::Input, 0, 3};
  copy.target = Slice{Area::Output, 0, 2};
  CHECK(prove_steps(extent, {copy}).misread.value().text ==
        "node 0 channel 0 step 0 has a source of 3 elements and a target of 2");
}

TEST_CASE("provenance: a local reduction has the target on its left") {
  Extent extent;
  extent.input = 2;
  extent.output = 1;
  extent.zero_output = true;
  Step add;
  add.source = Slice{Area::Input, 1, 1};
  add.target = Slice{Area::Output, 0, 1};
  add.combine = Combine::Add;
  const ProvenanceRun run = prove_steps(extent, {add, add});
  CHECK(!run.misread);
  CHECK(made(run.folds, run.outputs[0]) == MadePieces{{0, 1, false, {{Rank(0), 1, 1, 2}}}});
}

TEST_CASE("provenance: a message whose length differs from its receiver's is an error") {
  Extent extent;
  extent.input = 4;
  extent.output = 4;
  Step send;
  send.to = Node(1);
  send.source = Slice{Area::Input, 0, 3};
  Step receive;
  receive.from = Node(0);
  receive.target = Slice{Area::Output, 0, 4};
  const StoredSchedule schedule(extent, {{{send}}, {{receive}}},
                                {{{Node(0), Channel(0), 0}, {Node(1), Channel(0), 0}}});
  CHECK(prove(schedule).misread.value().text ==
        "node 1 channel 0 step 0 takes 4 elements of a message of 3");
}

TEST_CASE("provenance: deadlocked channels are named") {
  // Two nodes each wait for the other's message before they send.
  Extent extent;
  extent.input = 1;
  extent.output = 1;
  const auto node = [](size_t peer) {
    Step receive;
    receive.from = Node(peer);
    receive.target = Slice{Area::Output, 0, 1};
    Step send;
    send.to = Node(peer);
    send.source = Slice{Area::Input, 0, 1};
    return std::vector<std::vector<Step>>{{receive, send}};
  };
  const StoredSchedule schedule(extent, {node(1), node(0)},
                                {{{Node(0), Channel(0), 1}, {Node(1), Channel(0), 0}},
                                 {{Node(1), Channel(0), 1}, {Node(0), Channel(0), 0}}});
  const ProvenanceRun run = prove(schedule);
  REQUIRE(run.stuck.size() == 2);
  CHECK(run.stuck[0].cause.kind == CauseKind::Message);
  CHECK(run.stuck[0].cause.step == StepRef{Node(1), Channel(0), 1});
}

// The following tests plant errors in a ring all-reduce of 4 ranks and 8 elements (mutants.h).

TEST_CASE("provenance: a dropped contribution is missing") {
  const ProvenanceRun run = prove(dropped_contribution());
  // Chunk 0 begins with rank 0's part; rank 1 passes it on without adding its own.
  for (const MadePieces& pieces : outputs(run))
    CHECK(pieces.front() == MadePiece{0, 2, false, {{Rank(0), 1, 0, 1}, {Rank(2), 2, 0, 1}}});
}

TEST_CASE("provenance: a repeated contribution counts twice") {
  const ProvenanceRun run = prove(repeated_contribution());
  // Rank 2 completes the sum of chunk 3, and adds its own part again before passing it on.
  for (const MadePieces& pieces : outputs(run))
    CHECK(pieces.back() ==
          MadePiece{6, 2, false, {{Rank(0), 2, 6, 1}, {Rank(2), 1, 6, 2}, {Rank(3), 1, 6, 1}}});
}

TEST_CASE("provenance: a shifted source shows as another element") {
  const ProvenanceRun run = prove(shifted_source());
  // Rank 1 adds elements 1 and 2 where chunk 0 has 0 and 1.
  for (const MadePieces& pieces : outputs(run))
    CHECK(pieces.front() ==
          MadePiece{0, 2, false, {{Rank(0), 1, 0, 1}, {Rank(1), 1, 1, 1}, {Rank(2), 2, 0, 1}}});
}

TEST_CASE("provenance: a message to the wrong peer mixes chunks") {
  const ProvenanceRun run = prove(wrong_peer());
  // Rank 1 takes rank 2's chunk 2 (from element 4) for chunk 0, and rank 3 takes rank 0's chunk 0
  // for chunk 2. The other ranks add the right chunks.
  for (const MadePieces& pieces : outputs(run))
    CHECK(pieces ==
          MadePieces{{0, 2, false, {{Rank(1), 3, 0, 1}, {Rank(2), 1, 4, 1}}},
                     {2, 2, false, {{Rank(0), 4, 2, 1}}},
                     {4, 2, false, {{Rank(0), 1, 0, 1}, {Rank(0), 2, 4, 1}, {Rank(3), 1, 4, 1}}},
                     {6, 2, false, {{Rank(0), 4, 6, 1}}}});
}

TEST_CASE("provenance: a message that is never sent leaves its target undefined") {
  const ProvenanceRun run = prove(dropped_message());
  // The last message of the ring to rank 1 would bring chunk 3.
  CHECK(made(run.folds, run.outputs[0]) == MadePieces{{0, 8, false, {{Rank(0), 4, 0, 1}}}});
  CHECK(made(run.folds, run.outputs[1]) ==
        MadePieces{{0, 6, false, {{Rank(0), 4, 0, 1}}}, {6, 2, true, {}}});
}

TEST_CASE("provenance: a wrong reduction leaves the sets as they are, and is named") {
  const ProvenanceRun run = prove(wrong_reduction());
  CHECK(made(run.folds, run.outputs[0]) == MadePieces{{0, 8, false, {{Rank(0), 4, 0, 1}}}});
  // Rank 1 takes the maximum in its second step, while the others add in theirs.
  CHECK(run.combines == std::map<Combine, StepRef>{{Combine::Add, {Node(0), Channel(0), 1}},
                                                   {Combine::Max, {Node(1), Channel(0), 1}}});
}

}  // namespace

}  // namespace orrery::test
