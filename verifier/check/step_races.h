#pragma once

// Whether the steps of one schedule can disturb each other: two channels of a node touch the same
// elements, one of them writing, and no cause orders them. Our own algorithms rule it out by their
// form; a foreign schedule must be checked, for its values are settled only without races.

#include "models/base/verdict.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// The first race by node and place, in words. Requires a schedule whose walk ends. Memory grows
/// with steps x channels.
Verdict step_races(const Schedule& schedule);

}  // namespace orrery
