#pragma once

// Reads what enters the program and what leaves it: a scenario's "arrays" and "outputs".

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

/// Every array of the file, in its order. Without a mesh, what does not depend on it is checked,
/// and every array is empty. Empty if the value is not an object.
std::optional<std::vector<ArrayReading>> read_arrays(DocumentNode node, const Mesh* mesh,
                                                     const Limits& limits,
                                                     Diagnostics& diagnostics);

/// An output as the file has it: an id, or an object with "id" and "spec".
struct OutputReading {
  std::string name;
  Origin origin;
  std::optional<Boundary> boundary = {};  // its value is not known yet
  std::optional<Origin> spec_origin = {};
};

/// Empty if an error was added.
std::optional<OutputReading> read_output(DocumentNode node, const Mesh& mesh,
                                         Diagnostics& diagnostics);

/// The error in a boundary that its value cannot leave by. With Checks::States the value must be
/// varying over the axes of the spec, which an invarying one becomes. It must be unreduced where
/// the states say so, which a varying one becomes; reduced where they say so; and invarying over
/// all other axes.
std::optional<std::string> boundary_error(const Program& program, Checks checks,
                                          const Boundary& boundary);

}  // namespace orrery
