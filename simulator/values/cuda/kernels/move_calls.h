#pragma once

// This file makes calls of kernels that move elements or fill memory, and the boxes of kernels
// (places.h). Without elements there is no call.

#include <cstdint>
#include <span>
#include <vector>

#include "models/array/strided_move.h"
#include "models/base/quantity.h"
#include "simulator/schedule/view.h"
#include "simulator/values/cuda/kernels/elements.h"
#include "simulator/values/cuda/kernels/kernels.h"
#include "simulator/values/cuda/kernels/move.h"
#include "simulator/values/cuda/kernels/places.h"

namespace orrery::cuda {

/// Returns the number of elements between neighbours along each dimension of a row-major array.
std::vector<int64_t> row_major(std::span<const int64_t> dims);

/// BoxDims has extents and strides, one per dimension.
struct BoxDims {
  std::span<const int64_t> dims;
  std::span<const int64_t> from;
  std::span<const int64_t> to;
};

/// Returns the box with as few dimensions as possible. Dimensions of one index are left out, and
/// neighbours whose elements lie evenly in both places become one.
Box box_of(const BoxDims& given);

/// Returns the box of a placement, without its offsets.
Box box_of(const StridedMove& placement);

/// Returns the box of a row of elements that lie `from_step` or `to_step` elements apart.
Box row_of_items(int64_t items, int64_t from_step, int64_t to_step);

/// These return the box of a view: from the tensor's order to the canonical order, or back.
Box into_canonical(const View& view);
Box out_of_canonical(const View& view);

/// Returns whether every element has the same place in both.
bool in_order(const Box& box);

/// packing_of() returns the packs of a row of elements at these addresses.
struct PackSize {
  int64_t element;  // bytes
  int64_t pack;
};
Packing packing_of(std::span<const DevicePointer> addresses, PackSize size, int64_t elements);
/// Returns the same for elements of the dtype.
Packing packing_of(std::span<const DevicePointer> addresses, Dtype dtype, int64_t elements);

struct Movement {
  DevicePointer to;
  DevicePointer from;
};

/// Returns a call that fills with zeros. Without bytes it has no items.
KernelCall zero_call(DevicePointer to, Bytes size);
/// Returns a call that copies. The memory must not overlap.
KernelCall copy_call(DevicePointer to, DevicePointer from, Bytes size);

/// Returns a call that fills `size` bytes with the element, again and again.
KernelCall fill_call(DevicePointer to, Bytes size, std::span<const std::byte> element);

/// Makes words as large as the addresses, the box, and all of `strides` allow, and counts the
/// strides in words.
void widen(MoveArgs& args, std::span<int64_t* const> strides);

/// Returns calls that move the elements of the box, of `itemsize` bytes, in words as large as
/// possible. There are none if every element already is in its place.
std::vector<KernelCall> move_calls(const Movement& where, int64_t itemsize, const Box& box);

}  // namespace orrery::cuda
