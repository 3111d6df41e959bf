#pragma once

// This reads what enters the program and what leaves it: a scenario's "arrays" and "outputs".

#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/program/program.h"
#include "models/scenario/document.h"
#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"

namespace orrery {

struct ArrayReading {
  std::string name;
  Origin origin;               // the place of its key
  std::optional<Array> array;  // empty if an error was added
};

/// Returns every array of the file, in its order. Without a mesh, only what does not depend on one
/// is checked, and the arrays are empty. Copies of joined arrays must be equal only with
/// Checks::States. An array that says nothing of its elements has `init`. The result is empty if
/// the value is no object.
std::optional<std::vector<ArrayReading>> read_arrays(DocumentNode node, const Mesh* mesh,
                                                     Checks checks, const Limits& limits,
                                                     const Init& init, Diagnostics& diagnostics);

/// This is an output as the file states it: by an id, or by an object with "id" and "spec".
struct OutputReading {
  std::string name;
  Origin origin;
  std::optional<Boundary> boundary = {};  // its value is not known yet
  std::optional<Origin> spec_origin = {};
};

/// Reads one item of "outputs". The result is empty if an error was added.
std::optional<OutputReading> read_output(DocumentNode node, const Mesh& mesh,
                                         Diagnostics& diagnostics);

/// Returns the error if the boundary's value cannot leave by the boundary. With Checks::States, the
/// value must have the state that the boundary states along each axis: varying over the axes of the
/// spec, unreduced or reduced where it says so, else invarying. An invarying value is accepted
/// where a varying one is expected, and a varying value where an unreduced one is.
std::optional<std::string> boundary_error(const Program& program, Checks checks,
                                          const Boundary& boundary);

}  // namespace orrery
