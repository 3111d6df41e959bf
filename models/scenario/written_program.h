#pragma once

// What the program that is written has, of which a scenario's mesh and arrays tell what it has
// after all transforms.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/mesh/mesh.h"
#include "models/program/value.h"
#include "models/scenario/arrays_reader.h"
#include "models/scenario/size_limits.h"
#include "models/scenario/transform_reader.h"

namespace orrery {

struct Written {
  /// With the axes whose places batches take, the first transform's last.
  Mesh mesh;
  /// By name: those of the arrays that are not refused and that no transform brings.
  std::map<std::string, ValueType> arguments;
};

/// Sets the size of each batch that has none, by its arrays. Empty where an error was added.
std::optional<Written> written_program(const Mesh& mesh, const std::vector<ArrayReading>& arrays,
                                       std::vector<Transform>& transforms, const Limits& limits,
                                       Diagnostics& diagnostics);

}  // namespace orrery
