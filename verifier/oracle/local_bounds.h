#pragma once

// Error bounds of what local ops compute, for bounds.h, which has the formulas.

#include <vector>

#include "models/array/tensor.h"
#include "models/base/id.h"
#include "models/program/program.h"
#include "verifier/oracle/float_format.h"

namespace orrery {

/// What an op computed on a device, and the bounds of its operands.
struct LocalValues {
  std::vector<const Tensor*> operands;
  std::vector<const Tensor*> errors;  // f64, one for each operand
  std::vector<const Tensor*> results;
};

/// The bounds of the op's results on the device, in their order.
std::vector<Tensor> local_bounds(const Program& program, const Op& op, LogicalId device,
                                 const LocalValues& of, RoundedBy rounded_by);

}  // namespace orrery
