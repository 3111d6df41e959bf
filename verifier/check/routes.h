#pragma once

// Whether every message still has a route where links are cut.

#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/lowered.h"
#include "verifier/report.h"

namespace orrery {

/// Every pair that exchanges a message has a route on `cut`, the paths of the fabric of `healthy`
/// with some links cut (ROUTE.LEFT). Otherwise names the first collective without one, the two
/// devices, and the cut links of their former route.
Check routes_left(const Program& program, const Lowered& lowered, Paths& healthy, Paths& cut);

}  // namespace orrery
