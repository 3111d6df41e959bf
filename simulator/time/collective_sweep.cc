#include "simulator/time/collective_sweep.h"

#include "simulator/algorithm/ring.h"

namespace orrery {

std::optional<CollectiveTimes> sweep_collective(const Schedule& schedule,
                                                const SweptCollective& of) {
  if (const auto* ring = dynamic_cast<const RingSchedule*>(&schedule))
    return sweep_as(*ring, of);
  if (const auto* cut_ring = dynamic_cast<const SlicedOver<RingSchedule>*>(&schedule))
    return sweep_as(*cut_ring, of);
  return sweep_as(schedule, of);
}

}  // namespace orrery
