// Compares properties that algorithms state for speed with properties derived from the steps: the
// ends of messages (peer), reused slots, how far back causes reach, the window, and lockstep.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/rules.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/algorithm/direct.h"
#include "simulator/algorithm/ring.h"
#include "simulator/schedule/progress.h"
#include "simulator/schedule/stored_schedule.h"
#include "tests/simulator/algorithm/cut_made.h"
#include "tests/simulator/algorithm/form.h"
#include "tests/simulator/algorithm/random_ragged.h"
#include "tests/simulator/algorithm/some_op.h"
#include "tests/simulator/schedule/stored_copy.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

struct Named {
  std::string name;
  std::unique_ptr<const Schedule> schedule;
  bool cut = false;
};

/// Adds ragged exchanges. They cut their messages themselves, or leave them whole.
void add_ragged(std::vector<Named>& all) {
  Random random(12);
  for (uint32_t n = 1; n <= 6; ++n)
    for (uint32_t channels = 1; channels <= 3; ++channels)
      for (uint32_t slots = 1; slots <= 3; ++slots)
        for (int64_t largest = 0; largest <= 2; ++largest) {
          const Transport transport{channels, slots, Entry::Eager, 0, largest};
          all.push_back(
              {fmt::format("ragged over {} ranks, {} channels, {} slots, messages of {}", n,
                           channels, slots, largest),
               std::make_unique<RaggedExchangeSchedule>(random_ragged(random, n), transport)});
        }
}

/// Returns the schedules of every algorithm for each of its kinds, for groups of 1 to 9 ranks, 1 to
/// 3 channels and 1 to 4 slots. Half of the schedules are also cut to messages of 2 elements, which
/// makes 2 to 15 iterations.
std::vector<Named> made_schedules() {
  std::vector<Named> all;
  uint64_t seed = 0;
  for (const Algorithm& algorithm : algorithms())
    for (const OpKind kind : algorithm.kinds)
      for (uint32_t n = 1; n <= 9; ++n)
        for (uint32_t channels = 1; channels <= 3; ++channels)
          for (uint32_t slots = 1; slots <= 4; ++slots) {
            if (!is_tried(++seed) || (algorithm.is_for_topology != nullptr && seed % 7 != 0))
              continue;  // stages have many steps
            const bool even = kind == OpKind::AllToAll || kind == OpKind::Pswapaxes ||
                              kind == OpKind::PsumScatter;
            const int64_t elements = even ? int64_t{n} * 4 : int64_t{n} * 3 + 2;
            const Transport transport{channels, slots, Entry::Eager};
            const std::string name =
                fmt::format("{} for {} over {} ranks, {} channels, {} slots", algorithm.name,
                            rules(kind).name, n, channels, slots);
            ScheduleRequest request = schedule_request(some_op(kind, n), n, elements, transport);
            if (n % 2 == channels % 2)
              request.layout = some_layout(n);
            // Stages between nodes run a schedule in several rounds, as a cut one runs.
            all.push_back({name, algorithm.make(request), algorithm.is_for_topology != nullptr});
            if ((n + slots) % 2 == 0 && all.back().schedule->largest_message() > 2)
              all.push_back({name + ", cut", cut_made(algorithm, request, 2), true});
          }
  add_ragged(all);
  return all;
}

const std::vector<Named>& all_schedules() {
  static const std::vector<Named> all = made_schedules();
  return all;
}

TEST_CASE("derived: the k-th send of a channel pairs with the k-th receive, as peer says") {
  for (const Named& of : all_schedules()) {
    if (of.schedule->extent().switch_nodes > 0)
      continue;  // a switch sends to other channels
    CAPTURE(of.name);
    const auto messages = match_by_channel(stored_steps(*of.schedule));
    bool agree = true;
    for (const StoredSchedule::Message& message : messages)
      agree = agree && of.schedule->peer(message.send, Half::Send) == message.receive &&
              of.schedule->peer(message.receive, Half::Receive) == message.send;
    CHECK(agree);
  }
}

TEST_CASE(
    "derived: what a node sends to another by switch arrives in the order of their channels") {
  for (const Named& of : all_schedules()) {
    if (of.schedule->extent().switch_nodes == 0 || of.cut)
      continue;
    CAPTURE(of.name);
    std::map<std::pair<Node, Node>, std::vector<StepRef>> sends;
    std::map<std::pair<Node, Node>, std::vector<StepRef>> receives;
    for_each_step(*of.schedule, [&](StepRef ref, const Step& step) {
      if (step.to)
        sends[{ref.node, *step.to}].push_back(ref);
      if (step.from)
        receives[{*step.from, ref.node}].push_back(ref);
    });
    CHECK(sends.size() == receives.size());
    bool agree = true;
    for (const auto& [ends, of_ends] : sends) {
      REQUIRE(receives[ends].size() == of_ends.size());
      for (size_t m = 0; m < of_ends.size(); ++m)
        agree = agree && of.schedule->peer(of_ends[m], Half::Send) == receives[ends][m] &&
                of.schedule->peer(receives[ends][m], Half::Receive) == of_ends[m];
    }
    CHECK(agree);
  }
}

TEST_CASE("derived: the two ends of a message name each other, and a connection keeps its order") {
  for (const Named& of : all_schedules()) {
    CAPTURE(of.name);
    bool agree = true;
    // The map's key has the sending and the receiving channel, its value the step that received
    // last.
    std::map<std::tuple<Node, Channel, Node, Channel>, uint32_t> last;
    for_each_step(*of.schedule, [&](StepRef ref, const Step& step) {
      if (!step.to)
        return;
      const StepRef receiver = of.schedule->peer(ref, Half::Send);
      const auto [known, is_first] = last.try_emplace(
          {ref.node, ref.channel, receiver.node, receiver.channel}, receiver.index);
      agree = agree && receiver.node == *step.to &&
              of.schedule->peer(receiver, Half::Receive) == ref &&
              (is_first || known->second < receiver.index);
      known->second = receiver.index;
    });
    CHECK(agree);
  }
}

TEST_CASE("derived: a message takes the slot of the message `slots` before it on its connection") {
  for (const Named& of : all_schedules()) {
    CAPTURE(of.name);
    const StoredSchedule stored(of.schedule->extent(), stored_steps(*of.schedule),
                                stored_messages(*of.schedule));
    bool agree = true;
    for_each_step(*of.schedule, [&](StepRef ref, const Step& step) {
      if (step.to)
        agree = agree && of.schedule->takes_slot_of(ref) == stored.takes_slot_of(ref);
    });
    CHECK(agree);
  }
}

TEST_CASE("derived: a stored copy answers as the schedule does") {
  for (const Named& of : all_schedules()) {
    CAPTURE(of.name);
    const Schedule& schedule = *of.schedule;
    const StoredSchedule stored(schedule);
    bool agree = true;
    for_each_step(schedule, [&](StepRef ref, const Step& step) {
      agree = agree && pack(stored.step(ref)) == pack(step);
      if (step.from)
        agree = agree && stored.peer(ref, Half::Receive) == schedule.peer(ref, Half::Receive);
      if (step.to)
        agree = agree && stored.peer(ref, Half::Send) == schedule.peer(ref, Half::Send) &&
                stored.takes_slot_of(ref) == schedule.takes_slot_of(ref);
    });
    CHECK(agree);
    CHECK(count_steps(stored) == count_steps(schedule));
    CHECK(stored.largest_message() == schedule.largest_message());
    CHECK(stored.extent().one_message_a_connection == schedule.extent().one_message_a_connection);
  }
}

TEST_CASE("derived: members enter as the transport says") {
  for (const Algorithm& algorithm : algorithms())
    for (const OpKind kind : algorithm.kinds)
      for (const Entry entry : {Entry::Eager, Entry::Rendezvous}) {
        CAPTURE(algorithm.name);
        const auto schedule =
            algorithm.make(schedule_request(some_op(kind, 4), 4, 16, {1, 2, entry}));
        CHECK(schedule->extent().entry == entry);
      }
}

TEST_CASE("derived: a rank that gets zeros cannot leave its operand where the result is") {
  // Rank 0 only sends and rank 1 only receives, so nothing is overwritten too early.
  const std::vector<SourceDestination> pairs = {{Node(0), Node(1)}};
  CHECK_FALSE(direct_permute(2, 4, pairs, {})->extent().works_in_place);
}

TEST_CASE("derived: how far back causes reach") {
  for (const Named& of : all_schedules()) {
    if (!of.schedule->extent().lockstep)
      continue;
    CAPTURE(of.name);
    uint32_t lookback = 0;
    for_each_step(*of.schedule, [&](StepRef ref, const Step& step) {
      for (const Half half : {Half::Receive, Half::Send})
        for_each_cause(*of.schedule, of.schedule->extent(), ref, half, step,
                       [&](const Cause& cause) {
                         if (cause.kind != CauseKind::Enter && cause.step.index < ref.index)
                           lookback = std::max(lookback, ref.index - cause.step.index);
                         return true;
                       });
    });
    CHECK(lookback <= of.schedule->extent().lookback);
    CHECK(of.schedule->extent().lookback <= std::max(1U, of.schedule->extent().window));
  }
}

/// Runs the schedule row by row. Returns whether the causes of every half were met when its row
/// ran.
bool runs_by_rows(const Schedule& schedule) {
  Progress progress(schedule);
  std::vector<HalfRef> ready;
  for (uint32_t n = 0; n < schedule.extent().ranks(); ++n)
    progress.enter(Node(n), ready);
  std::vector<std::vector<StepRef>> rows;
  for_each_step(schedule, [&](StepRef ref, const Step&) {
    rows.resize(std::max<size_t>(rows.size(), ref.index + 1));
    rows[ref.index].push_back(ref);
  });
  for (const std::vector<StepRef>& row : rows) {
    for (const Half half : {Half::Receive, Half::Send}) {
      for (const StepRef ref : row) {
        const auto at = std::find_if(ready.begin(), ready.end(), [&](const HalfRef& candidate) {
          return candidate.step == ref && candidate.half == half;
        });
        if (at == ready.end())
          return false;
        const HalfRef next = *at;
        ready.erase(at);
        progress.retire(next, schedule.step(next.step), ready);
      }
    }
  }
  return true;
}

TEST_CASE("derived: a lockstep schedule can run row by row, receive halves before send halves") {
  size_t lockstep = 0;
  for (const Named& of : all_schedules()) {
    if (!of.schedule->extent().lockstep)
      continue;
    CAPTURE(of.name);
    ++lockstep;
    CHECK(runs_by_rows(*of.schedule));
  }
  CHECK(lockstep > tries(400));  // most of them are
}

/// Returns the largest distance from the last step that a channel began back to a step that a cause
/// names. The run prefers the channels of `favoured` whenever it can.
uint32_t window_needed(const Schedule& schedule, Node favoured) {
  const Extent& extent = schedule.extent();
  Progress progress(schedule);
  std::vector<HalfRef> became_ready;
  std::deque<HalfRef> of_favoured, of_others;
  const auto sort = [&] {
    for (const HalfRef& half : std::exchange(became_ready, {}))
      (half.step.node == favoured ? of_favoured : of_others).push_back(half);
  };
  std::vector<uint32_t> begun(extent.all_channels());  // the last step that each channel began
  for (uint32_t n = 0; n < extent.ranks(); ++n)
    progress.enter(Node(n), became_ready);
  sort();
  uint32_t needed = 0;
  while (!of_favoured.empty() || !of_others.empty()) {
    std::deque<HalfRef>& ready = of_favoured.empty() ? of_others : of_favoured;
    const HalfRef half = ready.front();
    ready.pop_front();
    begun[extent.number_of(half.step.node, half.step.channel)] = half.step.index;
    for_each_cause(
        schedule, extent, half.step, half.half, schedule.step(half.step), [&](const Cause& cause) {
          const uint32_t now = begun[extent.number_of(cause.step.node, cause.step.channel)];
          if (cause.kind != CauseKind::Enter && now > cause.step.index)
            needed = std::max(needed, now - cause.step.index);
          return true;
        });
    progress.retire(half, schedule.step(half.step), became_ready);
    sort();
  }
  return needed;
}

TEST_CASE("derived: causes name steps within the window only") {
  for (const Named& of : all_schedules()) {
    CAPTURE(of.name);
    const Extent& extent = of.schedule->extent();
    uint32_t longest = 0;
    for (size_t c = 0; c < extent.all_channels(); ++c)
      longest = std::max(longest, of.schedule->steps(extent.node_of(c), extent.channel_of(c)));
    if (longest <= extent.window + 1)
      continue;  // no two steps of a channel are further apart
    for (uint32_t n = 0; n < extent.nodes; ++n)
      REQUIRE(window_needed(*of.schedule, Node(n)) <= of.schedule->extent().window);
  }
}

}  // namespace
}  // namespace orrery::test
