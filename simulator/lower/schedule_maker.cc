#include "simulator/lower/schedule_maker.h"

#include <algorithm>
#include <set>
#include <utility>

#include "models/base/compiler.h"
#include "models/program/rules.h"
#include "models/program/sides.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/algorithm/ring.h"
#include "simulator/algorithm/staged.h"
#include "simulator/schedule/stored_schedule.h"

namespace orrery {

Choice choice_of(const Method& method, std::string because) {
  return {std::string(method.algorithm->name), std::move(because),
          method.protocol == nullptr ? std::string() : method.protocol->name};
}

Method method_of(const Method& site, size_t ranks) {
  return ranks > 1 ? site : Method{site.algorithm, nullptr};
}

Hints asked_by(const Op& op) {
  Hints asked = op.hints;
  asked.stream = 0;
  return asked;
}

std::vector<const ProtocolFigures*> protocols_for(const Algorithm* algorithm, OpKind kind,
                                                  const std::optional<TransportFigures>& transport,
                                                  std::optional<bool> spans_nodes) {
  const auto named = algorithm == nullptr ? std::nullopt : std::optional(algorithm->name);
  std::vector<const ProtocolFigures*> serving;
  if (transport)
    for (const ProtocolFigures& protocol : transport->protocols)
      if (protocol.serves(named, rules(timed_as(kind)).name, spans_nodes))
        serving.push_back(&protocol);
  return serving;
}

namespace {

uint64_t longest_channel(const Schedule& schedule) {
  uint32_t longest = 0;
  for (uint32_t n = 0; n < schedule.extent().nodes; ++n)
    for (uint32_t c = 0; c < schedule.extent().channels; ++c)
      longest = std::max(longest, schedule.steps(Node(n), Channel(c)));
  return longest;
}

/// Returns the largest number of nodes to which one rank sends.
int64_t most_peers(const Schedule& schedule) {
  size_t most = 0;
  for (uint32_t n = 0; n < schedule.extent().ranks(); ++n) {
    std::set<Node> peers;
    for (uint32_t c = 0; c < schedule.extent().channels; ++c)
      schedule.for_each_receiver(Node(n), Channel(c),
                                 [&](const Sent& sent) { peers.insert(sent.to); });
    most = std::max(most, peers.size());
  }
  return static_cast<int64_t>(most);
}

/// Sets the number of channels by the protocol's channel_bytes, and what each takes of a message.
void set_channels(const Method& method, WorkType work, ScheduleRequest& request) {
  const ProtocolFigures& protocol = *method.protocol;
  int64_t channels = protocol.channels.value_or(1);
  if (protocol.channel_bytes) {
    const int64_t element = itemsize(work).count();
    const int64_t least = protocol.channel_bytes->count();
    const int64_t message = method.algorithm->make(request)->largest_message();
    switch (method.algorithm->channel_use) {
      case ChannelUse::EvenShares:
        channels = std::min(channels, message * element / least);
        break;
      case ChannelUse::EvenSharesForEachRank:
        channels = std::min(channels, message * element / request.nodes / least);
        break;
      case ChannelUse::WholeParts:
        request.transport.whole_part = std::max<int64_t>(1, least / element);
        channels = std::min(channels, ceil_divide(message, request.transport.whole_part));
        break;
    }
  }
  request.transport.channels = static_cast<uint32_t>(std::max<int64_t>(1, channels));
}

/// Schedules of up to so many steps are stored, in 1.7 MiB, if it takes long to answer for their
/// steps: executors ask for each one several times, and again in each iteration. The steps of rings
/// and of schedules in lockstep are found quickly. Those of stages take longest: with
/// more of them stored, a psum of 1 GiB over 64 nodes takes 3.0 s of CPU instead of 4.0 s
/// (2026-11-29).
constexpr uint64_t kMostStored = uint64_t{1} << 14U;
constexpr uint64_t kMostStoredOfStages = uint64_t{1} << 17U;

/// Returns a schedule in which each rank has one channel without steps.
std::unique_ptr<const Schedule> without_steps(uint32_t ranks) {
  return std::make_unique<StoredSchedule>(Extent(),
                                          StoredSteps(ranks, std::vector<std::vector<Step>>(1)),
                                          std::vector<StoredSchedule::Message>());
}

}  // namespace

std::optional<int64_t> MessageCut::largest_message(const Schedule& whole) const {
  if (pieces == 1)
    return slot;
  const int64_t whole_message = std::max<int64_t>(1, whole.largest_message());
  const int64_t piece = std::max(least, ceil_divide(whole_message, pieces));
  return slot ? std::min(*slot, piece) : piece;
}

bool cut_by_rule(const Method& method) {
  return method.algorithm != nullptr && method.algorithm->pieces.most > 1 &&
         (method.protocol == nullptr || !(method.protocol->slot || method.protocol->pieces));
}

MessageCut message_cut(const Method& method, WorkType work) {
  MessageCut cut;
  const int64_t element = itemsize(work).count();
  if (cut_by_rule(method)) {
    cut.pieces = method.algorithm->pieces.most;
    cut.least = std::max<int64_t>(1, method.algorithm->pieces.least.count() / element);
    return cut;
  }
  if (method.protocol == nullptr)
    return cut;
  if (const std::optional<Bytes> most = method.protocol->largest_message())
    cut.slot = most->count() / element;
  cut.pieces = method.protocol->pieces.value_or(1);
  if (method.protocol->channel_bytes)
    cut.least = std::max<int64_t>(1, method.protocol->channel_bytes->count() / element);
  return cut;
}

ScheduleRequest ScheduleMaker::with_connections(const Method& method, const Hints& asked,
                                                ScheduleRequest request, WorkType work) const {
  const ProtocolFigures* const protocol = method.protocol;
  request.transport = Transport();
  request.transport.entry = asked.entry;
  if (asked.slots)
    request.transport.slots = *asked.slots;
  else if (protocol != nullptr && protocol->slots)
    request.transport.slots = static_cast<uint32_t>(*protocol->slots);
  else if (cut_by_rule(method))
    request.transport.slots = kUncutSlots;
  if (asked.channels)
    request.transport.channels = *asked.channels;
  else if (protocol != nullptr)
    set_channels(method, work, request);
  else if (method.algorithm->own_channels != nullptr)
    request.transport.channels = method.algorithm->own_channels(request.layout);
  return request;
}

int64_t ScheduleMaker::iterations(const Method& method, const Schedule& whole, WorkType work) {
  if (method.algorithm->cutting == Cutting::ByItself)
    return 1;
  const std::optional<int64_t> most = message_cut(method, work).largest_message(whole);
  return most ? SlicedSchedule::iterations_for(whole, *most) : 1;
}

MadeSchedule ScheduleMaker::make(const Method& method, const ScheduleRequest& request,
                                 WorkType work, MadeSchedules& known,
                                 const ReplaceSchedule& replace) const {
  const auto key = std::tuple(method.algorithm, request, message_cut(method, work), most_steps_);
  return known.get(key, [&] {
    MadeSchedule made = make(method, request, work);
    if (replace && !made.too_long && made.steps <= most_steps_) {
      made.schedule = replace(*method.algorithm, request, std::move(made.schedule));
      made.steps = count_steps(*made.schedule);
    }
    return made;
  });
}

MadeSchedule ScheduleMaker::make(const Method& method, const ScheduleRequest& request,
                                 WorkType work) const {
  if (is_discarded(request.kind, request.elements))
    return {without_steps(request.nodes), 0};
  constexpr UInt128 kTooLong = UInt128{1} << 31U;
  std::unique_ptr<const Schedule> schedule = method.algorithm->make(request);
  MadeSchedule made;
  if (method.algorithm->cutting == Cutting::ByItself) {
    if (const std::optional<int64_t> most = message_cut(method, work).largest_message(*schedule)) {
      // No message is cut into more pieces than the largest.
      made.too_long = UInt128{longest_channel(*schedule)} *
                          static_cast<uint64_t>(SlicedSchedule::iterations_for(*schedule, *most)) >=
                      kTooLong;
      ScheduleRequest cut = request;
      cut.transport.largest = *most;
      if (!made.too_long)
        schedule = method.algorithm->make(cut);
    }
  }
  const int64_t iterations = this->iterations(method, *schedule, work);
  const auto times = [&](uint64_t steps) {
    return UInt128{steps} * static_cast<uint64_t>(iterations);
  };
  const uint64_t steps_of_one = count_steps(*schedule);
  const bool has_stages = dynamic_cast<const StagedSchedule*>(schedule.get()) != nullptr;
  const bool takes_long = iterations > 1 || has_stages;
  const bool is_quick =
      schedule->extent().lockstep || dynamic_cast<const RingSchedule*>(schedule.get());
  if (takes_long && !is_quick && steps_of_one <= (has_stages ? kMostStoredOfStages : kMostStored))
    schedule = std::make_unique<StoredSchedule>(*schedule);
  const UInt128 steps = times(steps_of_one);
  made.steps = static_cast<uint64_t>(std::min<UInt128>(steps, UInt128{most_steps_} + 1));
  if (iterations > 1 && made.steps <= most_steps_) {
    made.too_long = times(longest_channel(*schedule)) >= kTooLong;
    if (!made.too_long) {
      const int64_t most = *message_cut(method, work).largest_message(*schedule);
      schedule = cut(std::move(schedule), most);
    }
  }
  made.schedule = std::move(schedule);
  return made;
}

CollectiveFigures ScheduleMaker::figures(const Method& method, OpKind kind,
                                         const Schedule& schedule) const {
  if (is_discarded(kind, schedule.extent().input))
    return {};
  CollectiveFigures figures = collective_figures(device_);
  const ProtocolFigures* const protocol = method.protocol;
  if (protocol == nullptr)
    return figures;
  figures.launch += protocol->launch.value_or(Duration());
  if (protocol->channel_launch)
    figures.launch += *protocol->channel_launch * int64_t{schedule.extent().channels};
  if (protocol->peer_launch)
    figures.launch += *protocol->peer_launch * most_peers(schedule);
  if (protocol->reduce_rate)
    figures.rates.reduce = figures.rates.reduce_held = protocol->reduce_rate;
  if (protocol->forward_reduce_rate)
    figures.rates.reduce_held = protocol->forward_reduce_rate;
  figures.rates.store = protocol->store_rate;
  figures.rates.forward = protocol->forward_rate;
  if (protocol->copy_rate)
    figures.rates.copy = protocol->copy_rate;
  figures.messages = {protocol->share, protocol->overhead.value_or(Duration()),
                      protocol->latency.value_or(Duration()), protocol->channel_rate};
  if (const NetworkFigures& network = protocol->network; network != NetworkFigures()) {
    MessageFigures& over = figures.network.emplace(figures.messages);
    over.overhead = network.overhead.value_or(over.overhead);
    over.latency = network.latency.value_or(over.latency);
    if (network.channel_rate)
      over.channel_rate = network.channel_rate;
  }
  return figures;
}

MemberFigures ScheduleMaker::member_figures(const Method& method, OpKind kind,
                                            const Schedule& schedule,
                                            const MemberTensors& tensors) const {
  MemberFigures member;
  member.collective = figures(method, kind, schedule);
  member.costs = member_costs(kind, schedule.extent(), tensors, data_rates(device_));
  member.copies = member.costs.copies ||
                  (schedule.extent().copies && !member.collective.rates.copy.has_value());
  if (schedule.extent().ranks() == 1)
    member.costs.pack = member.costs.leave = Duration();
  return member;
}

}  // namespace orrery
