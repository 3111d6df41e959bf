#pragma once

// This cuts a program into parts that run one after another, since a pipeline schedules them apart.
// The parts of a training step are a forward and a backward program. The backward program can be
// cut again, into one for the cotangents of the inputs and one for those of the weights.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/program/program.h"
#include "models/program/rules.h"
#include "models/transform/vjp.h"

namespace orrery {

/// The second part has an argument for each value of the first part that it reads, with the same
/// name. They follow the arguments of the whole program, and are outputs of the first part. A part
/// has only the arguments that it reads, and the outputs of the whole program that it makes.
struct ProgramParts {
  Program first;
  Program second;
};

/// Cuts a program in two. The first part has the ops of `first` and those that they need. Futures
/// and tokens do not leave it, so it has the ops that take them too. Requires one program on all
/// devices.
ProgramParts cut(const Program& program, Checks checks, std::set<OpId> first);

/// Returns the forward and the backward program. The outputs of the forward program are the values
/// of `of` and those that the backward program reads. The outputs of the backward program are the
/// cotangents ct_ID of `with_respect_to`. Together they have the ops of vjp. Returns nothing if an
/// error was added.
std::optional<ProgramParts> vjp_parts(const Program& program, Checks checks,
                                      const VjpRequest& request, Diagnostics& diagnostics);

/// Cuts a backward program in two: the first part has the ops that its outputs `inputs` ("ct_x")
/// need, the second part all others. Requires that `inputs` are outputs.
ProgramParts backward_parts(const Program& backward, Checks checks,
                            const std::vector<std::string>& inputs);

}  // namespace orrery
