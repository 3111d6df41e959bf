#pragma once

// What a report says of each op, each link and each device.

#include "models/scenario/scenario.h"
#include "verifier/report.h"
#include "verifier/stages.h"

namespace orrery {

/// Adds the rows. Requires the report's memory, and its completion where the program ends: without
/// one, rows have no times and no links.
void add_rows(const Scenario& scenario, Stages& stages, Report& report);

}  // namespace orrery
