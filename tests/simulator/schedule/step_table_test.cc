// Tests that a StepTable keeps the entries that can still matter apart, and no more of them.

#include "simulator/schedule/step_table.h"

#include <doctest/doctest.h>

namespace orrery {
namespace {

enum class Lengths : uint8_t { Equal, Unequal };

/// Two nodes with three channels. Each channel has `steps` steps. If they are unequal, channel c of
/// node n has n + 5 c steps fewer.
class SixChannels final : public Schedule {
 public:
  SixChannels(uint32_t window, uint32_t steps, Lengths lengths) : steps_(steps), lengths_(lengths) {
    extent_.nodes = 2;
    extent_.channels = 3;
    extent_.window = window;
  }
  const Extent& extent() const override { return extent_; }
  uint32_t steps(Node node, Channel channel) const override {
    return lengths_ == Lengths::Equal ? steps_ : steps_ - node.index() - 5 * channel.index();
  }
  Step step(StepRef /*ref*/) const override { return {}; }
  StepRef peer(StepRef ref, Half /*half*/) const override { return ref; }

 private:
  Extent extent_;
  uint32_t steps_;
  Lengths lengths_;
};

/// Calls visit(StepRef, number of the step) for the last `most` steps of each channel, in order.
template <class Visit>
void for_each_of_last(const Schedule& schedule, uint32_t most, Visit&& visit) {
  for (uint32_t n = 0; n < 2; ++n)
    for (uint32_t c = 0; c < 3; ++c) {
      const uint32_t steps = schedule.steps(Node(n), Channel(c));
      for (uint32_t i = steps - std::min(steps, most); i < steps; ++i)
        visit(StepRef{Node(n), Channel(c), i}, 1000 * n + 100 * c + i);
    }
}

TEST_CASE(
    "step table: the current step of a channel and the window before it have entries of their "
    "own") {
  for (const Lengths lengths : {Lengths::Equal, Lengths::Unequal})
    for (const uint32_t steps : {13U, 40U})
      for (const uint32_t window : {0U, 1U, 2U, 3U, 4U, 7U, 8U, 9U, 12U, 13U, 40U, 41U}) {
        CAPTURE(lengths == Lengths::Equal);
        CAPTURE(steps);
        CAPTURE(window);
        const SixChannels schedule(window, steps, lengths);
        StepTable<uint32_t> table(schedule, 0);
        for_each_of_last(schedule, steps,
                         [&](StepRef ref, uint32_t number) { table.at(ref) = number; });
        for_each_of_last(schedule, window + 1,
                         [&](StepRef ref, uint32_t number) { CHECK(table.at(ref) == number); });
      }
}

TEST_CASE("step table: entries move to later steps of their channel, those of others stay") {
  const auto check = [](uint32_t window, Lengths lengths) {
    CAPTURE(window);
    CAPTURE(lengths == Lengths::Equal);
    const SixChannels schedule(window, 40, lengths);
    StepTable<uint32_t> table(schedule, 0);
    for (uint32_t n = 0; n < 2; ++n)
      for (uint32_t c = 0; c < 3; ++c)
        for (uint32_t i = 6; i < 10; ++i)
          table.at({Node(n), Channel(c), i}) = 1000 * n + 100 * c + i;
    table.move({Node(1), Channel(1), 9}, 15);
    for (uint32_t i = 6; i < 10; ++i) {
      CHECK(table.at({Node(1), Channel(1), i + 15}) == 1100 + i);
      CHECK(table.at({Node(1), Channel(0), i}) == 1000 + i);
      CHECK(table.at({Node(1), Channel(2), i}) == 1200 + i);
      CHECK(table.at({Node(0), Channel(1), i}) == 100 + i);
    }
  };
  for (const uint32_t window : {3U, 40U}) {
    check(window, Lengths::Equal);
    check(window, Lengths::Unequal);
  }
}

TEST_CASE("step table: memory is that of the window, or that of the steps if all fit the window") {
  // A window of 12 takes 16 entries in each of 6 channels.
  const auto bytes = [](uint32_t window, Lengths lengths) {
    return StepTable<uint32_t>::bytes(SixChannels(window, 13, lengths));
  };
  CHECK(bytes(12, Lengths::Unequal) == 6 * 16 * 4);
  CHECK(bytes(12, Lengths::Equal) == 6 * 16 * 4);
  // 2 x (13 + 8 + 3) - 3 steps, and where each channel begins.
  CHECK(bytes(13, Lengths::Unequal) == 6 * 8 + 45 * 4);
  CHECK(bytes(13, Lengths::Equal) == 6 * 13 * 4);
}

}  // namespace
}  // namespace orrery
