#pragma once

// These checks find whether the program ends. No event is chosen among several, so one run decides
// for every timing. If a walk without time stops, the witness is the cycle of devices that wait for
// each other. The search starts at a device that cannot continue. It goes from a device to the one
// that it waits for, by the first missing cause, until a device comes up again. A program also
// cannot end if a message has lost its route to links that are cut.

#include <cstddef>
#include <vector>

#include "models/program/program.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/program_walk.h"
#include "verifier/verdict.h"

namespace orrery {

/// Returns DEADLOCK.FREE of a program that ran to its end.
Check deadlock_free();

/// Checks whether the program ends (DEADLOCK.FREE), by where a walk stopped. If not, the check says
/// why:
///  - the wait-for cycle, device by device, and the conflicting orders of issue;
///  - or, if all devices entered a collective that cannot continue, the cycle of its steps;
///  - or, if a psend or precv waits for a partner that does not exist, the missing op, and the
///    pairs of the ops that it does not agree with;
///  - or, if another collective waits for members that never enter it, who waits, for whom, and
///    where those are instead.
Check deadlock_free(const Program& program, const Lowered& lowered, const Stop& stop);

/// Returns a cycle of channels of one schedule: each waits for the next, and the last for the
/// first. The search begins with the channel at position `from`. `parked` is the result of a walk.
/// Requires that it is not empty, and that every node on which these channels wait has been
/// entered.
std::vector<Parked> waiting_cycle(const std::vector<Parked>& parked, size_t from = 0);

/// Checks that every two devices that exchange a message have a route left (ROUTE.LEFT). `cut` has
/// the paths of the fabric of `healthy` without the cut links. A check that fails names the first
/// collective with a lost route, the two devices, and the cut links of their former route.
Check routes_left(const Program& program, const Lowered& lowered, Paths& healthy, Paths& cut);

}  // namespace orrery
