#include "simulator/schedule/stored_schedule.h"

#include <doctest/doctest.h>

#include "models/base/check.h"
#include "simulator/algorithm/ring.h"
#include "tests/simulator/schedule/stored_copy.h"

namespace orrery {
namespace {

using test::match_by_channel;
using test::stored_messages;
using test::stored_steps;

const Slice kIn{Area::Input, 0, 2};
const Slice kOut{Area::Output, 0, 2};

Step send_to(uint32_t node) {
  Step step;
  step.source = kIn;
  step.to = Node(node);
  return step;
}

Step receive_from(uint32_t node) {
  Step step;
  step.target = kOut;
  step.from = Node(node);
  return step;
}

TEST_CASE("stored schedule: a copy gives the same answers as the original") {
  const RingSchedule ring(RingSchedule::Form::AllReduce, 4, 9, Combine::Add, {});
  const StoredSchedule stored(ring.extent(), stored_steps(ring), stored_messages(ring));
  CHECK(stored.extent().nodes == 4);
  CHECK(stored.extent().channels == 1);
  CHECK(stored.extent().window == 7);  // the longest channel: 2 (n - 1) + 1 steps
  CHECK_FALSE(stored.extent().lockstep);
  for (uint32_t i = 0; i < 7; ++i) {
    const StepRef ref{Node(3), Channel(0), i};
    CHECK(stored.step(ref).source == ring.step(ref).source);
    CHECK(stored.step(ref).target == ring.step(ref).target);
    if (ring.step(ref).to) {
      CHECK(stored.peer(ref, Half::Send) == ring.peer(ref, Half::Send));
      CHECK(stored.takes_slot_of(ref) == ring.takes_slot_of(ref));
    }
    if (ring.step(ref).from)
      CHECK(stored.peer(ref, Half::Receive) == ring.peer(ref, Half::Receive));
  }
}

TEST_CASE("stored schedule: the window is its longest channel, whatever the extent says") {
  const StoredSteps steps = {{{send_to(1), send_to(1)}}, {{receive_from(0), receive_from(0)}}};
  Extent extent;
  extent.window = 9;
  CHECK(StoredSchedule(extent, steps, match_by_channel(steps)).extent().window == 2);
}

TEST_CASE("stored schedule: a step that moves no data carries no elements") {
  Step waits;
  waits.after = StepRef{Node(0), Channel(0), 0};
  CHECK(waits.count() == 0);
  CHECK(send_to(1).count() == 2);
  CHECK(receive_from(0).count() == 2);
}

TEST_CASE("stored schedule: slots are counted per connection, not per sender or receiver") {
  // Node 0 sends to 1 and 2 by turns on one channel. With one slot each, the third message (to 1)
  // takes the slot of the first.
  const StoredSteps steps = {{{send_to(1), send_to(2), send_to(1)}},
                             {{receive_from(0), receive_from(0)}},
                             {{receive_from(0)}}};
  const auto messages = match_by_channel(steps);
  Extent extent;
  extent.slots = 1;
  const StoredSchedule stored(extent, steps, messages);
  CHECK_FALSE(stored.takes_slot_of({Node(0), Channel(0), 0}));
  CHECK_FALSE(stored.takes_slot_of({Node(0), Channel(0), 1}));
  CHECK(stored.takes_slot_of({Node(0), Channel(0), 2}) == StepRef{Node(1), Channel(0), 0});
}

TEST_CASE("stored schedule: a node may lack channels, which are then empty") {
  const StoredSchedule stored({}, {{{send_to(1)}, {}}, {{receive_from(0)}}},
                              {{{Node(0), Channel(0), 0}, {Node(1), Channel(0), 0}}});
  CHECK(stored.extent().channels == 2);
  CHECK(stored.steps(Node(1), Channel(1)) == 0);
}

TEST_CASE("stored schedule: a message with one end is refused") {
  const StoredSteps steps = {{{send_to(1)}}, {{receive_from(0)}}};
  CHECK_THROWS_AS(StoredSchedule({}, steps, {}), InternalError);
}

}  // namespace
}  // namespace orrery
