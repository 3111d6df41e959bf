#pragma once

// The ops that move elements, as strides: where each element comes from and where it goes.
// movement.cc moves tensors by these, and the CUDA kernels use them too.

#include <cstdint>
#include <span>
#include <vector>

#include "models/array/kernels.h"
#include "models/array/shape.h"

namespace orrery {

/// Elements between neighbours along each dimension.
std::vector<int64_t> strides_of(const Shape& shape);

/// Elements of a tensor: one for each index of a box, `strides` apart along each dimension.
struct Strided {
  int64_t first = 0;
  std::vector<int64_t> strides;
};

/// Every element of a tensor of this shape.
Strided all_of(const Shape& shape);

/// The element at an index of the box goes from its place in the operand to that in the result.
struct StridedMove {
  Shape box;
  Strided from;
  Strided to;
};

// Each checks its parameters, as the op of the same name in kernels.h describes them.

StridedMove transpose_move(const Shape& operand, std::span<const int64_t> permutation);
StridedMove slice_move(const Shape& operand, const SliceBounds& bounds);
StridedMove broadcast_move(const Shape& operand, Shape result, std::span<const int64_t> dimensions);
/// Moves the elements that are not padding; the result has padded_shape().
StridedMove pad_move(const Shape& operand, std::span<const DimensionPadding> padding);
Shape padded_shape(const Shape& operand, std::span<const DimensionPadding> padding);

}  // namespace orrery
