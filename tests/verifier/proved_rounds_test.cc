// Proves the algorithms that go in rounds or over trees for 1 to 33 ranks. A proof also says that
// no two steps race.

#include <memory>
#include <set>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/rules.h"
#include "simulator/algorithm/algorithms.h"
#include "tests/simulator/algorithm/cut_made.h"
#include "tests/simulator/algorithm/some_op.h"
#include "tests/support/tries.h"
#include "verifier/prove/prove.h"

namespace orrery::test {
namespace {

/// Returns an op whose operand is a row of elements, divided over the group where ranks have parts.
Op op_over(OpKind kind, uint32_t nodes) {
  Op op = some_op(kind, nodes);
  for (const char* const dimension : {"axis", "scatter_dimension", "split_axis", "concat_axis"})
    op.attributes.set(dimension, int64_t{0});
  op.attributes.set("tiled", true);
  return op;
}

TEST_CASE("rounds, trees and stages: proved for 1 to 33 ranks, whole and cut") {
  uint64_t seed = 0;
  std::set<std::string_view> found;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.considered_on == nullptr && algorithm.is_for_topology == nullptr)
      continue;
    found.insert(algorithm.name);
    for (const OpKind kind : algorithm.kinds)
      for (uint32_t nodes = 1; nodes <= 33; ++nodes)
        for (const uint32_t channels : {1U, 2U})
          for (const int64_t part : {0, 1, 5})
            for (const int64_t largest : {0, 3}) {
              if (!is_tried(++seed) ||
                  (algorithm.is_for_topology != nullptr && (seed % 7 != 0 || nodes > 20)))
                continue;  // stages take long
              Transport transport;
              transport.channels = channels;
              transport.slots = 1 + nodes % 2;
              if (algorithm.is_for_topology != nullptr)
                transport.slots += 1;  // a ring with one slot hangs
              transport.entry = nodes % 3 == 0 ? Entry::Rendezvous : Entry::Eager;
              // An operand with a part for each rank divides evenly, and others need not.
              const bool has_parts = kind == OpKind::PsumScatter || kind == OpKind::AllToAll ||
                                     kind == OpKind::Pswapaxes;
              const int64_t elements = has_parts ? nodes * part : 2 * part + 1;
              const Op op = op_over(kind, nodes);
              const Shape operand =
                  kind == OpKind::Pswapaxes ? Shape{nodes, part} : Shape{elements};
              ScheduleRequest request = schedule_request(op, nodes, elements, transport);
              request.layout = some_layout(nodes);
              if (algorithm.is_for_topology == nullptr)
                request.layout.together = 1 + static_cast<uint32_t>(part);
              else if (part == 1)
                request.layout.together = nodes / request.layout.together;
              auto schedule = algorithm.make(request);
              if (largest > 0 && schedule->largest_message() > largest)
                schedule = cut_made(algorithm, request, largest);
              INFO(fmt::format("{} for {} over {} ranks, {} elements, {} channels, messages of {}",
                               algorithm.name, rules(kind).name, nodes, elements, channels,
                               largest));
              const Extent& extent = schedule->extent();
              const Proof proof =
                  prove(trace(*schedule, whole_areas(extent)),
                        {View::whole(extent.input), View::whole(extent.output)},
                        [&](Rank rank) { return define(op, operand, nodes, rank); });
              CHECK_MESSAGE(proof.holds, proof.why_not);
            }
  }
  CHECK(found == std::set<std::string_view>{"bruck", "direct+direct", "halving_doubling",
                                            "in_switch+halving_doubling", "in_switch+in_switch",
                                            "in_switch+ring", "in_switch+tree", "pat",
                                            "ring+in_switch", "ring+ring", "ring+tree", "torus",
                                            "torus_pipelined", "tree"});
}

}  // namespace
}  // namespace orrery::test
