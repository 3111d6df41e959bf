#include "simulator/time/event_queue.h"

#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/property.h"

namespace orrery::test {
namespace {

TEST_CASE("event queue: pops in the order of (time, sequence number)") {
  // An event is pushed some picoseconds to some minutes after the last time taken out, so that all
  // tiers of the queue are used and refilled.
  holds_for_all("order", [] {
    EventQueue<uint32_t> queue;
    std::set<std::pair<Instant, uint64_t>> model;
    Instant now;
    uint32_t pushed = 0;
    for (auto moves = in_range<size_t>(0, 100); moves > 0; --moves) {
      if (any_bool()) {
        const auto push = any_int<uint8_t>();
        const Instant time = now + Duration(int64_t{push % 8} << (push / 8));
        RC_ASSERT(model.emplace(time, queue.push(time, pushed)).second);
        ++pushed;
      } else if (!model.empty()) {
        const auto earliest = *model.begin();
        RC_ASSERT(queue.next() == earliest.first);
        const auto event = queue.pop();
        RC_ASSERT(std::pair(event.time, event.sequence) == earliest);
        RC_ASSERT(event.payload == event.sequence);
        model.erase(model.begin());
        now = event.time;
      }
      RC_ASSERT(queue.size() == model.size());
    }
    std::set<std::pair<Instant, uint64_t>> visited;  // a payload is its event's sequence number
    queue.for_each(
        [&](Instant at, uint32_t payload) { RC_ASSERT(visited.emplace(at, payload).second); });
    RC_ASSERT(visited == model);
  });
}

TEST_CASE("event queue: events of one time come out in the order they were pushed") {
  EventQueue<int> queue;
  for (int i = 0; i < 100; ++i)
    queue.push(Instant(7), i);
  for (int i = 0; i < 100; ++i)
    CHECK(queue.pop().payload == i);
  CHECK(queue.empty());
}

}  // namespace
}  // namespace orrery::test
