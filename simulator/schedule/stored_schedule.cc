#include "simulator/schedule/stored_schedule.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "models/base/check.h"

namespace orrery {
namespace {

template <class PerStep>
auto& at(PerStep& table, StepRef ref) {
  return table[ref.node.index()][ref.channel.index()][ref.index];
}

/// Calls visit(StepRef, const Step&) for every step, by node, channel and index.
template <class Visit>
void for_each_step(const StoredSteps& steps, Visit&& visit) {
  for (size_t n = 0; n < steps.size(); ++n)
    for (size_t c = 0; c < steps[n].size(); ++c)
      for (uint32_t i = 0; i < steps[n][c].size(); ++i)
        visit(StepRef{Node(n), Channel(c), i}, steps[n][c][i]);
}

}  // namespace

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
  for (const auto& channels : steps) {
    extent_.channels = std::max(extent_.channels, static_cast<uint32_t>(channels.size()));
    ends_.emplace_back();
    steps_.emplace_back();
    for (const std::vector<Step>& channel : channels) {
      extent_.window = std::max(extent_.window, static_cast<uint32_t>(channel.size()));
      ends_.back().emplace_back(channel.size());
      std::vector<PackedStep>& packed = steps_.back().emplace_back();
      for (const Step& step : channel) {
        packed.push_back(pack(step));
        extent_.copies |= timed_actions(step.form(), Half::Receive).copies;
      }
    }
  }

  using Connection = std::tuple<Node, Channel, Node, Channel>;
  std::map<Connection, std::vector<StepRef>> received;  // by the messages so far, in order
  for (const auto& [send, receive] : messages) {
    ORRERY_CHECK(at(steps, send).to == receive.node, "a message goes where its sender says");
    ORRERY_CHECK(at(steps, receive).from == send.node, "a message comes from where it was sent");
    Ends& sender = at(ends_, send);
    Ends& receiver = at(ends_, receive);
    ORRERY_CHECK(!sender.receiver && !receiver.sender, "a step has one message each way");
    sender.receiver = receive;
    receiver.sender = send;
    std::vector<StepRef>& before =
        received[{send.node, send.channel, receive.node, receive.channel}];
    if (before.size() >= extent_.slots)
      sender.slot_user = before[before.size() - extent_.slots];
    before.push_back(receive);
  }
  for_each_step(steps, [&](StepRef ref, const Step& step) {
    ORRERY_CHECK(step.to.has_value() == at(ends_, ref).receiver.has_value() &&
                     step.from.has_value() == at(ends_, ref).sender.has_value(),
                 "every message has two ends");
  });
}

uint32_t StoredSchedule::steps(Node node, Channel channel) const {
  const auto& channels = steps_[node.index()];
  return channel.index() < channels.size() ? static_cast<uint32_t>(channels[channel.index()].size())
                                           : 0;
}

Step StoredSchedule::step(StepRef ref) const {
  return unpack(at(steps_, ref), ref.node);
}

StepRef StoredSchedule::peer(StepRef ref, Half half) const {
  const Ends& ends = at(ends_, ref);
  const std::optional<StepRef>& peer = half == Half::Receive ? ends.sender : ends.receiver;
  ORRERY_CHECK(peer.has_value(), "only a half with a message has a peer");
  return *peer;
}

std::optional<StepRef> StoredSchedule::takes_slot_of(StepRef ref) const {
  return at(ends_, ref).slot_user;
}

}  // namespace orrery
