#include "simulator/schedule/digest.h"

#include <doctest/doctest.h>

#include "simulator/algorithm/ring.h"
#include "simulator/schedule/stored_schedule.h"
#include "tests/simulator/schedule/stored_copy.h"

namespace orrery {
namespace {

using test::stored_steps;

Digest of(uint32_t collective, StepRef ref, Half half, int64_t bytes) {
  Digest digest;
  digest.add(CollectiveId(collective), ref, half, Bytes(bytes));
  return digest;
}

Digest of(const Schedule& schedule) {
  Digest digest;
  add_all(digest, nullptr, CollectiveId(0), schedule, Bytes(4));
  return digest;
}

TEST_CASE("digest: every part of a half matters") {
  const StepRef ref{Node(1), Channel(2), 3};
  const Digest digest = of(0, ref, Half::Receive, 8);
  CHECK(digest == of(0, ref, Half::Receive, 8));
  CHECK_FALSE(digest == of(1, ref, Half::Receive, 8));
  CHECK_FALSE(digest == of(0, {Node(2), Channel(2), 3}, Half::Receive, 8));
  CHECK_FALSE(digest == of(0, {Node(1), Channel(1), 3}, Half::Receive, 8));
  CHECK_FALSE(digest == of(0, {Node(1), Channel(2), 4}, Half::Receive, 8));
  CHECK_FALSE(digest == of(0, ref, Half::Send, 8));
  CHECK_FALSE(digest == of(0, ref, Half::Receive, 4));
}

TEST_CASE("digest: independent of the order of halves, dependent on their number") {
  const StepRef a{Node(0), Channel(0), 0};
  const StepRef b{Node(1), Channel(0), 0};
  Digest ab = of(0, a, Half::Send, 4);
  ab.add(of(0, b, Half::Send, 4));
  Digest ba = of(0, b, Half::Send, 4);
  ba.add(CollectiveId(0), a, Half::Send, Bytes(4));
  CHECK(ab == ba);
  ba.add(CollectiveId(0), a, Half::Send, Bytes(4));
  CHECK_FALSE(ab == ba);
}

TEST_CASE("digest: a schedule with a step or bytes missing has another one") {
  const RingSchedule ring(RingSchedule::Form::AllGather, 3, 6, Combine::None, {});
  const StoredSteps steps = stored_steps(ring);
  const auto digest_of = [](const StoredSteps& all) {
    StoredSteps silent = all;  // without messages: the digest reads only steps
    for (auto& channels : silent)
      for (Step& step : channels[0])
        step.from = step.to = std::nullopt;
    return of(StoredSchedule({}, silent, {}));
  };
  StoredSteps shorter = steps;
  shorter[2][0].pop_back();
  StoredSteps smaller = steps;
  smaller[1][0][1].target->count -= 1;
  CHECK_FALSE(digest_of(steps) == digest_of(shorter));
  CHECK_FALSE(digest_of(steps) == digest_of(smaller));
}

TEST_CASE("digest: what is known of a schedule is of one collective and one itemsize") {
  const RingSchedule ring(RingSchedule::Form::AllGather, 3, 6, Combine::None, {});
  const RingSchedule other(RingSchedule::Form::AllGather, 3, 7, Combine::None, {});
  ScheduleDigests known;
  for (int round = 0; round < 2; ++round)  // as worked out, then as known
    for (const Schedule* const schedule : {&ring, &other})
      for (const uint32_t collective : {0U, 1U})
        for (const int64_t item : {4, 8}) {
          WalkDigest whole{{}, Digest()};
          add_all(whole.halves, &*whole.moves, CollectiveId(collective), *schedule, Bytes(item));
          CHECK(known.of(CollectiveId(collective), *schedule, Bytes(item)) == whole);
        }
}

TEST_CASE("digest: a send half that sends nothing counts no bytes") {
  Step step;
  step.source = Slice{Area::Input, 0, 3};
  step.target = Slice{Area::Output, 0, 3};
  CHECK(bytes_moved(step, Half::Receive, Bytes(4)) == Bytes(12));
  CHECK(bytes_moved(step, Half::Send, Bytes(4)) == Bytes(0));
  step.to = Node(1);
  CHECK(bytes_moved(step, Half::Send, Bytes(4)) == Bytes(12));
  step.target.reset();
  CHECK(bytes_moved(step, Half::Receive, Bytes(4)) == Bytes(0));
}

}  // namespace
}  // namespace orrery
