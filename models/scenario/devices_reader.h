#pragma once

// Reads "on": which devices of the mesh a program or an array is on.

#include <optional>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/mesh/mesh.h"
#include "models/scenario/document.h"

namespace orrery {

/// Ascending, each once. The form is {"stage": 0, "x": [2, 4]}: the devices at that place on an
/// axis, or in that interval, which is without its end; or a list of device ids. Empty where a
/// error was added.
std::optional<std::vector<LogicalId>> read_devices(DocumentNode node, const Mesh& mesh,
                                                   Diagnostics& diagnostics);

}  // namespace orrery
