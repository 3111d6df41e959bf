// Tests algorithms whose messages are cut to slots.

#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/import/xml.h"
#include "tools/import/msccl_schedule.h"

namespace orrery::test {
namespace {

TEST_CASE("cut schedules: in elements, each slice is a chunk times as large, or a stretch of it") {
  const MscclAlgorithm algorithm = read_msccl(ring_gather(3, 1).text(), "a.xml");
  const Extent areas = areas_of(algorithm, MscclPlacement::OutOfPlace, 2);
  const StoredSteps steps = placed_steps(algorithm, MscclPlacement::OutOfPlace);
  const CutSteps cut = cut_steps(steps, algorithm.messages, 1);
  const auto whole = in_elements(areas, cut, 10, 10);
  CHECK(whole->extent().input == areas.input * 10);
  CHECK(whole->extent().output == areas.output * 10);
  const StepRef second{Node(0), Channel(0), 1};
  const Slice chunk = *steps[0][0][1].target;
  CHECK(whole->steps(Node(0), Channel(0)) == steps[0][0].size());
  CHECK(whole->step(second).target == Slice{chunk.area, chunk.first * 10, 10});
  // The pieces are 10 = 4 + 4 + 2.
  const auto stretches = in_elements(areas, cut, 10, 4);
  const auto length = static_cast<uint32_t>(steps[0][0].size());
  CHECK(stretches->steps(Node(0), Channel(0)) == 3 * length);
  CHECK(stretches->step({Node(0), Channel(0), 2 * length + 1}).target ==
        Slice{chunk.area, chunk.first * 10 + 8, 2});
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
