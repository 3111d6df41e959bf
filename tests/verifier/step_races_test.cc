// The computed algorithms have no races by construction. Here the check for imported schedules runs
// on them, and on a schedule with a race.

#include "verifier/check/step_races.h"

#include <memory>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/rules.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/schedule/stored_schedule.h"
#include "tests/simulator/algorithm/some_op.h"

namespace orrery {
namespace {

TEST_CASE("no algorithm has two unordered steps that touch the same elements") {
  for (const Algorithm& algorithm : algorithms()) {
    for (const OpKind kind : algorithm.kinds) {
      for (uint32_t nodes = 1; nodes <= 17; ++nodes) {
        for (uint32_t channels = 1; channels <= 3; ++channels) {
          const Op op = test::some_op(kind, nodes);
          Transport transport;
          transport.channels = channels;
          const std::unique_ptr<const Schedule> schedule =
              algorithm.make(schedule_request(op, nodes, int64_t{nodes} * 4, transport));
          const Answer verdict = step_races(*schedule);
          INFO(fmt::format("{} for {} over {} ranks, {} channels: {}", algorithm.name,
                           rules(kind).name, nodes, channels, verdict.witness));
          CHECK(verdict.holds);
        }
      }
    }
  }
}

TEST_CASE("two channels that store to the same element in no order are a race") {
  Step copy;
  copy.source = Slice{Area::Input, 0, 1};
  copy.target = Slice{Area::Output, 0, 1};
  Extent extent;
  extent.input = 1;
  extent.output = 1;
  const StoredSchedule racy(extent, {{{copy}, {copy}}}, {});
  CHECK_FALSE(step_races(racy).holds);
  Step after = copy;
  after.after = StepRef{Node(0), Channel(0), 0};
  const StoredSchedule ordered(extent, {{{copy}, {after}}}, {});
  CHECK(step_races(ordered).holds);
}

}  // namespace
}  // namespace orrery
