#pragma once

// This reads how an array is cut over the mesh: "spec", which may be "corrected", or "hlo" in its
// place. Errors of specs are those of models/mesh, with a position.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/array/shape.h"
#include "models/base/diagnostics.h"
#include "models/base/id.h"
#include "models/mesh/mesh.h"
#include "models/mesh/partition_spec.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"

namespace orrery {

// Readers leave out what has an error.

/// Reads "spec" of an output: how an array is cut over the mesh, as [["x", "y"], null]. Each axis
/// may be named once.
PartitionSpec read_spec(DocumentNode node, const Mesh& mesh, Diagnostics& diagnostics);

/// An UncutArray is what has been read of an array before its cut.
struct UncutArray {
  const Mesh* mesh = nullptr;         // null if it has an error; then no axis is checked
  const std::optional<Shape>& shape;  // empty if it has an error
  bool per_device = false;            // `shape` is that of a part
  const std::optional<std::vector<LogicalId>>& on;  // as in Array
};

/// An ArrayCut says how the file cuts an array.
struct ArrayCut {
  PartitionSpec spec;                             // with the unreduced axes of an HLO text
  std::optional<PartitionSpec> uncorrected = {};  // as in Array
  std::optional<DocumentNode> given = {};         // the value of "spec" or "hlo"
  std::string_view key = {};                      // of that value
};

/// Reads "spec", "corrected" and "hlo" of an array. The axes must divide the extents of a whole
/// array. Its devices must span whole each axis that cuts it, and each along which it has addends.
ArrayCut read_cut(Fields& fields, const UncutArray& array, Diagnostics& diagnostics);

/// Adds an error at the node for each of the axes that the devices `on` do not span whole. An array
/// must be on such devices if the axis cuts it, or if it has addends along the axis.
void check_spanned(DocumentNode node, const std::vector<std::string>& axes, const Mesh& mesh,
                   const std::vector<LogicalId>& on, Diagnostics& diagnostics);

}  // namespace orrery
