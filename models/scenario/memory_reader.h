#pragma once

// Reads a scenario's "memory": how it is counted.

#include "models/base/diagnostics.h"
#include "models/scenario/document.h"
#include "models/scenario/scenario.h"

namespace orrery {

/// `cluster`: null if it was not read.
MemoryPolicy read_memory(DocumentNode node, const Cluster* cluster, Diagnostics& diagnostics);

}  // namespace orrery
