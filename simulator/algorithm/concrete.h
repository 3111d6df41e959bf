#pragma once

// This calls a template with a schedule's concrete class, so that there is no virtual call per
// step. Only the sweep needs this, since its work per step is as small as a call. All others use
// const Schedule&.

#include <cstdint>
#include <memory>

#include "simulator/algorithm/bruck.h"
#include "simulator/algorithm/chain.h"
#include "simulator/algorithm/direct.h"
#include "simulator/algorithm/direct_all_to_all.h"
#include "simulator/algorithm/halving_doubling.h"
#include "simulator/algorithm/in_switch.h"
#include "simulator/algorithm/one_shot.h"
#include "simulator/algorithm/pairwise.h"
#include "simulator/algorithm/pat.h"
#include "simulator/algorithm/ragged_exchange.h"
#include "simulator/algorithm/recursive_doubling.h"
#include "simulator/algorithm/ring.h"
#include "simulator/algorithm/tree.h"
#include "simulator/schedule/schedule.h"
#include "simulator/schedule/sliced_schedule.h"
#include "simulator/schedule/stored_schedule.h"

namespace orrery {

/// Calls `use` with the schedule as the class of its algorithm, or as a Schedule if it has none.
template <class Use>
decltype(auto) with_algorithm(const Schedule& schedule, Use&& use) {
  if (const auto* ring = dynamic_cast<const RingSchedule*>(&schedule))
    return use(*ring);
  if (const auto* doubling = dynamic_cast<const RecursiveDoublingSchedule*>(&schedule))
    return use(*doubling);
  if (const auto* halving = dynamic_cast<const HalvingDoublingSchedule*>(&schedule))
    return use(*halving);
  if (const auto* bruck = dynamic_cast<const BruckSchedule*>(&schedule))
    return use(*bruck);
  if (const auto* pat = dynamic_cast<const PatSchedule*>(&schedule))
    return use(*pat);
  if (const auto* tree = dynamic_cast<const TreeSchedule*>(&schedule))
    return use(*tree);
  if (const auto* direct = dynamic_cast<const DirectSchedule*>(&schedule))
    return use(*direct);
  if (const auto* all_to_all = dynamic_cast<const DirectAllToAllSchedule*>(&schedule))
    return use(*all_to_all);
  if (const auto* pairwise = dynamic_cast<const PairwiseSchedule*>(&schedule))
    return use(*pairwise);
  if (const auto* ragged = dynamic_cast<const RaggedExchangeSchedule*>(&schedule))
    return use(*ragged);
  if (const auto* chain = dynamic_cast<const ChainSchedule*>(&schedule))
    return use(*chain);
  if (const auto* in_switch = dynamic_cast<const InSwitchSchedule*>(&schedule))
    return use(*in_switch);
  if (const auto* one_shot = dynamic_cast<const OneShotSchedule*>(&schedule))
    return use(*one_shot);
  if (const auto* stored = dynamic_cast<const StoredSchedule*>(&schedule))
    return use(*stored);
  return use(schedule);
}

/// Returns the schedule with its messages cut, as a class that with_cut_algorithm knows.
inline std::unique_ptr<const SlicedSchedule> cut(std::unique_ptr<const Schedule> whole,
                                                 int64_t stretch) {
  using Cut = std::unique_ptr<const SlicedSchedule>;
  return with_algorithm(*whole, [&]<class Whole>(const Whole& as) -> Cut {
    whole.release();
    return std::make_unique<const SlicedOver<Whole>>(std::unique_ptr<const Whole>(&as), stretch);
  });
}

/// Does what with_algorithm does, for a schedule whose messages are cut.
template <class Use>
decltype(auto) with_cut_algorithm(const SlicedSchedule& schedule, Use&& use) {
  return with_algorithm(schedule.whole(), [&]<class Whole>(const Whole&) -> decltype(auto) {
    if (const auto* known = dynamic_cast<const SlicedOver<Whole>*>(&schedule))
      return use(*known);
    return use(static_cast<const Schedule&>(schedule));
  });
}

}  // namespace orrery
