// Tests when a fused step takes its message, by both rules of FusedStep. The reference is a search
// over all interleavings that shares nothing with causes.h.

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/schedule/stored_schedule.h"
#include "simulator/schedule/walk.h"
#include "tests/simulator/schedule/stored_copy.h"
#include "tests/support/property.h"
#include "tests/support/tries.h"

namespace orrery {
namespace {

using test::match_by_channel;

Step moving(std::optional<uint32_t> from, std::optional<uint32_t> to, bool stores = true) {
  Step step;
  if (from)
    step.from = Node(*from);
  if (to)
    step.to = Node(*to);
  if (from && stores)
    step.target = Slice{Area::Output, 0, 1};
  if (!from || (to && !stores))
    step.source = Slice{Area::Input, 0, 1};
  if (from && to && !stores)
    step.combine = Combine::Add;
  return step;
}

bool ends(const StoredSteps& steps, const std::vector<StoredSchedule::Message>& messages,
          uint32_t slots, FusedStep fused) {
  Extent extent;
  extent.slots = slots;
  extent.fused = fused;
  const StoredSchedule schedule(extent, steps, messages);
  NoVisitor visitor;
  return walk(schedule, visitor).empty();
}

/// Returns a ring all-gather: each rank sends its `own` chunks, passes on the chunks of the ranks
/// in between, and keeps the last ones.
StoredSteps ring_gather(uint32_t ranks, uint32_t own) {
  StoredSteps steps(ranks);
  for (uint32_t r = 0; r < ranks; ++r) {
    const uint32_t next = (r + 1) % ranks;
    const uint32_t previous = (r + ranks - 1) % ranks;
    std::vector<Step>& channel = steps[r].emplace_back();
    for (uint32_t c = 0; c < own; ++c)
      channel.push_back(moving(std::nullopt, next));
    for (uint32_t c = 0; c < own * (ranks - 2); ++c)
      channel.push_back(moving(previous, next));
    for (uint32_t c = 0; c < own; ++c)
      channel.push_back(moving(previous, std::nullopt));
  }
  return steps;
}

TEST_CASE("fused steps: an atomic ring all-gather needs a slot more than a rank has chunks") {
  for (uint32_t ranks = 3; ranks <= 5; ++ranks) {
    for (uint32_t own = 1; own <= 3; ++own) {
      const StoredSteps steps = ring_gather(ranks, own);
      const auto messages = match_by_channel(steps);
      CAPTURE(ranks);
      CAPTURE(own);
      CHECK_FALSE(ends(steps, messages, own, FusedStep::Atomic));
      CHECK(ends(steps, messages, own + 1, FusedStep::Atomic));
      CHECK(ends(steps, messages, own, FusedStep::StoreAndForward));
    }
  }
}

TEST_CASE("fused steps: with rendezvous an atomic step waits for its receiver before it takes") {
  // The messages go 0 -> 1 -> 2, and rank 2 never enters.
  const StoredSteps steps = {{{moving(std::nullopt, 1)}}, {{moving(0, 2)}}, {{moving(1, {})}}};
  for (const FusedStep fused : {FusedStep::StoreAndForward, FusedStep::Atomic}) {
    Extent extent;
    extent.fused = fused;
    extent.entry = Entry::Rendezvous;
    const StoredSchedule schedule(extent, steps, match_by_channel(steps));
    std::vector<Cause> causes;
    const StepRef ref{Node(1), Channel(0), 0};
    for_each_cause(schedule, schedule.extent(), ref, Half::Receive, schedule.step(ref),
                   [&](const Cause& cause) {
                     if (cause.kind == CauseKind::Enter && cause.step.node == Node(2))
                       causes.push_back(cause);
                     return true;
                   });
    CHECK(causes.size() == (fused == FusedStep::Atomic ? 1 : 0));
  }
}

/// A `Search` finds all interleavings of a schedule, as a runtime with counters would run it.
class Search {
 public:
  Search(const StoredSteps& steps, const std::vector<StoredSchedule::Message>& messages,
         uint32_t slots, FusedStep fused)
      : slots_(slots), fused_(fused) {
    std::map<std::pair<uint32_t, uint32_t>, size_t> channel_of;
    for (uint32_t n = 0; n < steps.size(); ++n)
      for (uint32_t c = 0; c < steps[n].size(); ++c) {
        channel_of[{n, c}] = channels_.size();
        channels_.emplace_back();
        for (const Step& step : steps[n][c])
          channels_.back().push_back({step, {}, {}, {}});
      }
    for (Item* item = nullptr; const auto& [send, receive] : messages) {
      const size_t from = channel_of.at({send.node.index(), send.channel.index()});
      const size_t to = channel_of.at({receive.node.index(), receive.channel.index()});
      const size_t connection =
          connections_.try_emplace({from, to}, connections_.size()).first->second;
      item = &channels_[from][send.index];
      item->out = connection;
      item = &channels_[to][receive.index];
      item->in = connection;
    }
    for (std::vector<Item>& channel : channels_)
      for (Item& item : channel)
        if (item.step.after)
          item.after = std::pair(
              channel_of.at({item.step.after->node.index(), item.step.after->channel.index()}),
              item.step.after->index);
  }

  /// Returns the states in which nothing can happen, each as the position of every channel.
  std::set<std::vector<size_t>> final_states() const {
    State begin;
    begin.at.assign(channels_.size(), 0);
    begin.received.assign(channels_.size(), false);
    begin.sent.assign(connections_.size(), 0);
    begin.taken.assign(connections_.size(), 0);
    begin.freed.assign(connections_.size(), 0);
    std::set<State> seen = {begin};
    std::vector<State> open = {begin};
    std::set<std::vector<size_t>> finals;
    while (!open.empty()) {
      const State state = std::move(open.back());
      open.pop_back();
      bool moved = false;
      for (size_t c = 0; c < channels_.size(); ++c) {
        State next = state;
        if (!advance(next, c))
          continue;
        moved = true;
        if (seen.insert(next).second)
          open.push_back(std::move(next));
      }
      if (!moved)
        finals.insert(state.at);
    }
    return finals;
  }

  std::vector<size_t> end() const {
    std::vector<size_t> result;
    for (const auto& channel : channels_)
      result.push_back(channel.size());
    return result;
  }

 private:
  struct Item {
    Step step;
    std::optional<size_t> in;
    std::optional<size_t> out;
    std::optional<std::pair<size_t, size_t>> after;
  };
  struct State {
    std::vector<size_t> at;
    std::vector<bool> received;  // the step's message has been taken, and its send is still to come
    std::vector<uint32_t> sent, taken, freed;
    auto key() const { return std::tie(at, received, sent, taken, freed); }
    friend bool operator<(const State& a, const State& b) { return a.key() < b.key(); }
  };

  bool has_message(const State& s, const Item& item) const {
    return !item.in || s.sent[*item.in] > s.taken[*item.in];
  }
  bool has_slot(const State& s, const Item& item) const {
    return !item.out || s.sent[*item.out] - s.freed[*item.out] < slots_;
  }
  /// A payload that is only passed on stays in its slot until it has been sent.
  static bool keeps_slot(const Item& item) { return item.out && !item.step.target; }

  bool advance(State& s, size_t c) const {
    if (s.at[c] == channels_[c].size())
      return false;
    const Item& item = channels_[c][s.at[c]];
    if (!s.received[c]) {
      if (item.after && s.at[item.after->first] <= item.after->second)
        return false;
      if (!has_message(s, item))
        return false;
      if (fused_ == FusedStep::Atomic && item.in && !has_slot(s, item))
        return false;
      if (item.in) {
        ++s.taken[*item.in];
        if (!keeps_slot(item))
          ++s.freed[*item.in];
      }
      s.received[c] = true;
      return true;
    }
    if (!has_slot(s, item))
      return false;
    if (item.out)
      ++s.sent[*item.out];
    if (item.in && keeps_slot(item))
      ++s.freed[*item.in];
    s.received[c] = false;
    ++s.at[c];
    return true;
  }

  uint32_t slots_;
  FusedStep fused_;
  std::vector<std::vector<Item>> channels_;
  std::map<std::pair<size_t, size_t>, size_t> connections_;
};

/// `Ends` is a schedule of three ranks: it lists the ends of the messages of each channel, in
/// order.
struct Ends {
  using Place = std::pair<size_t, size_t>;  // rank, channel
  struct End {
    size_t message;
    bool sends;
  };
  std::vector<std::vector<std::vector<End>>> lists = std::vector<std::vector<std::vector<End>>>(3);
  std::vector<std::pair<Place, Place>> ways;  // of each message
};

size_t number(size_t least, size_t most) {
  return test::in_range(least, most + 1);
}

/// Returns up to nine messages between any channels.
Ends any_messages() {
  Ends result;
  for (auto& rank : result.lists)
    rank.resize(number(1, 2));
  const size_t count = number(2, 9);
  for (size_t m = 0; m < count; ++m) {
    const size_t from = number(0, 2);
    const size_t to = (from + number(1, 2)) % 3;
    const size_t from_channel = number(0, result.lists[from].size() - 1);
    const size_t to_channel = number(0, result.lists[to].size() - 1);
    result.ways.push_back({{from, from_channel}, {to, to_channel}});
    // The ends go near the end of the list, since elsewhere nearly every schedule hangs.
    for (const bool sends : {true, false}) {
      auto& list = sends ? result.lists[from][from_channel] : result.lists[to][to_channel];
      const size_t back = number(0, 2);
      const size_t at = list.size() - std::min(list.size(), back);
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), {m, sends});
    }
  }
  return result;
}

/// Returns a ring all-gather with up to two chunks per rank, and a few neighbouring ends swapped.
Ends nearly_a_ring() {
  Ends result;
  const size_t own = number(1, 2);
  for (size_t r = 0; r < 3; ++r)
    for (size_t m = 0; m < 2 * own; ++m)
      result.ways.push_back({{r, 0}, {(r + 1) % 3, 0}});
  for (size_t r = 0; r < 3; ++r) {
    auto& list = result.lists[r].emplace_back();
    const auto message = [&](size_t rank, size_t m) { return rank % 3 * 2 * own + m; };
    for (size_t c = 0; c < own; ++c)
      list.push_back({message(r, c), true});
    for (size_t c = 0; c < own; ++c) {
      list.push_back({message(r + 2, c), false});
      list.push_back({message(r, own + c), true});
    }
    for (size_t c = 0; c < own; ++c)
      list.push_back({message(r + 2, own + c), false});
    if (number(0, 2) == 0) {
      const size_t at = number(0, list.size() - 2);
      std::swap(list[at], list[at + 1]);
    }
  }
  return result;
}

struct Random {
  StoredSteps steps = StoredSteps(3);
  std::vector<StoredSchedule::Message> messages;
};

/// Fuses most receives that come right before a send with that send. Sometimes a step waits for a
/// step of the other channel of its rank.
Random random_schedule() {
  Random result;
  const Ends ends = number(0, 2) == 0 ? any_messages() : nearly_a_ring();
  using Place = Ends::Place;
  std::map<std::pair<Place, Place>, std::pair<std::vector<StepRef>, std::vector<StepRef>>> lines;
  for (size_t n = 0; n < 3; ++n) {
    for (size_t c = 0; c < ends.lists[n].size(); ++c) {
      std::vector<Step>& channel = result.steps[n].emplace_back();
      const auto& list = ends.lists[n][c];
      for (size_t e = 0; e < list.size(); ++e) {
        const StepRef ref{Node(n), Channel(c), static_cast<uint32_t>(channel.size())};
        const bool fuses =
            !list[e].sends && e + 1 < list.size() && list[e + 1].sends && number(0, 3) > 0;
        std::optional<uint32_t> from;
        std::optional<uint32_t> to;
        if (!list[e].sends) {
          const auto& way = ends.ways[list[e].message];
          from = static_cast<uint32_t>(way.first.first);
          lines[way].second.push_back(ref);
          e += fuses ? 1 : 0;
        }
        if (list[e].sends) {
          const auto& way = ends.ways[list[e].message];
          to = static_cast<uint32_t>(way.second.first);
          lines[way].first.push_back(ref);
        }
        channel.push_back(moving(from, to, number(0, 1) == 0));
      }
    }
    std::vector<std::vector<Step>>& own = result.steps[n];
    if (own.size() == 2 && !own[0].empty() && !own[1].empty() && number(0, 2) == 0) {
      const size_t on = number(0, own[0].size() - 1);
      const size_t by = number(0, own[1].size() - 1);
      own[1][by].after = StepRef{Node(n), Channel(0), static_cast<uint32_t>(on)};
    }
  }
  for (const auto& [way, line] : lines)
    for (size_t m = 0; m < line.first.size(); ++m)
      result.messages.push_back({line.first[m], line.second[m]});
  return result;
}

TEST_CASE("fused steps: a walk ends exactly where no interleaving is stuck, by both rules") {
  size_t hangs[2] = {0, 0};
  size_t all = 0;
  test::holds_for_all("random schedules", [&] {
    const Random random = random_schedule();
    const auto slots = static_cast<uint32_t>(test::in_range(1, 3));
    ++all;
    for (const FusedStep fused : {FusedStep::StoreAndForward, FusedStep::Atomic}) {
      const Search search(random.steps, random.messages, slots, fused);
      const std::set<std::vector<size_t>> finals = search.final_states();
      RC_ASSERT(finals.size() == 1);  // no cause is a choice
      const bool expected = *finals.begin() == search.end();
      RC_ASSERT(ends(random.steps, random.messages, slots, fused) == expected);
      hangs[static_cast<size_t>(fused)] += expected ? 0 : 1;
    }
  });
  CHECK(hangs[1] >= hangs[0]);  // the atomic rule only adds waits
  if (test::is_all_tried()) {
    CHECK(hangs[0] > 5);
    CHECK(hangs[1] > hangs[0]);
    CHECK(hangs[1] < all - 5);
  }
}

}  // namespace
}  // namespace orrery
