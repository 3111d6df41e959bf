#pragma once

// Programs in parts that run one after another, since a pipeline schedules them apart. The parts
// are forward and backward. A backward pass also has two, one that goes back to the inputs and one
// to the weights.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/program/program.h"
#include "models/program/rules.h"
#include "models/transform/vjp.h"

namespace orrery {

/// The second part has an argument for each value of the first that it reads, with the same name,
/// after the arguments of the whole. The first has these values among its outputs. A part has only
/// the arguments that it reads, and the outputs of the whole that it makes.
struct ProgramParts {
  Program first;
  Program second;
};

/// The first part has these ops and those that they need. Futures and tokens do not leave it: it
/// has the ops that take them too. Requires one program on all devices.
ProgramParts cut(const Program& program, Checks checks, std::set<OpId> first);

/// The forward program, whose outputs are the values of `of` and those that the backward one reads,
/// and the backward program, whose outputs are the cotangents ct_ID of `with_respect_to`. Together
/// they are what vjp gives. Empty if an error was added.
std::optional<ProgramParts> vjp_parts(const Program& program, Checks checks,
                                      const VjpRequest& request, Diagnostics& diagnostics);

/// A backward program in two: first the ops that its outputs `inputs` ("ct_x") need, then the
/// others. Requires that these are outputs.
ProgramParts backward_parts(const Program& backward, Checks checks,
                            const std::vector<std::string>& inputs);

}  // namespace orrery
