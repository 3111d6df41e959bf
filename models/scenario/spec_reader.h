#pragma once

// Reads how an array is cut over the mesh: [["x", "y"], null].

#include <cstddef>
#include <string>
#include <vector>

#include "models/base/callable.h"
#include "models/base/diagnostics.h"
#include "models/mesh/mesh.h"
#include "models/scenario/document.h"

namespace orrery {

/// Visits each entry of the list with its dimension and its axes, without those that are wrong.
/// Each axis may be named once. Without a mesh, names are not checked and no axis is kept.
PartitionSpec read_spec(
    DocumentNode node, const Mesh* mesh, Diagnostics& diagnostics,
    FunctionRef<void(DocumentNode entry, size_t dimension, const std::vector<std::string>& axes)>
        visit);

/// Adds an error where the list at `node` has more entries than `shape` has dimensions.
bool fits_rank(DocumentNode node, const Shape& shape, Diagnostics& diagnostics);

}  // namespace orrery
