#pragma once

// Reads a scenario's "transform": what makes the program that runs from the one that is written.

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/program/program.h"
#include "models/program/rules.h"
#include "models/scenario/document.h"
#include "models/transform/batch.h"
#include "models/transform/transpose.h"
#include "models/transform/vjp.h"

namespace orrery {

using Transform = std::variant<BatchRequest, TransposeRequest, VjpRequest>;

/// In the order in which they are applied. Empty where an error was added.
std::optional<std::vector<Transform>> read_transforms(DocumentNode node, Diagnostics& diagnostics);

/// The arrays that the transforms bring, which the written program does not have: cotangents. Each
/// with the place that asks for it.
std::map<std::string, Origin> brought_arrays(const std::vector<Transform>& transforms);

/// The program after the transforms.
Program transformed(Program program, Checks checks, const std::vector<Transform>& transforms,
                    Diagnostics& diagnostics);

}  // namespace orrery
