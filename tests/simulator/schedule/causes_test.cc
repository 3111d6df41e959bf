#include "simulator/schedule/causes.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "simulator/algorithm/in_switch.h"
#include "simulator/algorithm/pairwise.h"
#include "simulator/algorithm/ring.h"
#include "simulator/schedule/stored_schedule.h"

namespace orrery {
namespace {

std::string text(const Cause& cause) {
  const char* const kinds[] = {"enter", "order", "after", "message", "credit"};
  if (cause.kind == CauseKind::Enter)
    return fmt::format("enter {}", cause.step.node.index());
  return fmt::format("{} {}.{}.{}{}", kinds[static_cast<size_t>(cause.kind)],
                     cause.step.node.index(), cause.step.channel.index(), cause.step.index,
                     cause.half == Half::Receive ? "R" : "S");
}

/// Returns "order 0.0.1S, message 2.0.1S": the kind, then node.channel.step and the half.
std::string causes(const Schedule& schedule, StepRef ref, Half half) {
  std::string result;
  for_each_cause(schedule, schedule.extent(), ref, half, schedule.step(ref),
                 [&](const Cause& cause) {
                   result += (result.empty() ? "" : ", ") + text(cause);
                   return true;
                 });
  return result;
}

TEST_CASE("causes: a switch node has no entry, and who sends to it waits for none") {
  // This is a broadcast from rank 0 to rank 1 over switch node 2. The switch takes the data on
  // channel 0, and passes them to its port, channel 1, which sends to rank 1.
  Transport rendezvous;
  rendezvous.entry = Entry::Rendezvous;
  const InSwitchSchedule cast(InSwitchSchedule::Form::Broadcast, 2, 4, Combine::None, Node(0),
                              rendezvous);
  const auto at = [](uint32_t node, uint32_t channel) {
    return StepRef{Node(node), Channel(channel), 0};
  };
  CHECK(causes(cast, at(0, 0), Half::Receive) == "enter 0");
  CHECK(causes(cast, at(0, 0), Half::Send) == "order 0.0.0R");
  CHECK(causes(cast, at(2, 0), Half::Receive) == "message 0.0.0S");
  CHECK(causes(cast, at(2, 0), Half::Send) == "order 2.0.0R");
  CHECK(causes(cast, at(2, 1), Half::Receive) == "message 2.0.0S");
  CHECK(causes(cast, at(2, 1), Half::Send) == "order 2.1.0R, enter 1");
  CHECK(causes(cast, at(1, 0), Half::Receive) == "enter 1, message 2.1.0S");
}

TEST_CASE("causes: every half of a ring all-reduce over three ranks") {
  // The steps of a rank are s, rrs, rrcs, rcs, r. Rank 0 receives from 2 and sends to 1; the
  // message of step i arrives in step i + 1. There are two slots. The message of step 2 takes the
  // slot of the message that rank 1 took in its step 1 (an rrs, which frees the slot once it has
  // sent). The message of step 3 takes the slot used in step 2 (an rrcs, which frees it once it has
  // stored).
  const RingSchedule ring(RingSchedule::Form::AllReduce, 3, 6, Combine::Add, {});
  struct Row {
    uint32_t step;
    Half half;
    const char* expected;
  };
  const Row table[] = {
      {0, Half::Receive, "enter 0"},
      {0, Half::Send, "order 0.0.0R"},
      {1, Half::Receive, "order 0.0.0S, message 2.0.0S"},
      {1, Half::Send, "order 0.0.1R"},
      {2, Half::Receive, "order 0.0.1S, message 2.0.1S"},
      {2, Half::Send, "order 0.0.2R, credit 1.0.1S"},
      {3, Half::Receive, "order 0.0.2S, message 2.0.2S"},
      {3, Half::Send, "order 0.0.3R, credit 1.0.2R"},
      {4, Half::Receive, "order 0.0.3S, message 2.0.3S"},
      {4, Half::Send, "order 0.0.4R"},
  };
  for (const Row& row : table) {
    CAPTURE(row.step);
    CHECK(causes(ring, {Node(0), Channel(0), row.step}, row.half) == row.expected);
  }
}

TEST_CASE("causes: with rendezvous a send waits for the receiver's entry, and nothing else") {
  Transport transport;
  transport.entry = Entry::Rendezvous;
  const RingSchedule ring(RingSchedule::Form::AllGather, 2, 2, Combine::None, transport);
  CHECK(causes(ring, {Node(1), Channel(0), 0}, Half::Send) == "order 1.0.0R, enter 0");
  CHECK(causes(ring, {Node(1), Channel(0), 1}, Half::Send) == "order 1.0.1R");
}

TEST_CASE("causes: with rendezvous each turn of an exchange waits for the entry of its receiver") {
  Transport transport;
  transport.entry = Entry::Rendezvous;
  const PairwiseSchedule turns(3, 2, transport);
  CHECK(causes(turns, {Node(0), Channel(0), 1}, Half::Send) == "order 0.0.1R, enter 1");
  CHECK(causes(turns, {Node(0), Channel(0), 3}, Half::Send) == "order 0.0.3R, enter 2");
}

TEST_CASE("causes: a step may wait for the end of a step on another channel") {
  Step copy;
  copy.source = Slice{Area::Input, 0, 1};
  copy.target = Slice{Area::Output, 0, 1};
  Step later = copy;
  later.after = StepRef{Node(0), Channel(0), 0};
  const StoredSchedule stored({}, {{{copy}, {copy, later}}}, {});
  CHECK(causes(stored, {Node(0), Channel(1), 1}, Half::Receive) == "order 0.1.0S, after 0.0.0S");
}

TEST_CASE("causes: the enumeration stops where the visitor says so") {
  const RingSchedule ring(RingSchedule::Form::AllReduce, 3, 6, Combine::Add, {});
  const StepRef ref{Node(0), Channel(0), 3};
  int seen = 0;
  const bool all = for_each_cause(ring, ring.extent(), ref, Half::Send, ring.step(ref),
                                  [&](const Cause&) { return ++seen < 1; });
  CHECK_FALSE(all);
  CHECK(seen == 1);
}

}  // namespace
}  // namespace orrery
