#include "simulator/algorithm/concrete.h"
#include "simulator/time/collective_sweep.h"

namespace orrery {

std::optional<CollectiveTimes> sweep_whole(const Schedule& schedule, const SweptCollective& of) {
  return with_algorithm(schedule, [&](const auto& as) { return sweep_as(as, of); });
}

}  // namespace orrery
