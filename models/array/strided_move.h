#pragma once

// This file describes the ops that move elements by strides: where each element comes from and
// where it goes. movement.cc moves tensors so, and the CUDA kernels use the strides too.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/array/kernels.h"
#include "models/array/shape.h"

namespace orrery {

/// Returns the distance of neighbours along each dimension, in elements.
std::vector<int64_t> strides_of(const Shape& shape);

/// A Strided picks one element of a tensor for each index of a box, `strides` apart per dimension.
struct Strided {
  int64_t first = 0;
  std::vector<int64_t> strides;
};

/// Picks every element of a tensor of this shape.
Strided all_of(const Shape& shape);

/// A StridedMove moves the element at each index of a box from the operand to the result.
struct StridedMove {
  Shape box;
  Strided from;
  Strided to;
};

// Each function checks its parameters, which are those of the op of the same name in kernels.h.

StridedMove transpose_move(const Shape& operand, std::span<const int64_t> permutation);
StridedMove slice_move(const Shape& operand, const SliceBounds& bounds);
StridedMove broadcast_move(const Shape& operand, Shape result, std::span<const int64_t> dimensions);
/// Moves the elements that are not padding; the result has padded_shape().
StridedMove pad_move(const Shape& operand, std::span<const DimensionPadding> padding);
Shape padded_shape(const Shape& operand, std::span<const DimensionPadding> padding);
/// Moves the first half of the chunks, and the second half, which has a negative stride.
std::array<StridedMove, 2> reorder_moves(const Shape& operand, const SequenceOrder& order);

}  // namespace orrery
