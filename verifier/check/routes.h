#pragma once

// Whether every message still has a route where links are cut.

#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/lowered.h"
#include "verifier/report.h"

namespace orrery {

/// Every two devices that exchange a message have a route left (ROUTE.LEFT). `cut` has the paths of
/// the fabric of `healthy` without the cut links. Otherwise names the first collective of which two
/// devices have no route, the two, and the cut links of their former route.
Check routes_left(const Program& program, const Lowered& lowered, Paths& healthy, Paths& cut);

}  // namespace orrery
