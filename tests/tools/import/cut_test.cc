// Schedules whose messages are cut: the computed one against the same steps written out.

#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "simulator/schedule/walk.h"
#include "tests/support/property.h"
#include "tests/tools/import/xml.h"
#include "tools/import/cut_schedule.h"
#include "tools/import/message_pieces.h"
#include "tools/import/placement.h"

namespace orrery::test {
namespace {

using Message = StoredSchedule::Message;

StepRef later(StepRef ref, const StoredSteps& steps, uint32_t iteration) {
  const auto length = static_cast<uint32_t>(steps[ref.node.index()][ref.channel.index()].size());
  ref.index += iteration * length;
  return ref;
}

/// All iterations one after another, stored step by step.
StoredSchedule written_out(const Extent& areas, const StoredSteps& steps,
                           const std::vector<Message>& messages, int64_t chunk, int64_t stretch) {
  const auto iterations = static_cast<uint32_t>((chunk + stretch - 1) / stretch);
  StoredSteps all(steps.size());
  for (size_t n = 0; n < steps.size(); ++n) {
    all[n].resize(steps[n].size());
    for (size_t c = 0; c < steps[n].size(); ++c) {
      for (uint32_t i = 0; i < iterations; ++i) {
        for (Step step : steps[n][c]) {
          for (std::optional<Slice>* const slice : {&step.source, &step.target}) {
            if (!*slice)
              continue;
            const int64_t begin = i * stretch;
            const int64_t end = std::min(chunk, begin + stretch);
            (*slice)->first = (*slice)->first * chunk + begin;
            (*slice)->count = ((*slice)->count - 1) * chunk + end - begin;
          }
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
  Extent extent = areas;
  extent.input *= chunk;
  extent.output *= chunk;
  extent.scratch *= chunk;
  return {extent, all, repeated};
}

std::vector<Sent> receivers(const Schedule& schedule, Node node, Channel channel) {
  std::vector<Sent> all;
  schedule.for_each_receiver(node, channel, [&](const Sent& sent) { all.push_back(sent); });
  return all;
}

bool ends(const Schedule& schedule) {
  NoVisitor visitor;
  return walk(schedule, visitor).empty();
}

/// A ring all-gather, some of whose own chunks are sent later than others.
MscclAlgorithm random_ring() {
  const int gpus = *rc::gen::inRange(2, 5);
  const int own = *rc::gen::inRange(1, 4);
  MscclAlgorithm algorithm = read_msccl(ring_gather(gpus, own).text(), "a.xml");
  return algorithm;
}

TEST_CASE("cut schedules: as the same iterations written out") {
  holds_for_all("random rings, slots and sizes", [] {
    const MscclAlgorithm algorithm = random_ring();
    const auto slots = static_cast<uint32_t>(*rc::gen::inRange(1, 6));
    const auto chunk = *rc::gen::inRange<int64_t>(1, 12);
    const auto stretch = *rc::gen::inRange<int64_t>(1, 5);
    const Extent areas = areas_of(algorithm, Placement::OutOfPlace, slots);
    const StoredSteps steps = placed_steps(algorithm, Placement::OutOfPlace);
    const CutSchedule cut(areas, steps, algorithm.messages, chunk, stretch);
    const StoredSchedule stored = written_out(areas, steps, algorithm.messages, chunk, stretch);
    RC_ASSERT(cut.extent().window == stored.extent().window);
    RC_ASSERT(cut.extent().input == stored.extent().input);
    RC_ASSERT(cut.extent().output == stored.extent().output);
    RC_ASSERT(cut.extent().copies == stored.extent().copies);
    for (uint32_t n = 0; n < stored.extent().nodes; ++n) {
      for (uint32_t c = 0; c < stored.extent().channels; ++c) {
        RC_ASSERT(cut.steps(Node(n), Channel(c)) == stored.steps(Node(n), Channel(c)));
        RC_ASSERT(receivers(cut, Node(n), Channel(c)) == receivers(stored, Node(n), Channel(c)));
        for (uint32_t i = 0; i < stored.steps(Node(n), Channel(c)); ++i) {
          const StepRef ref{Node(n), Channel(c), i};
          const Step a = cut.step(ref);
          const Step b = stored.step(ref);
          RC_ASSERT(a.source == b.source);
          RC_ASSERT(a.target == b.target);
          RC_ASSERT(a.after == b.after);
          RC_ASSERT(a.from == b.from);
          RC_ASSERT(a.to == b.to);
          if (a.from)
            RC_ASSERT(cut.peer(ref, Half::Receive) == stored.peer(ref, Half::Receive));
          if (!a.to)
            continue;
          RC_ASSERT(cut.peer(ref, Half::Send) == stored.peer(ref, Half::Send));
          RC_ASSERT(cut.takes_slot_of(ref) == stored.takes_slot_of(ref));
        }
      }
    }
    // What waits for each other is within one iteration.
    RC_ASSERT(ends(cut) == ends(CutSchedule(areas, steps, algorithm.messages, 1, 1)));
  });
}

TEST_CASE("cut schedules: a step of several chunks becomes pieces, and its messages with it") {
  Step send;
  send.to = Node(1);
  send.source = Slice{Area::Input, 4, 5};
  Step receive;
  receive.from = Node(0);
  receive.target = Slice{Area::Output, 0, 5};
  Step copy;
  copy.source = Slice{Area::Output, 0, 1};
  copy.target = Slice{Area::Scratch, 0, 1};
  copy.after = StepRef{Node(1), Channel(0), 0};
  const StoredSteps steps = {{{send}}, {{receive}, {copy}}};
  const CutSteps cut = cut_steps(steps, {{{Node(0), Channel(0), 0}, {Node(1), Channel(0), 0}}}, 2);
  CHECK(count_pieces(steps, 2) == 7);
  REQUIRE(cut.steps[0][0].size() == 3);
  CHECK(cut.steps[0][0][0].source == Slice{Area::Input, 4, 2});
  CHECK(cut.steps[0][0][1].source == Slice{Area::Input, 6, 2});
  CHECK(cut.steps[0][0][2].source == Slice{Area::Input, 8, 1});
  CHECK(cut.steps[1][0][2].target == Slice{Area::Output, 4, 1});
  CHECK(cut.steps[1][1][0].after == StepRef{Node(1), Channel(0), 2});  // the last piece
  CHECK(cut.whole({Node(1), Channel(0), 2}) == StepRef{Node(1), Channel(0), 0});
  REQUIRE(cut.messages.size() == 3);
  CHECK(cut.messages[2].send == StepRef{Node(0), Channel(0), 2});
  CHECK(cut.messages[2].receive == StepRef{Node(1), Channel(0), 2});
}

TEST_CASE("cut schedules: only the first piece of a step waits") {
  Step copy;
  copy.source = Slice{Area::Input, 0, 3};
  copy.target = Slice{Area::Output, 0, 3};
  Step later = copy;
  later.after = StepRef{Node(0), Channel(0), 0};
  const CutSteps cut = cut_steps({{{copy}, {later}}}, {}, 1);
  CHECK(cut.steps[0][1][0].after == StepRef{Node(0), Channel(0), 2});
  CHECK_FALSE(cut.steps[0][1][1].after.has_value());
}

}  // namespace
}  // namespace orrery::test
