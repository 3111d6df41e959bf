#pragma once

// Reads a scenario's "mesh" and "arrays".

#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/scenario/document.h"
#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"

namespace orrery {

/// Axis sizes in the order of the file; at most `devices` devices in all where that is known.
std::optional<Mesh> read_mesh(DocumentNode node, std::optional<uint32_t> devices,
                              const Limits& limits, Diagnostics& diagnostics);

struct ArrayReading {
  std::string name;
  Origin origin;               // of its key
  std::optional<Array> array;  // empty where an error was added
};

/// Every array of the file, in its order. Without a mesh, what does not depend on it is checked,
/// and every array is empty. Empty where the value is not an object.
std::optional<std::vector<ArrayReading>> read_arrays(DocumentNode node, const Mesh* mesh,
                                                     const Limits& limits,
                                                     Diagnostics& diagnostics);

/// What each device holds of the array.
Shape local_shape(const Mesh& mesh, const Array& array);

}  // namespace orrery
