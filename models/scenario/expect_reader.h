#pragma once

// Reads a scenario's "expect".

#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/scenario/document.h"
#include "models/scenario/scenario.h"

namespace orrery {

/// What must hold, in the order of the file. Without a program (it has errors) names and literal
/// values are not checked.
std::vector<Expectation> read_expectations(DocumentNode node, const Program* program,
                                           Diagnostics& diagnostics);

}  // namespace orrery
