#pragma once

// This reads a scenario's "transform", and makes the program that runs from the written one.

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/mesh/mesh.h"
#include "models/program/program.h"
#include "models/program/rules.h"
#include "models/program/value.h"
#include "models/scenario/arrays_reader.h"
#include "models/scenario/document.h"
#include "models/scenario/size_limits.h"
#include "models/transform/batch.h"
#include "models/transform/gradients.h"

namespace orrery {

using Transform = std::variant<BatchRequest, TransposeRequest, VjpRequest>;

/// Reads "transform", in the order of application. The result is empty if an error was added.
std::optional<std::vector<Transform>> read_transforms(DocumentNode node, Diagnostics& diagnostics);

/// Returns the arrays that the transforms bring and the written program does not have: cotangents.
/// Each name comes with the place that asks for it.
std::map<std::string, Origin> brought_arrays(const std::vector<Transform>& transforms);

/// These are the mesh and the arguments of the program that the file has, before the transforms.
struct Written {
  /// The mesh with the axes whose places batches take; the axis of the first transform is the last.
  Mesh mesh;
  /// The types, by name, of the arrays that are valid and that no transform brings.
  std::map<std::string, ValueType> arguments;
};

/// Goes back from the scenario's mesh and arrays, which are those after all transforms, to those
/// before. Sets the size of each batch that has none, by its arrays. Returns nothing if an error
/// was added.
std::optional<Written> written_program(const Mesh& mesh, const std::vector<ArrayReading>& arrays,
                                       std::vector<Transform>& transforms, const Limits& limits,
                                       Diagnostics& diagnostics);

/// Returns the program after the transforms.
Program transformed(Program program, Checks checks, const std::vector<Transform>& transforms,
                    Diagnostics& diagnostics);

}  // namespace orrery
