#pragma once

// What the error of scatter_add depends on.

#include <vector>

#include "models/array/tensor.h"
#include "models/program/op.h"

namespace orrery {

/// Of each element of the result, in f64.
struct ScatterSums {
  Tensor terms;    // the magnitudes of what is added there, together
  Tensor carried;  // their errors together; kNoBound everywhere if an index may be another
  Tensor added;    // how many updates
};
/// Of an op scatter_add with these operands and their errors.
ScatterSums scatter_sums(const Op& op, const std::vector<const Tensor*>& values,
                         const std::vector<const Tensor*>& errors);

}  // namespace orrery
