#pragma once

// This writes a Scenario as the JSON text that reads back to the same scenario: shrunk
// counterexamples are scenario files.

#include <string>

#include "models/scenario/scenario.h"

namespace orrery {

/// Returns the JSON text. Quantities have units, and keys with default values are left out.
/// Comments of the scenario's file are lost. Requires that no iterations are left out.
std::string write_scenario(const Scenario& scenario);

}  // namespace orrery
