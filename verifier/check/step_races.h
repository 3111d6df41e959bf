#pragma once

// This file finds races of the steps of one schedule. Two steps race if they are of two channels of
// a node, touch the same elements, one of them writes, and no cause orders them. A single step
// races if it writes elements that it also reads to make others, since a step moves its elements in
// no order. A copy to the next element of the same buffer does so. The values of a schedule are
// certain only without races, so a proof includes this check.
//
// The search goes node by node. A sweep over the positions of a node's buffers finds the conflicts:
// pairs of accesses to the same elements of which one writes. For each conflict, a search along
// causes finds out whether one of the two comes before the other.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "simulator/schedule/schedule.h"

namespace orrery {

/// This is one access of a half to elements of its node. In a schedule in place, the slice is in
/// the input area.
struct StepAccess {
  StepRef step;
  Half half = Half::Receive;
  Slice slice;
  bool writes = false;
};

/// Two accesses of one node that nothing orders: of two steps, or a read and a write of one.
struct StepRace {
  StepAccess first;
  StepAccess second;

  bool of_one_step() const { return first.step == second.step; }

  /// Returns the elements that both touch.
  Slice shared() const;
  /// Returns "on node 0, channel 0 step 1 writes and channel 1 step 0 reads output elements 0 to 3,
  /// and nothing orders the two". For a race of one step it returns "on node 0, channel 0 step 1
  /// reads output elements 0 to 3 and writes them for others, in no order".
  std::string text() const;
};

struct StepRaces {
  std::optional<StepRace> first;  // by node, then those of one step, by position
  bool over_budget = false;       // neither shown nor excluded

  bool none() const { return !first && !over_budget; }
};

/// Finds the first race of the schedule. A schedule that cannot end is not searched. Steps of one
/// channel run in order, so two steps never race on a node with one channel. `budget` limits the
/// halves of a schedule with conflicts, the conflicts, and the halves that are looked at to order
/// them, together.
StepRaces step_races(const Schedule& schedule,
                     uint64_t budget = std::numeric_limits<uint64_t>::max());

}  // namespace orrery
