#pragma once

// From a Scenario to the JSON text that reads back to the same: shrunk counterexamples are
// scenario files.

#include <string>

#include "models/scenario/scenario.h"

namespace orrery {

/// Quantities have units, and what has its default value is left out. Comments of the file it came
/// from are not kept. Requires that no iterations are left out.
std::string write_scenario(const Scenario& scenario);

}  // namespace orrery
