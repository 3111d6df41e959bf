#pragma once

// This transposes a program that is linear in some arguments (JAX's linear_transpose).

#include <cstdint>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/program/program.h"
#include "models/program/rules.h"
#include "models/transform/named.h"

namespace orrery {

struct TransposeRequest {
  Origin origin;
  std::vector<NamedAt> of;               // values, which are linear in the arguments
  std::vector<NamedAt> with_respect_to;  // arguments
  int64_t most_ops = int64_t{1} << 18;   // that the program may have with its loops written out
};

/// Returns the program that takes the cotangents ct_ID of the values, and gives those of the
/// arguments under the names ct_ID. It does not have these arguments. It keeps the ops that the
/// backward ones read. Loops are written out.
///
/// Adds an error for an op between the arguments and the values that is not linear, or that adds a
/// value that does not depend on the arguments. Then the program is returned as it was.
Program transpose(const Program& program, Checks checks, const TransposeRequest& request,
                  Diagnostics& diagnostics);

}  // namespace orrery
