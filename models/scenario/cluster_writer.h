#pragma once

// The "cluster" of a written scenario.

#include "models/fabric/fabric.h"
#include "models/scenario/layout.h"

namespace orrery {

/// Inline: a topology by its name where the fabric is that one, else a list of links.
JsonText cluster_text(const Cluster& cluster);

/// A device by its number, a switch by its name.
JsonText vertex_text(const Fabric& fabric, VertexId id);

}  // namespace orrery
