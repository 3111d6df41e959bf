#pragma once

// Races between the steps of one schedule: two channels of a node touch the same elements, one of
// them writes, and no cause orders them. Computed schedules have none by construction. An imported
// schedule must be checked, since its values are certain only without races.

#include "models/base/answer.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// The first race by node and position, in words. Requires a schedule whose walk ends. Memory grows
/// with steps x channels.
Answer step_races(const Schedule& schedule);

}  // namespace orrery
