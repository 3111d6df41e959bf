#include "simulator/schedule/sliced_schedule.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "models/base/check.h"
#include "models/base/hash.h"
#include "models/base/quantity.h"

namespace orrery {
namespace {

/// Returns how many iterations it takes to send `messages` messages of a connection that sends
/// `of_each` in each; rounded up.
uint32_t iterations_of(uint32_t messages, uint32_t of_each) {
  return static_cast<uint32_t>(ceil_divide(int64_t{messages}, int64_t{of_each}));
}

}  // namespace

SlicedSchedule::SlicedSchedule(std::unique_ptr<const Schedule> whole, int64_t stretch)
    : whole_(std::move(whole)), stretch_(stretch), extent_(whole_->extent()) {
  const int64_t iterations = iterations_for(*whole_, stretch);
  ORRERY_CHECK(iterations < int64_t{1} << 31U, "step numbers have 31 bits");
  iterations_ = static_cast<uint32_t>(iterations);
  find_lengths();
  visit_steps();
  ORRERY_CHECK(uint64_t{longest_} * iterations_ < uint64_t{1} << 31U, "step numbers have 31 bits");
  if (iterations_ > 1) {
    extent_.one_message_a_connection = false;
    find_window();
  }
}

int64_t SlicedSchedule::iterations_for(const Schedule& whole, int64_t stretch) {
  ORRERY_CHECK(stretch > 0, "a stretch has an element");
  return std::max<int64_t>(1, ceil_divide(whole.largest_message(), stretch));
}

void SlicedSchedule::find_lengths() {
  for (size_t number = 0; number < extent_.all_channels(); ++number) {
    const uint32_t length = whole_->steps(extent_.node_of(number), extent_.channel_of(number));
    if (number > 0 && length != longest_ && lengths_.empty()) {
      lengths_.reserve(extent_.all_channels());
      lengths_.assign(number, longest_);
    }
    if (!lengths_.empty())
      lengths_.push_back(length);
    longest_ = std::max(longest_, length);
  }
}

void SlicedSchedule::visit_steps() {
  const bool one_message = whole_->extent().one_message_a_connection;
  int64_t largest = 0;                                  // of the copies too
  int64_t least = std::numeric_limits<int64_t>::max();  // of those with elements
  for (size_t number = 0; number < extent_.all_channels(); ++number) {
    const Node node = extent_.node_of(number);
    const Channel channel = extent_.channel_of(number);
    const uint32_t length = this->length(node, channel);
    first_begins_.push_back(firsts_.size());
    std::map<std::pair<Node, Channel>, uint32_t> known;  // connections, by the receiver
    for (uint32_t i = 0; i < length; ++i) {
      const StepRef ref{node, channel, i};
      const Step step = whole_->step(ref);
      largest = std::max(largest, step.count());
      least = step.count() > 0 ? std::min(least, step.count()) : least;
      waits_for_channels_ |= step.after.has_value();
      if (!step.to)
        continue;
      const StepRef receiver = whole_->peer(ref, Half::Send);
      // A row has steps of one iteration only if channels that exchange messages are equally long.
      extent_.lockstep &= this->length(receiver.node, receiver.channel) == length;
      if (!one_message)
        remember(known, ref, receiver);
    }
  }
  first_begins_.push_back(firsts_.size());
  alike_ = static_cast<uint32_t>(std::min<int64_t>(iterations_, least / stretch_));
  ORRERY_CHECK(iterations_ == 1 || ceil_divide(largest, stretch_) <= iterations_,
               "no copy is larger than the largest message");
}

void SlicedSchedule::remember(std::map<std::pair<Node, Channel>, uint32_t>& known, StepRef sender,
                              StepRef receiver) {
  const auto [at, added] = known.try_emplace({receiver.node, receiver.channel},
                                             static_cast<uint32_t>(connections_.size()));
  if (added)
    connections_.emplace_back();
  Connection& connection = connections_[at->second];
  if (connection.messages < extent_.slots) {
    firsts_.push_back({sender.index, at->second, connection.messages});
    connection.receivers.push_back(receiver);
  } else {
    connection.receivers[connection.messages % extent_.slots] = receiver;
  }
  ++connection.messages;
}

void SlicedSchedule::find_window() {
  const uint64_t all = uint64_t{longest_} * iterations_;
  // The channel of a message's receiver is ahead by at most `slots` messages of their connection:
  // its next send waits for a slot, its next receive for a message.
  uint64_t ahead = whole_->extent().one_message_a_connection ? extent_.slots : 1;  // iterations
  for (const Connection& connection : connections_)
    ahead = std::max<uint64_t>(ahead, iterations_of(extent_.slots, connection.messages));
  back_ = static_cast<uint32_t>(ahead);
  extent_.window = static_cast<uint32_t>(
      waits_for_channels_ ? all
                          : std::min(all, std::max<uint64_t>(extent_.window, ahead * longest_)));
  extent_.lockstep &= !waits_for_channels_;
  if (extent_.lockstep)
    extent_.lookback = find_lookback();
}

/// Returns how far back causes reach, also to slots that were used in earlier iterations.
uint32_t SlicedSchedule::find_lookback() const {
  uint64_t lookback = whole_->extent().lookback;
  const auto reach = [&](StepRef within, uint32_t length) {
    const SlotUser user = slot_user(within);
    if (user.iterations_before < iterations_)
      lookback = std::max(
          lookback, uint64_t{user.iterations_before} * length + within.index - user.receiver.index);
  };
  if (whole_->extent().one_message_a_connection && extent_.slots >= iterations_)
    return static_cast<uint32_t>(lookback);  // no message takes such a slot
  for (size_t number = 0; number < extent_.all_channels(); ++number) {
    const Node node = extent_.node_of(number);
    const Channel channel = extent_.channel_of(number);
    const uint32_t length = this->length(node, channel);
    if (whole_->extent().one_message_a_connection) {
      for (uint32_t i = 0; i < length; ++i)
        if (whole_->step({node, channel, i}).to)
          reach({node, channel, i}, length);
    } else {
      for (size_t f = first_begins_[number]; f < first_begins_[number + 1]; ++f)
        reach({node, channel, firsts_[f].step}, length);
    }
  }
  return static_cast<uint32_t>(lookback);
}

bool SlicedSchedule::keeps_elements_together() const {
  using Range = std::tuple<Area, int64_t, int64_t>;  // with the first element and the end
  std::vector<Range> ranges;
  for (uint32_t n = 0; n < extent_.nodes; ++n) {
    ranges.clear();
    for (uint32_t c = 0; c < extent_.channels; ++c)
      for (uint32_t i = 0; i < whole_->steps(Node(n), Channel(c)); ++i) {
        const StepRef ref{Node(n), Channel(c), i};
        const Step step = whole_->step(ref);
        for (const std::optional<Slice>& slice : {step.source, step.target})
          if (slice && slice->count != step.count())
            return false;
          else if (slice && slice->count > 0)
            ranges.emplace_back(extent_.area(slice->area), slice->first,
                                slice->first + slice->count);
        if (step.to && whole_->step(whole_->peer(ref, Half::Send)).count() != step.count())
          return false;
      }
    std::sort(ranges.begin(), ranges.end());
    ranges.erase(std::unique(ranges.begin(), ranges.end()), ranges.end());
    for (size_t r = 1; r < ranges.size(); ++r) {
      const auto& [area, first, end] = ranges[r];
      if (std::get<Area>(ranges[r - 1]) == area && first < std::get<2>(ranges[r - 1]))
        return false;
    }
  }
  return true;
}

SlicedSchedule::SlotUser SlicedSchedule::slot_user(StepRef within) const {
  if (whole_->extent().one_message_a_connection)
    return {extent_.slots, whole_->peer(within, Half::Send)};
  const size_t number = extent_.number_of(within.node, within.channel);
  const auto first = std::lower_bound(
      firsts_.begin() + static_cast<ptrdiff_t>(first_begins_[number]),
      firsts_.begin() + static_cast<ptrdiff_t>(first_begins_[number + 1]), within.index,
      [](const First& each, uint32_t step) { return each.step < step; });
  const Connection& connection = connections_[first->connection];
  // This finds the message sent `slots` earlier. `first->message` messages come before it in its
  // own iteration.
  const uint32_t before = extent_.slots - first->message;
  const uint32_t iterations = iterations_of(before, connection.messages);
  const uint32_t message = iterations * connection.messages - before;
  return {iterations, connection.receivers[message % extent_.slots]};
}

void SlicedSchedule::for_each_receiver(Node node, Channel channel,
                                       FunctionRef<void(const Sent&)> visit) const {
  whole_->for_each_receiver(node, channel, [&](const Sent& sent) {
    visit(Sent{sent.to, sent.messages * iterations_, sent.elements});
  });
}

ChannelSets::ChannelSets(uint32_t channels) : joined_to_(channels) {
  std::iota(joined_to_.begin(), joined_to_.end(), 0U);
}

void ChannelSets::join(Channel a, Channel b) {
  const uint32_t first = of(a);
  const uint32_t second = of(b);
  joined_to_[std::max(first, second)] = std::min(first, second);
}

uint32_t ChannelSets::of(Channel channel) const {
  uint32_t first = channel.index();
  while (joined_to_[first] != first)
    first = joined_to_[first];
  return first;
}

Bundles::Bundles(const Schedule& whole, Messages messages)
    : whole_(whole),
      extent_(whole.extent()),
      messages_(messages),
      bundles_(extent_.channels),
      parts_(extent_.channels),
      alike_(extent_.channels) {
  std::set<std::pair<Channel, Channel>> followed;
  for_each_step([&](StepRef ref, const Step& step) {
    if (step.to) {
      const Channel receiver = whole_.peer(ref, Half::Send).channel;
      bundles_.join(ref.channel, receiver);
      parts_.join(ref.channel, receiver);
    }
    if (step.after) {
      bundles_.join(ref.channel, step.after->channel);
      followed.emplace(step.after->channel, ref.channel);
    }
  });
  for (const auto& [before, after] : followed)
    followed_.emplace(parts_.of(before), parts_.of(after));
  std::map<uint64_t, std::vector<uint32_t>> counted;  // bundles, by what they do on a node
  std::vector<uint32_t> like(extent_.channels);       // per bundle, the one that counts for it
  for (uint32_t c = 0; c < extent_.channels; ++c) {
    const uint32_t bundle = bundles_.of(Channel(c));
    if (bundle == c) {
      std::vector<uint32_t>& earlier = counted[key_of(c)];
      const auto same =
          std::ranges::find_if(earlier, [&](uint32_t candidate) { return is_like(c, candidate); });
      like[c] = same == earlier.end() ? c : *same;
      if (like[c] == c)
        earlier.push_back(c);
    }
    counts_.push_back(like[bundle] == bundle);
    alike_[c - (bundle - like[bundle])].emplace_back(c);
  }
}

template <class Visit>
void Bundles::for_each_step(Visit&& visit) const {
  for (uint32_t c = 0; c < extent_.channels; ++c)
    for (uint32_t n = 0; n < extent_.nodes; ++n) {
      const uint32_t steps = whole_.steps(Node(n), Channel(c));
      for (uint32_t i = 0; i < steps; ++i) {
        const StepRef ref{Node(n), Channel(c), i};
        visit(ref, whole_.step(ref));
      }
    }
}

/// Returns a number that is equal for bundles that are alike: what their first channels do on the
/// first node. So most bundles that are not alike need not be compared.
uint64_t Bundles::key_of(uint32_t bundle) const {
  Hasher hasher;
  const uint32_t steps = whole_.steps(Node(0), Channel(bundle));
  for (uint32_t i = 0; i < steps; ++i) {
    const Step step = whole_.step({Node(0), Channel(bundle), i});
    hasher.add(step.from ? step.from->index() + uint64_t{1} : 0);
    hasher.add(step.to ? step.to->index() + uint64_t{1} : 0);
  }
  return hasher.word();
}

/// Returns whether each channel of the bundle does what that of the earlier one does which lies as
/// far from its first.
bool Bundles::is_like(uint32_t bundle, uint32_t earlier) const {
  const uint32_t far = bundle - earlier;
  for (uint32_t c = earlier; c + far < extent_.channels; ++c) {
    const bool of_earlier = bundles_.of(Channel(c)) == earlier;
    if (of_earlier != (bundles_.of(Channel(c + far)) == bundle))
      return false;
    for (uint32_t n = 0; of_earlier && n < extent_.nodes; ++n)
      if (!are_alike(Node(n), Channel(c + far), Channel(c)))
        return false;
  }
  return true;
}

bool Bundles::are_alike(Node node, Channel channel, Channel earlier) const {
  const uint32_t steps = whole_.steps(node, channel);
  if (steps != whole_.steps(node, earlier))
    return false;
  const uint32_t far = channel.index() - earlier.index();
  const auto moved = [&](StepRef ref) {
    return StepRef{ref.node, Channel(ref.channel.index() + far), ref.index};
  };
  const auto is_moved = [&](std::optional<StepRef> a, std::optional<StepRef> b) {
    return a.has_value() == b.has_value() && (!a || *a == moved(*b));
  };
  for (uint32_t i = 0; i < steps; ++i) {
    const StepRef ref{node, channel, i};
    const StepRef before{node, earlier, i};
    const Step a = whole_.step(ref);
    const Step b = whole_.step(before);
    if (a.from != b.from || a.to != b.to || !is_moved(a.after, b.after) ||
        a.source.has_value() != b.source.has_value() ||
        a.target.has_value() != b.target.has_value() || a.combine != b.combine ||
        a.count() > b.count() || (messages_ == Messages::AsLarge && a.count() < b.count()))
      return false;
    if (a.to && (whole_.peer(ref, Half::Send) != moved(whole_.peer(before, Half::Send)) ||
                 !is_moved(whole_.takes_slot_of(ref), whole_.takes_slot_of(before))))
      return false;
  }
  return true;
}

}  // namespace orrery
