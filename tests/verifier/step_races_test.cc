// Tests the search for races. It must find none in any computed algorithm, and on random schedules
// those that the transitive closure of the causes has.

#include "verifier/check/step_races.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/base/random.h"
#include "models/program/rules.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/schedule/causes.h"
#include "simulator/schedule/sliced_schedule.h"
#include "simulator/schedule/stored_schedule.h"
#include "simulator/schedule/walk.h"
#include "tests/simulator/algorithm/some_op.h"
#include "tests/support/tries.h"

namespace orrery {
namespace {

TEST_CASE("no algorithm has two unordered steps that touch the same elements") {
  uint64_t seed = 0;
  for (const Algorithm& algorithm : algorithms()) {
    for (const OpKind kind : algorithm.kinds) {
      // Stages have many steps. Ten ranks are nodes of two ranks, and eight fill three axes.
      const uint32_t most = algorithm.is_for_topology != nullptr ? 10 : 17;
      for (uint32_t nodes = 1; nodes <= most; ++nodes) {
        for (uint32_t channels = 1; channels <= 3; ++channels) {
          if (!test::is_tried_sanitized(++seed))
            continue;
          const Op op = test::some_op(kind, nodes);
          Transport transport;
          transport.channels = channels;
          ScheduleRequest request = schedule_request(op, nodes, int64_t{nodes} * 4, transport);
          if (channels > 1)
            request.layout = test::some_layout(nodes);
          const std::unique_ptr<const Schedule> schedule = algorithm.make(request);
          const StepRaces races = step_races(*schedule);
          INFO(fmt::format("{} for {} over {} ranks, {} channels: {}", algorithm.name,
                           rules(kind).name, nodes, channels,
                           races.first ? races.first->text() : ""));
          CHECK(races.none());
        }
      }
    }
  }
}

Step copy(Slice source, Slice target) {
  Step step;
  step.source = source;
  step.target = target;
  return step;
}

Extent one_element() {
  Extent extent;
  extent.input = 1;
  extent.output = 1;
  return extent;
}

TEST_CASE("two channels that store to the same element in no order are a race") {
  const Step first = copy({Area::Input, 0, 1}, {Area::Output, 0, 1});
  const StoredSchedule racy(one_element(), {{{first}, {first}}}, {});
  CHECK(step_races(racy).first.value().text() ==
        "on node 0, channel 0 step 0 writes and channel 1 step 0 writes output elements 0 to 0, "
        "and nothing orders the two");
  Step after = first;
  after.after = StepRef{Node(0), Channel(0), 0};
  const StoredSchedule ordered(one_element(), {{{first}, {after}}}, {});
  CHECK(step_races(ordered).none());
}

TEST_CASE("in place, a store to the output races with a read of the same input element") {
  const Step reads = copy({Area::Input, 0, 1}, {Area::Scratch, 0, 1});
  const Step writes = copy({Area::Scratch, 1, 1}, {Area::Output, 0, 1});
  Extent extent = one_element();
  extent.scratch = 2;
  CHECK(step_races(StoredSchedule(extent, {{{reads}, {writes}}}, {})).none());
  extent.output = 0;
  extent.in_place = true;
  CHECK(step_races(StoredSchedule(extent, {{{reads}, {writes}}}, {})).first.has_value());
}

TEST_CASE("a step that writes elements that it reads for others is a race of its own") {
  Extent extent;
  extent.input = extent.output = extent.scratch = 8;
  const auto races = [&](Step step) {
    return step_races(StoredSchedule(extent, {{{std::move(step)}}}, {})).first;
  };
  const Slice read{Area::Output, 2, 3};
  CHECK(
      races(copy(read, {Area::Output, 3, 3})).value().text() ==
      "on node 0, channel 0 step 0 reads output elements 3 to 4 and writes them for others, in no "
      "order");
  CHECK(races(copy(read, {Area::Output, 0, 3})).value().shared() == Slice{Area::Output, 2, 1});
  CHECK_FALSE(races(copy(read, {Area::Output, 5, 3})).has_value());                  // just after
  CHECK_FALSE(races(copy({Area::Output, 3, 2}, {Area::Output, 1, 2})).has_value());  // just before
  CHECK_FALSE(races(copy(read, {Area::Scratch, 3, 3})).has_value());
  Step sum = copy(read, read);
  sum.combine = Combine::Add;
  CHECK_FALSE(races(sum).has_value());  // each element with itself
  sum.target->first = 3;
  CHECK(races(sum).has_value());
  CHECK_FALSE(races(copy({Area::Input, 2, 3}, {Area::Output, 3, 3})).has_value());
  extent.output = 0;
  extent.in_place = true;
  CHECK(races(copy({Area::Input, 2, 3}, {Area::Output, 3, 3})).has_value());
  // A step that stores a message does not read its source.
  Step takes = copy({Area::Input, 2, 3}, {Area::Output, 3, 3});
  takes.from = Node(1);
  Step sends;
  sends.to = Node(0);
  sends.source = Slice{Area::Input, 0, 3};
  const std::vector<StoredSchedule::Message> message = {
      {{Node(1), Channel(0), 0}, {Node(0), Channel(0), 0}}};
  CHECK(step_races(StoredSchedule(extent, {{{takes}}, {{sends}}}, message)).none());
  takes.combine = Combine::Add;
  CHECK_FALSE(step_races(StoredSchedule(extent, {{{takes}}, {{sends}}}, message)).none());
}

TEST_CASE("an order through a message to another node and back counts") {
  // On node 0, channel 0 reads input 0 and sends it. Channel 1 receives node 1's answer into input
  // 0.
  Step sends;
  sends.source = Slice{Area::Input, 0, 1};
  sends.to = Node(1);
  Step takes;
  takes.from = Node(0);
  takes.target = Slice{Area::Scratch, 0, 1};
  Step answers;
  answers.source = Slice{Area::Scratch, 0, 1};
  answers.to = Node(0);
  Step stores;
  stores.from = Node(1);
  stores.target = Slice{Area::Input, 0, 1};
  Extent extent = one_element();
  extent.scratch = 1;
  const StepRef back{Node(0), Channel(1), 0};
  const std::vector<StoredSchedule::Message> messages = {
      {{Node(0), Channel(0), 0}, {Node(1), Channel(0), 0}}, {{Node(1), Channel(0), 1}, back}};
  CHECK(step_races(StoredSchedule(extent, {{{sends}, {stores}}, {{takes, answers}}}, messages))
            .none());
  // Unless node 1 waits for the first message, its answer comes at any time.
  const std::vector<StoredSchedule::Message> unasked = {
      {{Node(0), Channel(0), 0}, {Node(1), Channel(0), 1}}, {{Node(1), Channel(0), 0}, back}};
  CHECK(step_races(StoredSchedule(extent, {{{sends}, {stores}}, {{answers, takes}}}, unasked))
            .first.has_value());
}

TEST_CASE("a search that the budget does not cover finds nothing out") {
  const Step step = copy({Area::Input, 0, 1}, {Area::Output, 0, 1});
  // Both steps have two halves. One pair of accesses is compared.
  const StoredSchedule apart(one_element(), {{{step}, {step}}}, {});
  CHECK(step_races(apart, 3).over_budget);
  CHECK_FALSE(step_races(apart, 3).first.has_value());
  CHECK(step_races(apart, 4).first.has_value());
  // A chain of steps on each channel, of which each but the last waits for one of the other.
  std::vector<Step> chain(100, copy({Area::Input, 0, 1}, {Area::Scratch, 0, 1}));
  Extent extent = one_element();
  extent.scratch = 2;
  std::vector<Step> other(100, copy({Area::Input, 0, 1}, {Area::Scratch, 1, 1}));
  for (uint32_t i = 0; i < 100; ++i)
    other[i].after = StepRef{Node(0), Channel(0), i};
  other.back().target = Slice{Area::Scratch, 0, 1};
  const StoredSchedule ordered(extent, {{chain, other}}, {});
  CHECK(step_races(ordered).none());
  CHECK(step_races(ordered, 399).over_budget);  // it has 400 halves
  // Each of the 100 stores of the chain is compared with the last one, which comes after it. At
  // least one half is looked at from each end.
  CHECK(step_races(ordered, 400 + 100 * 2).over_budget);
  CHECK_FALSE(step_races(ordered, 400 + 100 * 2).first.has_value());
}

TEST_CASE("no races are looked for in a schedule that cannot end") {
  const Step step = copy({Area::Input, 0, 1}, {Area::Output, 0, 1});
  Step waits = step;
  waits.after = StepRef{Node(0), Channel(1), 1};
  Step for_it = step;
  for_it.after = StepRef{Node(0), Channel(0), 0};
  const StoredSchedule stuck(one_element(), {{{waits}, {for_it, step}}}, {});
  CHECK(step_races(stuck).none());
}

/// A `Drawn` is a schedule whose steps are appended in an order in which they can run.
struct Drawn {
  Extent extent;
  StoredSteps steps;
  std::vector<StoredSchedule::Message> messages;
};

Drawn drawn(Random& random) {
  Drawn result;
  const uint64_t nodes = 1 + random.below(3);
  const uint64_t channels = 2 + random.below(2);
  result.extent.input = 3;
  result.extent.in_place = random.below(2) == 0;
  result.extent.output = result.extent.in_place ? 0 : 3;
  result.extent.scratch = 2;
  result.extent.slots = static_cast<uint32_t>(1 + random.below(2));
  result.steps.resize(nodes, std::vector<std::vector<Step>>(channels));
  const auto slice = [&] {
    const Area area = std::array{Area::Input, Area::Output, Area::Scratch}[random.below(3)];
    const uint64_t size = area == Area::Scratch ? 2 : 3;
    const uint64_t first = random.below(size);
    const uint64_t count = 1 + random.below(size - first);
    return Slice{area, static_cast<int64_t>(first), static_cast<int64_t>(count)};
  };
  const auto append = [&](size_t node, Step step) {
    const size_t channel = random.below(channels);
    const size_t other = random.below(channels);
    if (const size_t there = result.steps[node][other].size();
        other != channel && there > 0 && random.below(2) == 0)
      step.after = StepRef{Node(node), Channel(other), static_cast<uint32_t>(random.below(there))};
    result.steps[node][channel].push_back(step);
    return StepRef{Node(node), Channel(channel),
                   static_cast<uint32_t>(result.steps[node][channel].size() - 1)};
  };
  const uint64_t count = 2 + random.below(7);
  for (uint64_t i = 0; i < count; ++i) {
    const size_t node = random.below(nodes);
    const size_t peer = random.below(nodes);
    const Slice source = slice();
    Slice target = slice();
    target.count = std::min(source.count, target.count);
    if (node == peer) {
      append(node, copy({source.area, source.first, target.count}, target));
      continue;
    }
    Step sends;
    sends.source = Slice{source.area, source.first, target.count};
    sends.to = Node(peer);
    Step takes;
    takes.target = target;
    takes.from = Node(node);
    const StepRef sender = append(node, sends);
    result.messages.push_back({sender, append(peer, takes)});
  }
  return result;
}

/// Returns whether some pair of accesses is unordered, by the transitive closure of all causes,
/// element by element.
bool races_by_closure(const Schedule& schedule) {
  std::vector<HalfRef> halves;
  const Extent& extent = schedule.extent();
  for (uint32_t n = 0; n < extent.nodes; ++n)
    for (uint32_t c = 0; c < extent.channels; ++c)
      for (uint32_t s = 0; s < schedule.steps(Node(n), Channel(c)); ++s)
        for (const Half half : {Half::Receive, Half::Send})
          halves.push_back({{Node(n), Channel(c), s}, half});
  const size_t count = halves.size();
  std::vector<std::vector<bool>> before(count, std::vector<bool>(count, false));
  for (size_t h = 0; h < count; ++h)
    for_each_cause(schedule, extent, halves[h].step, halves[h].half, schedule.step(halves[h].step),
                   [&](const Cause& cause) {
                     for (size_t e = 0; e < count; ++e)
                       if (cause.kind != CauseKind::Enter && halves[e].step == cause.step &&
                           halves[e].half == cause.half)
                         before[e][h] = true;
                     return true;
                   });
  for (size_t k = 0; k < count; ++k)
    for (size_t i = 0; i < count; ++i)
      for (size_t j = 0; j < count; ++j)
        if (before[i][k] && before[k][j])
          before[i][j] = true;

  const auto touches = [&](const HalfRef& half, bool written) {
    std::set<std::pair<Area, int64_t>> elements;
    const Step step = schedule.step(half.step);
    const auto place = [&](const Slice& slice, int64_t i) {
      return std::pair(extent.in_place && slice.area == Area::Output ? Area::Input : slice.area,
                       slice.first + i);
    };
    for_each_action(step.form(), half.half, [&](Action action) {
      const Slice* slice = step.slice(action.slice);
      if (slice == nullptr || (action.kind == ActionKind::Store) != written)
        return;
      for (int64_t i = 0; i < slice->count; ++i) {
        // This is no change: the stored element is already there.
        const bool same = written && !step.from && place(*step.source, i) == place(*slice, i);
        if (!same)
          elements.insert(place(*slice, i));
      }
    });
    return elements;
  };
  // This is a race in one step: it writes an element that it reads for another element.
  for (const HalfRef& half : halves) {
    const Step step = schedule.step(half.step);
    if (!step.source || !step.target)
      continue;
    for (int64_t i = 0; i < step.source->count; ++i)
      for (int64_t j = 0; j < step.target->count; ++j)
        if (i != j && extent.area(step.source->area) == extent.area(step.target->area) &&
            step.source->first + i == step.target->first + j)
          return true;
  }
  for (size_t a = 0; a < count; ++a) {
    for (size_t b = 0; b < count; ++b) {
      if (a == b || halves[a].step.node != halves[b].step.node || before[a][b] || before[b][a])
        continue;
      const auto written = touches(halves[a], true);
      for (const bool writes : {false, true})
        for (const auto& element : touches(halves[b], writes))
          if (written.count(element) > 0)
            return true;
    }
  }
  return false;
}

TEST_CASE("a random schedule without races has none when its messages are cut") {
  size_t racy = 0;
  size_t clean = 0;
  size_t mixed = 0;
  for (uint64_t seed = 0; seed < tries(400); ++seed) {
    Random random(seed);
    Drawn given = drawn(random);
    // Each element becomes three, which are cut to two and one.
    const bool keeps = random.below(2) > 0;
    given.extent.input *= 3;
    given.extent.output *= 3;
    given.extent.scratch *= 3;
    for (auto& channels : given.steps)
      for (auto& steps : channels)
        for (Step& step : steps)
          for (std::optional<Slice>* slice : {&step.source, &step.target})
            if (*slice)
              *slice = Slice{(*slice)->area, (*slice)->first * 3, keeps ? 3 : 3 * (*slice)->count};
    int64_t largest = 0;
    int64_t longest_message = 0;
    for (const auto& channels : given.steps)
      for (const auto& steps : channels)
        for (const Step& step : steps) {
          largest = std::max(largest, step.count());
          if (step.to)
            longest_message = std::max(longest_message, step.count());
        }
    if (largest > longest_message)
      continue;  // such schedules are not cut
    const SlicedOver<> schedule(
        std::make_unique<const StoredSchedule>(given.extent, given.steps, given.messages), 2);
    NoVisitor visitor;
    if (schedule.iterations() == 1 || !walk(schedule, visitor).empty())
      continue;
    INFO("seed ", seed);
    if (!schedule.keeps_elements_together()) {
      CHECK_FALSE(keeps);
      ++mixed;
      continue;
    }
    const bool expected = races_by_closure(schedule);
    CHECK(step_races(schedule).first.has_value() == expected);
    if (step_races(schedule.whole()).none())
      CHECK_FALSE(expected);
    (expected ? racy : clean) += 1;
  }
  CHECK(racy > tries(50));
  CHECK(clean > tries(50));
  CHECK(mixed > tries(10));
}

TEST_CASE("races of random schedules are those of the transitive closure of their causes") {
  size_t racy = 0;
  size_t clean = 0;
  for (uint64_t seed = 0; seed < tries(400); ++seed) {
    Random random(seed);
    const Drawn given = drawn(random);
    const StoredSchedule schedule(given.extent, given.steps, given.messages);
    NoVisitor visitor;
    if (!walk(schedule, visitor).empty())
      continue;  // too few slots for this order of sends
    const bool expected = races_by_closure(schedule);
    INFO("seed ", seed);
    CHECK(step_races(schedule).first.has_value() == expected);
    (expected ? racy : clean) += 1;
  }
  CHECK(racy > tries(50));
  CHECK(clean > tries(50));
}

}  // namespace
}  // namespace orrery
