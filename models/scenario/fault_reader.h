#pragma once

// Reads a scenario's "faults".

#include <vector>

#include "models/base/diagnostics.h"
#include "models/mesh/mesh.h"
#include "models/scenario/document.h"
#include "models/scenario/fault.h"

namespace orrery {

/// In the order of the file. No two change the same thing.
std::vector<Fault> read_faults(DocumentNode node, const Fabric& fabric, const Mesh& mesh,
                               Diagnostics& diagnostics);

}  // namespace orrery
