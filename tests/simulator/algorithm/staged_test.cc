// Tests schedules along the axes of a group by interpreting their steps (interpreter.h).

#include "simulator/algorithm/staged.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/fabric/fabric.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/algorithm/hierarchical.h"
#include "tests/simulator/algorithm/any_transport.h"
#include "tests/simulator/algorithm/form.h"
#include "tests/simulator/algorithm/interpreter.h"
#include "tests/support/property.h"

namespace orrery::test {
namespace {

/// A grid with lanes in random orders of the axes, and the algorithms of a form that fits.
struct Drawn {
  StagedForm form;
  uint32_t ranks = 1;
  bool is_cut = false;

  std::unique_ptr<const Schedule> make() const {
    auto made = std::make_unique<const StagedSchedule>(form);
    if (!is_cut || made->largest_message() < 2)
      return made;
    return cut(std::move(made), 2);
  }
};

Drawn draw(StageForm form, int64_t part) {
  Drawn drawn;
  const bool exchanges = form == StageForm::AllToAll;
  const auto axes = exchanges ? 2U : in_range(1U, 4U);
  for (uint32_t a = 0; a < axes; ++a) {
    drawn.form.sizes.push_back(in_range(2U, axes > 2 ? 4U : 7U));
    drawn.ranks *= drawn.form.sizes.back();
  }
  drawn.form.form = form;
  drawn.form.transport = any_transport();
  drawn.form.pieces = in_range(1U, 4U);
  drawn.form.transport.slots = drawn.form.pieces * in_range(2U, 5U);  // a ring with one slot hangs
  drawn.form.count = form == StageForm::AllReduce ? part : drawn.ranks * part;
  const bool reduces = form == StageForm::AllReduce || form == StageForm::ReduceScatter;
  drawn.form.combine = reduces ? Combine::Add : Combine::None;
  const auto lanes = in_range(1U, 4U);
  for (uint32_t l = 0; l < lanes; ++l) {
    StagedLane& lane = drawn.form.lanes.emplace_back();
    lane.axes.resize(axes);
    std::iota(lane.axes.begin(), lane.axes.end(), 0U);
    std::rotate(lane.axes.begin(), lane.axes.begin() + in_range(0U, axes), lane.axes.end());
    lane.goes_back = in_range(0, 2) == 1;
  }
  for (uint32_t a = 0; a < axes; ++a)
    drawn.form.algorithms.push_back(exchanges ? kDirectPart.line : kRingPart.line);
  if (!exchanges && in_range(0, 2) == 1) {
    // Trees and halving serve the last axis of all lanes, and a switch the others.
    for (StagedLane& lane : drawn.form.lanes)
      lane = {drawn.form.lanes.front().axes};
    const uint32_t last = drawn.form.lanes.front().axes.back();
    const auto pick = in_range(0, 4);
    for (LineAlgorithm& algorithm : drawn.form.algorithms)
      algorithm = kInSwitchPart.line;
    if (form == StageForm::AllReduce)
      drawn.form.algorithms[last] = pick == 0   ? kTreePart.line
                                    : pick == 1 ? kHalvingPart.line
                                    : pick == 2 ? kNetworkSwitchPart.line
                                                : kInSwitchPart.line;
  } else if (form == StageForm::AllReduce) {
    drawn.form.whole_parts = drawn.form.pieces == 1 && in_range(0, 2) == 1;
  }
  drawn.is_cut = !drawn.form.whole_parts && in_range(0, 2) == 1;
  return drawn;
}

TEST_CASE("staged: every rank gets the sum, on any grid, whole and cut") {
  holds_for_all("sum", [] {
    const Drawn drawn = draw(StageForm::AllReduce, in_range<int64_t>(0, 301));
    const auto data = inputs(drawn.ranks, drawn.form.count);
    const Moved moved = move_data(*drawn.make(), data);
    RC_ASSERT(moved.error == "");
    for (uint32_t r = 0; r < drawn.ranks; ++r)
      RC_ASSERT(moved.outputs[r] == sum(data));
  });
}

TEST_CASE("staged: each rank gets its part of the sum, on any grid, whole and cut") {
  holds_for_all("scatter", [] {
    const auto part = in_range<int64_t>(0, 9);
    const Drawn drawn = draw(StageForm::ReduceScatter, part);
    const auto data = inputs(drawn.ranks, drawn.form.count);
    const Moved moved = move_data(*drawn.make(), data);
    RC_ASSERT(moved.error == "");
    const Elements all = sum(data);
    for (uint32_t r = 0; r < drawn.ranks; ++r)
      RC_ASSERT(moved.outputs[r] == Elements(all.begin() + r * part, all.begin() + (r + 1) * part));
  });
}

TEST_CASE("staged: every rank gets all parts, on any grid, whole and cut") {
  holds_for_all("gather", [] {
    const auto part = in_range<int64_t>(0, 9);
    const Drawn drawn = draw(StageForm::AllGather, part);
    const auto data = inputs(drawn.ranks, part);
    Elements all;
    for (const Elements& own : data)
      all.insert(all.end(), own.begin(), own.end());
    const Moved moved = move_data(*drawn.make(), data);
    RC_ASSERT(moved.error == "");
    for (uint32_t r = 0; r < drawn.ranks; ++r)
      RC_ASSERT(moved.outputs[r] == all);
  });
}

TEST_CASE("staged: each rank gets its part of every other, on any nodes, whole and cut") {
  holds_for_all("exchange", [] {
    const auto part = in_range<int64_t>(0, 9);
    const Drawn drawn = draw(StageForm::AllToAll, part);
    const auto data = inputs(drawn.ranks, drawn.form.count);
    const Moved moved = move_data(*drawn.make(), data);
    RC_ASSERT(moved.error == "");
    for (uint32_t r = 0; r < drawn.ranks; ++r)
      for (uint32_t from = 0; from < drawn.ranks; ++from)
        for (int64_t e = 0; e < part; ++e)
          RC_ASSERT(moved.outputs[r][static_cast<size_t>(from * part + e)] ==
                    data[from][static_cast<size_t>(r * part + e)]);
  });
}

TEST_CASE("staged: messages, slots and window meet what walkers require, whole and cut") {
  holds_for_all("form", [](uint64_t seed) {
    const StageForm form = std::array{StageForm::AllReduce, StageForm::ReduceScatter,
                                      StageForm::AllGather, StageForm::AllToAll}[in_range(0U, 4U)];
    const Drawn drawn = draw(form, in_range<int64_t>(1, 7));
    RC_ASSERT(error_in_form(*drawn.make(), seed) == "");
  });
}

TEST_CASE("staged: switches in nodes and outside have their switch nodes, and each NIC a part") {
  constexpr LinkFigures kAny{BytesPerSecond(1'000'000'000), Duration(0)};
  const auto inside =
      std::make_shared<const Tree>(std::vector{TreeLevel{2, 1, 1, kAny}});  // 2 devices
  const auto outside = std::make_shared<const Tree>(std::vector{TreeLevel{3, 1, 1, kAny}}, 2);
  const Fabric nodes(
      std::make_shared<const Nodes>(NodesForm{3, inside, 2, outside, true, true, kAny}));
  std::vector<VertexId> ranks;
  for (uint32_t rank = 0; rank < 6; ++rank)
    ranks.emplace_back(rank);
  std::vector<VertexId> switches;
  for (uint32_t v = 6; v < nodes.vertices(); ++v)
    switches.emplace_back(v);
  const Fabric reducing = nodes.with_reduction(switches);
  ScheduleRequest request;
  request.nodes = 6;
  request.elements = 36;
  request.layout.together = 2;
  for (const bool in_nodes : {true, false}) {
    const Algorithm& algorithm = *std::ranges::find(
        algorithms(), in_nodes ? "in_switch+in_switch" : "ring+in_switch", &Algorithm::name);
    const PlacedGroup group{reducing, ranks, 1, request.layout};
    CHECK(algorithm.misfit({nodes, ranks, 1, request.layout}));
    REQUIRE_FALSE(algorithm.misfit(group));
    const auto schedule = algorithm.make(request);
    const SharedList<VertexId> at = vertices_of_nodes(algorithm, *schedule, group);
    std::map<std::pair<VertexId, VertexId>, int64_t> sent;
    for (uint32_t n = 0; n < schedule->extent().nodes; ++n)
      for (uint32_t c = 0; c < schedule->extent().channels; ++c)
        schedule->for_each_receiver(Node(n), Channel(c), [&](const Sent& each) {
          if (at[n] != at[each.to.index()])
            sent[{at[n], at[each.to.index()]}] += each.elements;
        });
    for (const VertexId rank : ranks) {
      const VertexId node_switch =
          *reducing_switch({reducing, std::vector{rank, ranks[rank.index() ^ 1U]}});
      const VertexId rail =
          *reducing_switch({reducing, std::vector{rank, ranks[(rank.index() + 2) % 6]}});
      CHECK(node_switch != rail);
      // Half of the data goes to the rail and comes back.
      CHECK(sent[{rank, rail}] == 18);
      CHECK(sent[{rail, rank}] == 18);
      // The switch in the node gets all of the data to scatter it, and a rank's half to gather it.
      if (in_nodes)
        CHECK(sent[{rank, node_switch}] == 36 + 18);
    }
    CHECK(sent.size() == (in_nodes ? 24U : 18U));
  }
}

}  // namespace
}  // namespace orrery::test
