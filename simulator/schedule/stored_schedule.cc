#include "simulator/schedule/stored_schedule.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "models/base/check.h"

namespace orrery {

PackedStep pack(const Step& step) {
  PackedStep packed;
  if (step.from) {
    packed.parts |= PackedStep::kFrom;
    packed.from = step.from->index();
  }
  if (step.to) {
    packed.parts |= PackedStep::kTo;
    packed.to = step.to->index();
  }
  if (step.source) {
    packed.parts |= PackedStep::kSource;
    packed.source_area = static_cast<uint8_t>(step.source->area);
    packed.source_first = step.source->first;
    packed.source_count = step.source->count;
  }
  if (step.target) {
    packed.parts |= PackedStep::kTarget;
    packed.target_area = static_cast<uint8_t>(step.target->area);
    packed.target_first = step.target->first;
    packed.target_count = step.target->count;
  }
  if (step.after) {
    packed.parts |= PackedStep::kAfter;
    packed.after_channel = step.after->channel.index();
    packed.after_index = step.after->index;
  }
  packed.combine = static_cast<uint8_t>(step.combine);
  return packed;
}

Step unpack(const PackedStep& packed, Node node) {
  Step step;
  if (packed.has(PackedStep::kFrom))
    step.from = Node(packed.from);
  if (packed.has(PackedStep::kTo))
    step.to = Node(packed.to);
  if (packed.has(PackedStep::kSource))
    step.source =
        Slice{static_cast<Area>(packed.source_area), packed.source_first, packed.source_count};
  if (packed.has(PackedStep::kTarget))
    step.target =
        Slice{static_cast<Area>(packed.target_area), packed.target_first, packed.target_count};
  if (packed.has(PackedStep::kAfter))
    step.after = StepRef{node, Channel(packed.after_channel), packed.after_index};
  step.combine = static_cast<Combine>(packed.combine);
  return step;
}

StoredSchedule::StoredSchedule(Extent extent, const StoredSteps& steps,
                               const std::vector<Message>& messages)
    : extent_(extent) {
  ORRERY_CHECK(extent_.slots > 0, "a connection holds at least one message");
  extent_.nodes = static_cast<uint32_t>(steps.size());
  extent_.channels = 0;
  extent_.window = 0;
  extent_.lockstep = false;
  extent_.one_message_a_connection = false;
  for (const auto& channels : steps)
    extent_.channels = std::max(extent_.channels, static_cast<uint32_t>(channels.size()));
  for (const auto& channels : steps)
    for (uint32_t c = 0; c < extent_.channels; ++c) {
      if (c < channels.size())
        for (const Step& step : channels[c]) {
          add(step);
          extent_.copies |= timed_actions(step.form(), Half::Receive).copies;
        }
      extent_.window =
          std::max(extent_.window, static_cast<uint32_t>(steps_.size() - begins_.back()));
      begins_.push_back(steps_.size());
    }

  using Connection = std::tuple<Node, Channel, Node, Channel>;
  std::map<Connection, std::vector<StepRef>> received;  // by the messages so far, in order
  for (const auto& [send, receive] : messages) {
    Stored& sender = at(send);
    Stored& receiver = at(receive);
    const Step sending = step(send);
    const Step receiving = step(receive);
    ORRERY_CHECK(sending.to == receive.node, "a message goes where its sender says");
    ORRERY_CHECK(receiving.from == send.node, "a message comes from where it was sent");
    ORRERY_CHECK(!sender.receiver && !receiver.sender, "a step has one message each way");
    sender.receiver = receive;
    receiver.sender = send;
    std::vector<StepRef>& before =
        received[{send.node, send.channel, receive.node, receive.channel}];
    if (before.size() >= extent_.slots)
      sender.slot_user = before[before.size() - extent_.slots];
    before.push_back(receive);
  }
  for (const Stored& stored : steps_)
    ORRERY_CHECK(stored.step.has(PackedStep::kTo) == stored.receiver.has_value() &&
                     stored.step.has(PackedStep::kFrom) == stored.sender.has_value(),
                 "every message has two ends");
}

StoredSchedule::StoredSchedule(const Schedule& schedule) : extent_(schedule.extent()) {
  steps_.reserve(count_steps(schedule));
  for (size_t number = 0; number < extent_.all_channels(); ++number) {
    StepRef ref{extent_.node_of(number), extent_.channel_of(number)};
    for (const uint32_t end = schedule.steps(ref.node, ref.channel); ref.index < end; ++ref.index) {
      const Step step = schedule.step(ref);
      add(step);
      Stored& stored = steps_.back();
      if (step.from)
        stored.sender = schedule.peer(ref, Half::Receive);
      if (step.to) {
        stored.receiver = schedule.peer(ref, Half::Send);
        stored.slot_user = schedule.takes_slot_of(ref);
      }
    }
    begins_.push_back(steps_.size());
  }
}

void StoredSchedule::add(const Step& step) {
  steps_.push_back({pack(step), std::nullopt, std::nullopt, std::nullopt});
  if (step.to)
    largest_message_ = std::max(largest_message_, step.count());
}

uint32_t StoredSchedule::steps(Node node, Channel channel) const {
  const size_t number = extent_.number_of(node, channel);
  return static_cast<uint32_t>(begins_[number + 1] - begins_[number]);
}

Step StoredSchedule::step(StepRef ref) const {
  return unpack(at(ref).step, ref.node);
}

StepRef StoredSchedule::peer(StepRef ref, Half half) const {
  const Stored& stored = at(ref);
  const std::optional<StepRef>& peer = half == Half::Receive ? stored.sender : stored.receiver;
  ORRERY_CHECK(peer.has_value(), "only a half with a message has a peer");
  return *peer;
}

std::optional<StepRef> StoredSchedule::takes_slot_of(StepRef ref) const {
  return at(ref).slot_user;
}

}  // namespace orrery
