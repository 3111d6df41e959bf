#pragma once

// Where two tensors differ, and by how much.

#include <cstdint>
#include <optional>

#include "models/array/tensor.h"

namespace orrery {

struct TensorDifference {
  int64_t element = 0;  // row-major index of the first that differs
  int64_t count = 0;    // how many differ
  /// For floats of one dtype: the distance in ulps, of the first element and the largest of all.
  /// Empty where a NaN differs. 0 between 0 and -0.
  std::optional<uint64_t> ulps, most_ulps;
};

/// Bitwise where the dtypes are the same (all NaNs count as one); else by value. Empty where no
/// element differs. Requires equal shapes.
std::optional<TensorDifference> first_difference(const Tensor& a, const Tensor& b);

}  // namespace orrery
