#pragma once

// Reads and checks how an output leaves the program.

#include <optional>
#include <string>

#include "models/base/diagnostics.h"
#include "models/mesh/mesh.h"
#include "models/program/program.h"
#include "models/scenario/document.h"
#include "models/scenario/scenario.h"

namespace orrery {

/// An output as the file has it: an id, or an object with "id" and "spec".
struct OutputReading {
  std::string name;
  Origin origin;
  std::optional<Boundary> boundary = {};  // its value is not known yet
  std::optional<Origin> spec_origin = {};
};

/// Empty where an error was added.
std::optional<OutputReading> read_output(DocumentNode node, const Mesh& mesh,
                                         Diagnostics& diagnostics);

/// The error in a value that does not leave so. With Checks::States it must be varying over the
/// axes of the spec, which an invarying one becomes; unreduced where the states say so, which a
/// varying one becomes; reduced where they say so; and invarying over all other axes.
std::optional<std::string> boundary_error(const Program& program, Checks checks,
                                          const Boundary& boundary);

/// The shape of the whole array. Throws Overflow where it does not fit.
Shape global_shape(const Mesh& mesh, const PartitionSpec& spec, const Shape& local);

}  // namespace orrery
