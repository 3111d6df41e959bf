#pragma once

#include <map>
#include <span>

#include "models/program/program.h"

namespace orrery {

/// Returns the results of `ops` and all values that depend on them, each with the first op that it
/// was found to depend on.
std::map<ValueId, OpId> dependent_values(const Program& program, std::span<const OpId> ops);

/// Returns the values that depend on opaque computations, each with the first such op that it was
/// found to depend on. The values are stand-ins.
std::map<ValueId, OpId> opaque_values(const Program& program);

}  // namespace orrery
