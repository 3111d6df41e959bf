#include "tools/import/cut_schedule.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "models/base/check.h"
#include "models/base/quantity.h"

namespace orrery {

CutSchedule::CutSchedule(Extent areas, const StoredSteps& steps,
                         const std::vector<Message>& messages, int64_t chunk, int64_t stretch)
    : extent_(areas), chunk_(chunk), stretch_(stretch) {
  ORRERY_CHECK(chunk > 0 && stretch > 0 && extent_.slots > 0, "a stretch has an element");
  const int64_t iterations = ceil_divide(chunk, stretch);
  extent_.input = checked_multiply(areas.input, chunk);
  extent_.output = checked_multiply(areas.output, chunk);
  extent_.scratch = checked_multiply(areas.scratch, chunk);
  extent_.nodes = static_cast<uint32_t>(steps.size());
  extent_.channels = 0;
  int64_t longest = 0;
  for (const auto& channels : steps) {
    extent_.channels = std::max(extent_.channels, static_cast<uint32_t>(channels.size()));
    ends_.emplace_back();
    steps_.emplace_back();
    for (const std::vector<Step>& channel : channels) {
      longest = std::max(longest, static_cast<int64_t>(channel.size()));
      ends_.back().emplace_back(channel.size());
      std::vector<PackedStep>& packed = steps_.back().emplace_back();
      for (const Step& step : channel) {
        packed.push_back(pack(step));
        ORRERY_CHECK(iterations == 1 || step.count() <= 1, "iterations are over single chunks");
        extent_.copies |= timed_actions(step.form(), Half::Receive).copies;
      }
    }
  }
  ORRERY_CHECK(Int128{longest} * iterations < Int128{1} << 31U, "step numbers have 31 bits");
  iterations_ = static_cast<uint32_t>(iterations);
  // A thread block may be any number of iterations behind another.
  extent_.window = static_cast<uint32_t>(longest * iterations);
  extent_.lockstep = false;

  std::map<std::tuple<Node, Channel, Node, Channel>, uint32_t> connections;
  for (const auto& [send, receive] : messages) {
    const auto known =
        connections.try_emplace({send.node, send.channel, receive.node, receive.channel},
                                static_cast<uint32_t>(received_.size()));
    if (known.second)
      received_.emplace_back();
    std::vector<StepRef>& received = received_[known.first->second];
    Ends& sender = ends_[send.node.index()][send.channel.index()][send.index];
    sender.receiver = receive;
    sender.connection = known.first->second;
    sender.order = static_cast<uint32_t>(received.size());
    ends_[receive.node.index()][receive.channel.index()][receive.index].sender = send;
    received.push_back(receive);
  }
}

const CutSchedule::Ends& CutSchedule::ends(StepRef ref) const {
  return ends_[ref.node.index()][ref.channel.index()][ref.index];
}

void CutSchedule::place(std::optional<Slice>& slice, uint32_t iteration) const {
  if (!slice)
    return;
  slice->first *= chunk_;
  if (iterations_ == 1) {
    slice->count *= chunk_;
  } else if (slice->count > 0) {
    const int64_t begin = int64_t{iteration} * stretch_;
    slice->first += begin;
    slice->count = std::min(stretch_, chunk_ - begin);
  }
}

Step CutSchedule::step(StepRef ref) const {
  const uint32_t iteration = iteration_of(ref);
  const StepRef base = within_iteration(ref);
  Step step = unpack(steps_[base.node.index()][base.channel.index()][base.index], base.node);
  place(step.source, iteration);
  place(step.target, iteration);
  if (step.after)
    step.after = in_iteration(iteration, *step.after);
  return step;
}

StepRef CutSchedule::peer(StepRef ref, Half half) const {
  const Ends& of = ends(within_iteration(ref));
  return in_iteration(iteration_of(ref), half == Half::Receive ? of.sender : of.receiver);
}

std::optional<StepRef> CutSchedule::takes_slot_of(StepRef ref) const {
  const Ends& of = ends(within_iteration(ref));
  const std::vector<StepRef>& received = received_[of.connection];
  const uint64_t message = uint64_t{iteration_of(ref)} * received.size() + of.order;
  if (message < extent_.slots)
    return std::nullopt;
  const uint64_t before = message - extent_.slots;
  return in_iteration(static_cast<uint32_t>(before / received.size()),
                      received[before % received.size()]);
}

void CutSchedule::for_each_receiver(Node node, Channel channel,
                                    FunctionRef<void(const Sent&)> visit) const {
  std::map<Node, Sent> sent;
  for (uint32_t s = 0; s < length(node, channel); ++s) {
    const Step step = unpack(steps_[node.index()][channel.index()][s], node);
    if (!step.to)
      continue;
    Sent& to = sent.try_emplace(*step.to, Sent{*step.to, 0, 0}).first->second;
    to.messages += iterations_;
    to.elements = checked_add(to.elements, checked_multiply(step.count(), chunk_));
  }
  for (const auto& [to, all] : sent)
    visit(all);
}

}  // namespace orrery
