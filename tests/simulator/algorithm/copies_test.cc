#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/rules.h"
#include "simulator/algorithm/algorithms.h"

namespace orrery {
namespace {

bool has_copy(const Schedule& schedule) {
  const Extent& extent = schedule.extent();
  for (uint32_t n = 0; n < extent.nodes; ++n)
    for (uint32_t c = 0; c < extent.channels; ++c)
      for (uint32_t i = 0; i < schedule.steps(Node(n), Channel(c)); ++i)
        if (timed_actions(schedule.step({Node(n), Channel(c), i}).form(), Half::Receive).copies)
          return true;
  return false;
}

TEST_CASE("algorithms: Extent::copies is set exactly where a step copies inside a device") {
  for (const Algorithm& algorithm : algorithms()) {
    for (const OpKind kind : algorithm.kinds) {
      for (uint32_t nodes = 1; nodes <= 9; ++nodes) {
        for (const uint32_t turn : {0U, 1U}) {  // the identity permutation, and one that moves all
          ScheduleRequest request;
          request.kind = kind;
          request.nodes = nodes;
          request.elements = int64_t{nodes} * 2;
          for (uint32_t rank = 0; rank < nodes; ++rank)
            request.pairs.push_back({Node(rank), Node((rank + turn) % nodes)});
          const auto schedule = algorithm.make(request);
          INFO(fmt::format("{} for {} over {} ranks", algorithm.name, rules(kind).name, nodes));
          CHECK(schedule->extent().copies == has_copy(*schedule));
        }
      }
    }
  }
}

}  // namespace
}  // namespace orrery
