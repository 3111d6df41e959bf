#include "simulator/algorithm/ragged_exchange.h"

#include "models/base/check.h"
#include "models/base/quantity.h"

namespace orrery {

RaggedExchangeSchedule::RaggedExchangeSchedule(const RaggedSlices& what, Transport transport)
    : nodes_(what.nodes),
      operand_(what.operand),
      transport_(transport),
      slices_(what.slices),
      copies_(size_t{what.nodes} * transport.channels) {
  ORRERY_CHECK(nodes_ > 0 && transport.channels > 0 && transport.slots > 0, "a group has a node");
  extent_.nodes = nodes_;
  extent_.channels = nodes_ * transport.channels;
  extent_.slots = transport.slots;
  extent_.entry = transport.entry;
  extent_.input = checked_add(what.operand, what.output);
  extent_.output = what.output;
  number_messages();
  add_copies(what);
  find_window();
}

void RaggedExchangeSchedule::number_messages() {
  first_slice_.assign(size_t{nodes_} * nodes_ + 1, 0);
  for (const ExchangedSlice& slice : slices_)
    ++first_slice_[size_t{slice.from.index()} * nodes_ + slice.to.index() + 1];
  for (size_t pair = 1; pair < first_slice_.size(); ++pair)
    first_slice_[pair] += first_slice_[pair - 1];
  for (size_t s = 1; s < slices_.size(); ++s)
    ORRERY_CHECK(std::pair(slices_[s - 1].from, slices_[s - 1].to) <=
                     std::pair(slices_[s].from, slices_[s].to),
                 "slices are in the order of their ranks");

  messages_before_.reserve((slices_.size() + 1) * transport_.channels);
  for (uint32_t c = 0; c < transport_.channels; ++c) {
    int64_t before = 0;
    messages_before_.push_back(0);
    for (size_t s = 0; s < slices_.size(); ++s) {
      const int64_t count = slices_[s].from == slices_[s].to ? 0 : count_on(s, Channel(c));
      const int64_t most = transport_.largest > 0 ? transport_.largest : count;
      if (count > 0) {
        before += ceil_divide(count, most);
        largest_message_ = std::max(largest_message_, std::min(count, most));
      }
      ORRERY_CHECK(before < int64_t{1} << 31U, "step numbers have 31 bits");
      messages_before_.push_back(static_cast<uint32_t>(before));
    }
  }
}

void RaggedExchangeSchedule::add_copies(const RaggedSlices& what) {
  std::vector<std::vector<std::pair<int64_t, int64_t>>> written(nodes_);  // first and end
  for (const ExchangedSlice& slice : slices_) {
    written[slice.to.index()].emplace_back(slice.target, slice.target + slice.count);
    if (slice.from == slice.to)
      copy(slice.from, {slice.source, slice.target, slice.count});
  }
  for (uint32_t n = 0; n < nodes_; ++n) {
    std::sort(written[n].begin(), written[n].end());
    written[n].emplace_back(what.output, what.output);
    int64_t kept = 0;  // where what no slice writes begins
    for (const auto& [first, end] : written[n]) {
      copy(Node(n), {operand_ + kept, kept, first - kept});
      kept = std::max(kept, end);
    }
  }
}

void RaggedExchangeSchedule::copy(Node node, const Copy& whole) {
  if (whole.count <= 0)
    return;
  const ChannelParts parts(whole.count, transport_);
  for (uint32_t c = 0; c < transport_.channels; ++c)
    if (parts.count(c) > 0) {
      extent_.copies = true;
      copies_[size_t{node.index()} * transport_.channels + c].push_back(
          {whole.source + parts.first(c), whole.target + parts.first(c), parts.count(c)});
    }
}

/// Sets the window. A channel may be ahead of the channel that it receives from, and of the one
/// that it sends to, by as many messages as a connection has slots. It may be ahead further by the
/// messages that it only receives.
void RaggedExchangeSchedule::find_window() {
  uint64_t longest = 1;
  uint64_t window = 1;
  extent_.one_message_a_connection = true;
  extent_.lockstep = true;  // a row has sends or receives if each channel has as many of both
  for (uint32_t n = 0; n < nodes_; ++n)
    for (uint32_t c = transport_.channels; c < extent_.channels; ++c) {
      const uint32_t sends = messages(Node(n), ahead(Node(n), distance(Channel(c))), Channel(c));
      const uint64_t all = steps(Node(n), Channel(c));
      const uint64_t receives = all - sends;
      extent_.one_message_a_connection &= sends <= 1;
      extent_.lockstep = extent_.lockstep && sends == receives;
      longest = std::max(longest, all);
      window = std::max(
          window, 2 * uint64_t{extent_.slots} + 1 + (receives > sends ? receives - sends : 0));
    }
  extent_.window = static_cast<uint32_t>(std::min(longest, window));
  // The cause that lies furthest back is the message whose slot is reused. It lies as many turns
  // back as there are slots.
  extent_.lookback = static_cast<uint32_t>(std::min(longest, 2 * uint64_t{extent_.slots} - 1));
}

RaggedExchangeSchedule::Copy RaggedExchangeSchedule::message(Node from, Node to, Channel channel,
                                                             uint32_t number) const {
  auto [first, end] = slices_between(from, to);
  const uint32_t wanted = messages_before(first, channel) + number;
  // Finds the last slice with at most `wanted` messages before it, which has the message. A slice
  // without messages on this channel is not the last: the next one has as many before it.
  while (end - first > 1) {
    const size_t middle = first + (end - first) / 2;
    (messages_before(middle, channel) <= wanted ? first : end) = middle;
  }
  const int64_t whole = count_on(first, channel);
  const int64_t most = transport_.largest > 0 ? transport_.largest : whole;
  const int64_t begin = (int64_t{wanted} - messages_before(first, channel)) * most;
  const int64_t offset = first_on(first, channel) + begin;
  return {slices_[first].source + offset, slices_[first].target + offset,
          std::min(most, whole - begin)};
}

RaggedExchangeSchedule::Turn RaggedExchangeSchedule::turn(uint32_t step, uint32_t sends,
                                                          uint32_t receives) {
  const uint32_t both = std::min(sends, receives);
  if (step < 2 * both)
    return {step % 2 == 0, step / 2};
  return {sends > receives, step - both};
}

RaggedExchangeSchedule::Turn RaggedExchangeSchedule::turn(StepRef ref) const {
  const uint32_t distance = this->distance(ref.channel);
  return turn(ref.index, messages(ref.node, ahead(ref.node, distance), ref.channel),
              messages(ahead(ref.node, nodes_ - distance), ref.node, ref.channel));
}

uint32_t RaggedExchangeSchedule::step_of(Node node, Channel channel, Turn turn) const {
  const uint32_t distance = this->distance(channel);
  const uint32_t both = std::min(messages(node, ahead(node, distance), channel),
                                 messages(ahead(node, nodes_ - distance), node, channel));
  if (turn.message < both)
    return 2 * turn.message + (turn.sends ? 0 : 1);
  return both + turn.message;
}

Step RaggedExchangeSchedule::step(StepRef ref) const {
  const uint32_t distance = this->distance(ref.channel);
  Step step;
  if (distance == 0) {
    const Copy& copy = copies_of(ref.node, ref.channel)[ref.index];
    step.source = Slice{Area::Input, copy.source, copy.count};
    step.target = Slice{Area::Output, copy.target, copy.count};
    return step;
  }
  const Turn turn = this->turn(ref);
  if (turn.sends) {
    step.to = ahead(ref.node, distance);
    const Copy sent = message(ref.node, *step.to, ref.channel, turn.message);
    step.source = Slice{Area::Input, sent.source, sent.count};
  } else {
    step.from = ahead(ref.node, nodes_ - distance);
    const Copy taken = message(*step.from, ref.node, ref.channel, turn.message);
    step.target = Slice{Area::Output, taken.target, taken.count};
  }
  return step;
}

StepRef RaggedExchangeSchedule::peer(StepRef ref, Half half) const {
  const uint32_t distance = this->distance(ref.channel);
  const Node other = ahead(ref.node, half == Half::Send ? distance : nodes_ - distance);
  return {other, ref.channel,
          step_of(other, ref.channel, {half == Half::Receive, turn(ref).message})};
}

std::optional<StepRef> RaggedExchangeSchedule::takes_slot_of(StepRef ref) const {
  const Turn turn = this->turn(ref);
  if (turn.message < extent_.slots)
    return std::nullopt;
  const Node to = ahead(ref.node, distance(ref.channel));
  return StepRef{to, ref.channel, step_of(to, ref.channel, {false, turn.message - extent_.slots})};
}

void RaggedExchangeSchedule::for_each_receiver(Node node, Channel channel,
                                               FunctionRef<void(const Sent&)> visit) const {
  const uint32_t distance = this->distance(channel);
  if (distance == 0)
    return;
  const Node to = ahead(node, distance);
  const auto [first, end] = slices_between(node, to);
  Sent sent{to, messages(node, to, channel), 0};
  for (size_t s = first; s < end; ++s)
    sent.elements += count_on(s, channel);
  if (sent.messages > 0)
    visit(sent);
}

}  // namespace orrery
