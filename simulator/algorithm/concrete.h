#pragma once

// Calls a walker with a schedule's concrete class, so that a walker written as a template makes no
// virtual call per step.

#include "simulator/algorithm/direct.h"
#include "simulator/algorithm/direct_all_to_all.h"
#include "simulator/algorithm/pairwise.h"
#include "simulator/algorithm/recursive_doubling.h"
#include "simulator/algorithm/ring.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// Calls `use` with the schedule as its own class, or as a Schedule if it is not a computed one.
/// An object, so that it can be passed on.
inline constexpr auto with_concrete = [](const Schedule& schedule, auto&& use) -> decltype(auto) {
  if (const auto* ring = dynamic_cast<const RingSchedule*>(&schedule))
    return use(*ring);
  if (const auto* doubling = dynamic_cast<const RecursiveDoublingSchedule*>(&schedule))
    return use(*doubling);
  if (const auto* direct = dynamic_cast<const DirectSchedule*>(&schedule))
    return use(*direct);
  if (const auto* all_to_all = dynamic_cast<const DirectAllToAllSchedule*>(&schedule))
    return use(*all_to_all);
  if (const auto* pairwise = dynamic_cast<const PairwiseSchedule*>(&schedule))
    return use(*pairwise);
  return use(schedule);
};

}  // namespace orrery
