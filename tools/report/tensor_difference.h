#pragma once

// Where two tensors differ, and by how much.

#include <cstdint>
#include <optional>

#include "models/array/tensor.h"

namespace orrery {

struct TensorDifference {
  int64_t element = 0;  // the first that differs, by its place in row-major order
  int64_t count = 0;    // how many differ
  /// Of floats of one dtype: how many values of the dtype lie from one to the other, counting one
  /// of them; of the first element, and the most over all. Empty where a NaN differs. 0 between 0
  /// and -0.
  std::optional<uint64_t> ulps, most_ulps;
};

/// Bitwise where the dtypes are the same (all NaNs count as one); else by the numbers that the
/// elements stand for. Empty where no element differs. Requires equal shapes.
std::optional<TensorDifference> first_difference(const Tensor& a, const Tensor& b);

}  // namespace orrery
