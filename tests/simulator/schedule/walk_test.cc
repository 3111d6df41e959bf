#include "simulator/schedule/walk.h"

#include <map>

#include <doctest/doctest.h>

#include "simulator/algorithm/ring.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/stored_schedule.h"
#include "tests/simulator/schedule/stored_copy.h"

namespace orrery {
namespace {

using test::match_by_channel;

constexpr Bytes kItem = Bytes(4);

struct Counting {
  void receive(StepRef ref, const Step& step) { count(ref, Half::Receive, step); }
  void send(StepRef ref, const Step& step) { count(ref, Half::Send, step); }
  void count(StepRef ref, Half half, const Step& step) {
    ++times[{ref, half}];
    digest.add(CollectiveId(0), ref, half, bytes_moved(step, half, kItem));
  }
  std::map<std::pair<StepRef, Half>, int> times;
  Digest digest;
};

TEST_CASE("walk: runs every half once, with the schedule's own digest") {
  Transport transport;
  transport.channels = 2;
  const RingSchedule ring(RingSchedule::Form::AllReduce, 5, 23, Combine::Add, transport);
  Counting counting;
  CHECK(walk(ring, counting).empty());
  CHECK(counting.times.size() == 5 * 2 * (2 * 4 + 1) * 2);  // nodes, channels, steps, halves
  for (const auto& [half, times] : counting.times)
    CHECK(times == 1);
  Digest own;
  add_all(own, nullptr, CollectiveId(0), ring, kItem);
  CHECK(counting.digest == own);
}

TEST_CASE("walk: a message is taken before its sender continues") {
  // In the two-rank exchange, the receive of a message directly follows the send that completes its
  // causes. Rank 0 runs until it waits, rank 1 sends, and rank 0's receive comes before rank 1 goes
  // on.
  struct Order {
    void receive(StepRef ref, const Step&) { order.push_back({ref.node.index(), ref.index}); }
    void send(StepRef, const Step&) {}
    std::vector<std::pair<uint32_t, uint32_t>> order;
  };
  const RingSchedule ring(RingSchedule::Form::AllGather, 2, 2, Combine::None, {});
  Order order;
  walk(ring, order);
  using Seen = std::vector<std::pair<uint32_t, uint32_t>>;
  CHECK(order.order == Seen{{1, 0}, {0, 0}, {1, 1}, {0, 1}});
}

TEST_CASE("orders: a schedule has the order of its walk, found once") {
  const RingSchedule ring(RingSchedule::Form::AllReduce, 3, 7, Combine::Add, {});
  Orders orders;
  const std::vector<OrderedHalf>* const order = orders.of(ring);
  REQUIRE(order != nullptr);
  CHECK(orders.of(ring) == order);
  Counting in_order;
  for (const OrderedHalf& each : *order)
    in_order.count(each.ref, each.half, each.step);
  Counting walked;
  walk(ring, walked);
  CHECK(in_order.times == walked.times);
  CHECK(in_order.digest == walked.digest);
}

TEST_CASE("orders: a schedule that is too large has none, and leaves room for others") {
  // It has 200 x 2 x 200 = 80,000 halves, of at most 65,536.
  const RingSchedule large(RingSchedule::Form::AllGather, 200, 200, Combine::None, {});
  const RingSchedule small(RingSchedule::Form::AllGather, 3, 3, Combine::None, {});
  Orders orders;
  CHECK(orders.of(large) == nullptr);
  CHECK(orders.of(small) != nullptr);
}

TEST_CASE("walk: deadlocked channels are returned, with what each waits for") {
  // Both ranks receive first.
  Step receive;
  receive.target = Slice{Area::Output, 0, 1};
  Step send;
  send.source = Slice{Area::Input, 0, 1};
  StoredSteps steps(2);
  for (const size_t n : {0U, 1U}) {
    receive.from = Node(1 - n);
    send.to = Node(1 - n);
    steps[n] = {{receive, send}};
  }
  const auto messages = match_by_channel(steps);
  const StoredSchedule stored({}, steps, messages);
  Counting counting;
  const std::vector<Parked> parked = walk(stored, counting);
  REQUIRE(parked.size() == 2);
  for (const uint32_t n : {0U, 1U}) {
    CHECK(parked[n].half.step == StepRef{Node(n), Channel(0), 0});
    CHECK(parked[n].cause.kind == CauseKind::Message);
    CHECK(parked[n].cause.step == StepRef{Node(1 - n), Channel(0), 1});
  }
  CHECK(counting.times.empty());
}

}  // namespace
}  // namespace orrery
