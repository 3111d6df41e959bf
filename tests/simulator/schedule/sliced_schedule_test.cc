// Compares schedules whose messages are cut with the same iterations written out step by step.

#include "simulator/schedule/sliced_schedule.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/algorithm/ring.h"
#include "simulator/schedule/stored_schedule.h"
#include "simulator/schedule/walk.h"
#include "tests/simulator/schedule/stored_copy.h"
#include "tests/support/property.h"

namespace orrery::test {
namespace {

using Message = StoredSchedule::Message;

StepRef later(StepRef ref, const StoredSteps& steps, uint32_t iteration) {
  const auto length = static_cast<uint32_t>(steps[ref.node.index()][ref.channel.index()].size());
  return {ref.node, ref.channel, iteration * length + ref.index};
}

/// Returns elements [begin, begin + stretch) of the slice, as far as it has them.
std::optional<Slice> stretch_of(const std::optional<Slice>& slice, int64_t begin, int64_t stretch) {
  if (!slice)
    return std::nullopt;
  const int64_t first = std::min(begin, slice->count);
  const int64_t past = std::min(begin + stretch, slice->count);
  return Slice{slice->area, slice->first + first, past - first};
}

/// Returns a stored schedule of all iterations, one after another.
StoredSchedule written_out(const Extent& areas, const StoredSteps& steps,
                           const std::vector<Message>& messages, int64_t stretch,
                           uint32_t iterations) {
  StoredSteps all(steps.size());
  for (size_t n = 0; n < steps.size(); ++n) {
    all[n].resize(steps[n].size());
    for (size_t c = 0; c < steps[n].size(); ++c) {
      for (uint32_t i = 0; i < iterations; ++i) {
        for (Step step : steps[n][c]) {
          step.source = stretch_of(step.source, i * stretch, stretch);
          step.target = stretch_of(step.target, i * stretch, stretch);
          if (step.after)
            step.after = later(*step.after, steps, i);
          all[n][c].push_back(step);
        }
      }
    }
  }
  std::vector<Message> repeated;
  for (uint32_t i = 0; i < iterations; ++i)
    for (const auto& [send, receive] : messages)
      repeated.push_back({later(send, steps, i), later(receive, steps, i)});
  return {areas, all, repeated};
}

/// In these steps, random pairs of nodes exchange messages of random sizes on one of two channels.
/// A channel has any number of messages. The second channel of a node waits for its first.
struct RandomSteps {
  StoredSteps steps;
  std::vector<Message> messages;
};
RandomSteps random_steps() {
  RandomSteps made;
  const auto nodes = static_cast<uint32_t>(in_range(2, 5));
  made.steps.resize(nodes);
  for (auto& channels : made.steps)
    channels.resize(2);
  const int messages = in_range(1, 12);
  for (int m = 0; m < messages; ++m) {
    const auto from = static_cast<uint32_t>(in_range<int>(0, static_cast<int>(nodes)));
    const auto ahead = static_cast<uint32_t>(in_range<int>(1, static_cast<int>(nodes)));
    const auto channel = static_cast<uint32_t>(in_range(0, 2));
    const int64_t count = in_range<int64_t>(0, 9);
    const uint32_t to = (from + ahead) % nodes;
    Step send;
    send.to = Node(to);
    send.source = Slice{Area::Input, 10 * m, count};
    Step receive;
    receive.from = Node(from);
    receive.target = Slice{Area::Output, 10 * m, count};
    std::vector<Step>& sender = made.steps[from][channel];
    std::vector<Step>& receiver = made.steps[to][channel];
    made.messages.push_back({{Node(from), Channel(channel), static_cast<uint32_t>(sender.size())},
                             {Node(to), Channel(channel), static_cast<uint32_t>(receiver.size())}});
    sender.push_back(send);
    receiver.push_back(receive);
  }
  for (uint32_t n = 0; n < nodes; ++n)
    if (!made.steps[n][0].empty() && !made.steps[n][1].empty() && any_bool())
      made.steps[n][1].back().after = StepRef{Node(n), Channel(0), 0};
  return made;
}

bool ends(const Schedule& schedule) {
  NoVisitor visitor;
  return walk(schedule, visitor).empty();
}

TEST_CASE("sliced schedules: as the same iterations written out") {
  holds_for_all("random steps, slots and stretches", [] {
    const RandomSteps random = random_steps();
    const int64_t stretch = in_range<int64_t>(1, 10);
    Extent areas;
    areas.slots = static_cast<uint32_t>(in_range(1, 6));
    areas.input = 200;
    areas.output = 200;
    auto whole = std::make_unique<StoredSchedule>(areas, random.steps, random.messages);
    const bool whole_ends = ends(*whole);
    const SlicedOver<> sliced(std::move(whole), stretch);
    int64_t largest = 1;
    for (const auto& channels : random.steps)
      for (const std::vector<Step>& channel : channels)
        for (const Step& step : channel)
          largest = std::max(largest, step.to ? step.count() : 0);
    RC_ASSERT(sliced.iterations() == static_cast<uint32_t>((largest + stretch - 1) / stretch));
    const StoredSchedule stored =
        written_out(areas, random.steps, random.messages, stretch, sliced.iterations());
    for_each_stored(stored_steps(stored), [&](StepRef ref, const Step& step) {
      const Step cut = sliced.step(ref);
      RC_ASSERT(cut.source == step.source);
      RC_ASSERT(cut.target == step.target);
      RC_ASSERT(cut.after == step.after);
      RC_ASSERT(cut.from == step.from);
      RC_ASSERT(cut.to == step.to);
      if (step.from)
        RC_ASSERT(sliced.peer(ref, Half::Receive) == stored.peer(ref, Half::Receive));
      if (!step.to)
        return;
      RC_ASSERT(sliced.peer(ref, Half::Send) == stored.peer(ref, Half::Send));
      RC_ASSERT(sliced.takes_slot_of(ref) == stored.takes_slot_of(ref));
    });
    for (uint32_t n = 0; n < stored.extent().nodes; ++n)
      for (uint32_t c = 0; c < stored.extent().channels; ++c)
        RC_ASSERT(sliced.steps(Node(n), Channel(c)) == stored.steps(Node(n), Channel(c)));
    // Steps that wait for each other are in one iteration.
    RC_ASSERT(ends(sliced) == whole_ends);
    RC_ASSERT(ends(stored) == whole_ends);
  });
}

TEST_CASE("sliced schedules: the window and the lookback of a long ring do not grow") {
  const auto ring = [](int64_t elements, uint32_t slots) {
    return std::make_unique<RingSchedule>(RingSchedule::Form::AllReduce, 8, elements, Combine::Add,
                                          Transport{1, slots, Entry::Eager});
  };
  const SlicedOver<RingSchedule> few(ring(8 * 4, 2), 2);
  const SlicedOver<RingSchedule> many(ring(int64_t{8} * 4000, 2), 2);
  CHECK(few.iterations() == 2);
  CHECK(many.iterations() == 2000);
  // Message g takes the slot of message g - 2, which its receiver takes one step after it is sent.
  CHECK(few.extent().lookback == 2);
  CHECK(many.extent().lookback == 2);
  CHECK(many.extent().lockstep);
  CHECK(many.extent().window == few.extent().window);
}

/// Returns a schedule of two ranks. In each channel, rank 0 sends a message of so many elements.
StoredSchedule channels_with(const std::vector<int64_t>& elements) {
  Extent areas;
  areas.input = areas.output = *std::max_element(elements.begin(), elements.end());
  StoredSteps steps(2);
  std::vector<Message> messages;
  for (size_t c = 0; c < elements.size(); ++c) {
    Step send;
    send.to = Node(1);
    send.source = Slice{Area::Input, 0, elements[c]};
    Step receive;
    receive.from = Node(0);
    receive.target = Slice{Area::Output, 0, elements[c]};
    steps[0].push_back({send});
    steps[1].push_back({receive});
    messages.push_back({{Node(0), Channel(c), 0}, {Node(1), Channel(c), 0}});
  }
  return {areas, steps, messages};
}

TEST_CASE("bundles: a channel stands for those with messages that are as large") {
  const StoredSchedule whole = channels_with({5, 4, 5, 4, 6});
  const Bundles bundles(whole, Bundles::Messages::AsLarge);
  using Channels = std::vector<Channel>;
  const std::vector<Channels> expected = {
      {Channel(0), Channel(2)}, {Channel(1), Channel(3)}, {}, {}, {Channel(4)}};
  for (size_t c = 0; c < expected.size(); ++c) {
    CAPTURE(c);
    const auto alike = bundles.alike(Channel(c));
    CHECK(Channels(alike.begin(), alike.end()) == expected[c]);
    CHECK(bundles.counts(Channel(c)) == !expected[c].empty());
    CHECK(CountedChannels(whole, bundles).steps(Node(1), Channel(c)) ==
          (expected[c].empty() ? 0 : 1));
  }
}

TEST_CASE("bundles: where only the last end counts, a channel also stands for smaller messages") {
  const StoredSchedule whole = channels_with({5, 4, 6});
  const Bundles bundles(whole, Bundles::Messages::AtMostAsLarge);
  CHECK(bundles.counts(Channel(0)));
  CHECK_FALSE(bundles.counts(Channel(1)));
  CHECK(bundles.counts(Channel(2)));
}

}  // namespace
}  // namespace orrery::test
