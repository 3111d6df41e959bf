#include "simulator/schedule/progress.h"

#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/algorithm/ring.h"

namespace orrery {
namespace {

using Form = RingSchedule::Form;

/// A `Hand` retires a schedule's halves one by one, in the order that the test gives.
struct Hand {
  explicit Hand(const Schedule& of, Arrival arrival = Arrival::WithSend)
      : schedule(of), progress(of, arrival) {}

  void enter(uint32_t node) { progress.enter(Node(node), ready_); }
  void retire(uint32_t node, uint32_t step, Half half) {
    const StepRef ref{Node(node), Channel(0), step};
    progress.retire({ref, half}, schedule.step(ref), ready_);
  }
  void arrive(uint32_t node, uint32_t step) {
    progress.arrive({Node(node), Channel(0), step}, ready_);
  }
  /// Returns the halves that became ready since the last call.
  std::vector<std::string> ready() {
    std::vector<std::string> names;
    for (const HalfRef& half : std::exchange(ready_, {}))
      names.push_back(std::to_string(half.step.node.index()) + "." +
                      std::to_string(half.step.index) + (half.half == Half::Receive ? "R" : "S"));
    return names;
  }

  const Schedule& schedule;
  Progress progress;

 private:
  std::vector<HalfRef> ready_;
};

using Names = std::vector<std::string>;

TEST_CASE("progress: retiring a send wakes the receiver that is parked on it") {
  const RingSchedule ring(Form::AllGather, 2, 2, Combine::None, {});
  Hand hand(ring);
  hand.enter(0);
  CHECK(hand.ready() == Names{"0.0R"});
  hand.retire(0, 0, Half::Receive);
  CHECK(hand.ready() == Names{"0.0S"});
  hand.retire(0, 0, Half::Send);
  CHECK(hand.ready() == Names{});  // 0.1R is parked on the send of 1.0
  hand.enter(1);
  hand.retire(1, 0, Half::Receive);
  CHECK(hand.ready() == Names{"1.0R", "1.0S"});
  hand.retire(1, 0, Half::Send);
  CHECK(hand.ready() == Names{"1.1R", "0.1R"});  // its own next half, then the half that waited
}

TEST_CASE(
    "progress: with separate arrivals a message may come before or after its receiver waits") {
  const RingSchedule ring(Form::AllGather, 2, 2, Combine::None, {});
  Hand hand(ring, Arrival::Told);
  for (const uint32_t node : {0U, 1U}) {
    hand.enter(node);
    hand.retire(node, 0, Half::Receive);
    hand.ready();
  }
  hand.retire(0, 0, Half::Send);
  CHECK(hand.ready() == Names{});  // the message to 1.1R is in flight; 0.1R waits for 1's
  hand.arrive(1, 1);
  CHECK(hand.ready() == Names{});  // 1.0S has not ended
  hand.retire(1, 0, Half::Send);
  CHECK(hand.ready() == Names{"1.1R"});
  hand.arrive(0, 1);
  CHECK(hand.ready() == Names{"0.1R"});
}

TEST_CASE("progress: a node has ended when its last channel has") {
  Transport two;
  two.channels = 2;
  const RingSchedule copy(Form::AllReduce, 1, 2, Combine::Add, two);
  Progress progress(copy);
  std::vector<HalfRef> ready;
  CHECK_FALSE(progress.ended(Node(0)));
  progress.enter(Node(0), ready);
  REQUIRE(ready.size() == 2);
  for (size_t i = 0; i < ready.size(); ++i) {  // retiring appends the send half
    CHECK_FALSE(progress.ended(Node(0)));
    progress.retire(HalfRef(ready[i]), copy.step(ready[i].step), ready);
  }
  CHECK(ready.size() == 4);
  CHECK(progress.ended(Node(0)));
}

TEST_CASE("progress: with rendezvous a send is parked until its receiver enters") {
  Transport transport;
  transport.entry = Entry::Rendezvous;
  const RingSchedule ring(Form::AllGather, 2, 2, Combine::None, transport);
  Hand hand(ring);
  hand.enter(0);
  hand.retire(0, 0, Half::Receive);
  CHECK(hand.ready() == Names{"0.0R"});
  hand.enter(1);
  CHECK(hand.ready() == Names{"1.0R", "0.0S"});
}

TEST_CASE("progress: an eager sender runs ahead of a peer that has not entered by its slots") {
  // Rank 0 of 3 gets rank 2's messages, and rank 1 never enters. The first two sends of rank 0 find
  // a slot. The third is parked on the credit of the message that rank 1 would take in its step 1.
  const RingSchedule ring(Form::AllReduce, 3, 3, Combine::Add, {});
  Hand hand(ring, Arrival::Told);
  hand.enter(0);
  for (const uint32_t step : {0U, 1U}) {
    hand.retire(0, step, Half::Receive);
    hand.retire(0, step, Half::Send);
    hand.arrive(0, step + 1);
  }
  hand.retire(0, 2, Half::Receive);
  const std::vector<Parked> parked = hand.progress.parked();
  REQUIRE(parked.size() == 1);
  CHECK(parked[0].half.step == StepRef{Node(0), Channel(0), 2});
  CHECK(parked[0].half.half == Half::Send);
  CHECK(parked[0].cause.kind == CauseKind::Credit);
  CHECK(parked[0].cause.step == StepRef{Node(1), Channel(0), 1});
}

TEST_CASE("progress: halves that retire out of order are reported as a bug") {
  const RingSchedule ring(Form::AllGather, 2, 2, Combine::None, {});
  Hand hand(ring);
  hand.enter(0);
  CHECK_THROWS_AS(hand.retire(0, 0, Half::Send), InternalError);
  CHECK_THROWS_AS(hand.enter(0), InternalError);
}

TEST_CASE("progress: every entry, arrival and retirement changes the state") {
  const RingSchedule ring(Form::AllGather, 2, 2, Combine::None, {});
  Hand hand(ring, Arrival::Told);
  std::set<std::vector<uint64_t>> states;
  const auto is_new = [&] {
    std::vector<uint64_t> words;
    hand.progress.append_state(words);
    return states.insert(std::move(words)).second;
  };
  CHECK(is_new());
  CHECK_FALSE(is_new());
  hand.enter(1);
  CHECK(is_new());
  hand.enter(0);
  CHECK(is_new());
  hand.retire(0, 0, Half::Receive);
  CHECK(is_new());
  hand.retire(0, 0, Half::Send);
  CHECK(is_new());
  hand.arrive(1, 1);  // node 1 has not sent yet, so the message waits
  CHECK(is_new());
  hand.retire(1, 0, Half::Receive);
  hand.retire(1, 0, Half::Send);
  CHECK(is_new());
  hand.retire(1, 1, Half::Receive);
  CHECK(is_new());
}

}  // namespace
}  // namespace orrery
