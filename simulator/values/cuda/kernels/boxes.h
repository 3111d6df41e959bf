#pragma once

// Boxes of kernels (box.h), made on the host.

#include <cstdint>
#include <span>
#include <vector>

#include "models/array/strided_move.h"
#include "simulator/schedule/view.h"
#include "simulator/values/cuda/kernels/box.h"

namespace orrery::cuda {

/// Elements between neighbours along each dimension of a row-major array.
std::vector<int64_t> row_major(std::span<const int64_t> dims);

/// Extents and strides, one per dimension.
struct BoxDims {
  std::span<const int64_t> dims;
  std::span<const int64_t> from;
  std::span<const int64_t> to;
};

/// The box with as few dimensions as do: those of one index are left out, and neighbours whose
/// elements lie evenly in both places become one.
Box box_of(const BoxDims& given);

/// Of a placement, without its offsets.
Box box_of(const StridedMove& placement);

/// A row of elements, so far apart.
Box row_of_items(int64_t items, int64_t from_step, int64_t to_step);

/// The elements of a view: from the tensor's order to the canonical order, or back.
Box into_canonical(const View& view);
Box out_of_canonical(const View& view);

/// Whether every element has the same place in both.
bool in_order(const Box& box);

}  // namespace orrery::cuda
