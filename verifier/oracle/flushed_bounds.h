#pragma once

// How far flushed subnormals (Numerics::XlaCpu, and XLA itself) take operands and results from
// exact ones.

#include <vector>

#include "models/array/tensor.h"
#include "models/program/op.h"
#include "models/program/program.h"

namespace orrery {

/// An operand as an op that flushes takes it, and how far that is from the exact one.
struct Flushed {
  Tensor value;
  Tensor error;
};
Flushed taken_with_error(const Tensor& value, const Tensor& error);

/// Whether an op flushes by XlaCpu: all but those that move bits, and dot_general, which is
/// computed as by Ieee.
bool flushes(const Op& op, const Tensor& operand, const Tensor& result);

/// How far a result may be from what it was before it was flushed.
double most_flushed(Dtype dtype);

/// `bound` of a result of a local op that flushes, with what is lost where a result that is not 0
/// becomes 0. `values` are the op's operands as it takes them.
Tensor with_flushed_result(const Program& program, const Op& op,
                           const std::vector<const Tensor*>& values, const Tensor& result,
                           Tensor bound);

}  // namespace orrery
