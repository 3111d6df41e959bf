#include "tests/simulator/values/mutants.h"

#include <utility>

#include "simulator/algorithm/ring.h"
#include "tests/simulator/schedule/stored_copy.h"

namespace orrery::test {

namespace {

struct Parts {
  Extent extent;
  StoredSteps steps;
  std::vector<StoredSchedule::Message> messages;

  Step& at(size_t node, size_t index) { return steps[node][0][index]; }
  StoredSchedule make() && { return StoredSchedule(extent, std::move(steps), std::move(messages)); }
};

Parts ring() {
  const RingSchedule ring(RingSchedule::Form::AllReduce, 4, 8, Combine::Add, {});
  return {ring.extent(), stored_steps(ring), stored_messages(ring)};
}

}  // namespace

StoredSchedule right_ring() {
  return ring().make();
}

StoredSchedule ring_in_place() {
  Parts parts = ring();
  parts.extent.in_place = true;
  parts.extent.output = 0;
  return std::move(parts).make();
}

StoredSchedule dropped_contribution() {
  Parts parts = ring();
  parts.at(1, 1).combine = Combine::None;
  return std::move(parts).make();
}

StoredSchedule repeated_contribution() {
  Parts parts = ring();
  // Step 3 keeps its receive and reduction. A new step 4 adds again and sends.
  std::vector<Step>& channel = parts.steps[2][0];
  Step again = channel[3];
  again.from.reset();
  channel[3].to.reset();
  channel.insert(channel.begin() + 4, again);
  for (auto& [send, receive] : parts.messages) {
    if (send.node == Node(2) && send.index >= 3)
      ++send.index;
    if (receive.node == Node(2) && receive.index >= 4)
      ++receive.index;
  }
  return std::move(parts).make();
}

StoredSchedule shifted_source() {
  Parts parts = ring();
  parts.at(1, 1).source->first += 1;
  return std::move(parts).make();
}

StoredSchedule wrong_peer() {
  Parts parts = ring();
  parts.at(0, 0).to = Node(3);
  parts.at(2, 0).to = Node(1);
  parts.at(1, 1).from = Node(2);
  parts.at(3, 1).from = Node(0);
  for (auto& [send, receive] : parts.messages) {
    if (send.index == 0 && send.node == Node(0))
      receive.node = Node(3);
    else if (send.index == 0 && send.node == Node(2))
      receive.node = Node(1);
  }
  return std::move(parts).make();
}

StoredSchedule dropped_message() {
  Parts parts = ring();
  parts.at(0, 5).to.reset();
  parts.steps[1][0].pop_back();
  std::erase_if(parts.messages, [](const StoredSchedule::Message& message) {
    return message.send == StepRef{Node(0), Channel(0), 5};
  });
  return std::move(parts).make();
}

StoredSchedule wrong_reduction() {
  Parts parts = ring();
  parts.at(1, 1).combine = Combine::Max;
  return std::move(parts).make();
}

}  // namespace orrery::test
