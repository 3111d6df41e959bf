#pragma once

// Bounds of integers and pred, for bounds.h. An element is exact, 0, or no bound is known of it:
// errors of the operands may have changed it, as a comparison of two floats that are nearer to each
// other than their errors.

#include <vector>

#include "models/array/tensor.h"
#include "models/program/op.h"

namespace orrery {

/// 0 where `errors` is 0.
Tensor exact_or_unknown(Tensor errors);

/// Of a result of integers or pred that a local op computes. `errors` has a bound for each of its
/// operands, `values`.
Tensor discrete_bound(const Op& op, const std::vector<const Tensor*>& values,
                      const std::vector<const Tensor*>& errors, const Tensor& result);

}  // namespace orrery
