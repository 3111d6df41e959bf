#pragma once

// Calls of kernels that move elements or fill memory, and the boxes of kernels (places.h), which
// are made here. Without elements there is no call.

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

/// The box of a placement, without its offsets.
Box box_of(const StridedMove& placement);

/// The box of a row of elements that lie so many elements apart.
Box row_of_items(int64_t items, int64_t from_step, int64_t to_step);

/// The elements of a view: from the tensor's order to the canonical order, or back.
Box into_canonical(const View& view);
Box out_of_canonical(const View& view);

/// Whether every element has the same place in both.
bool in_order(const Box& box);

/// The packs of a row of elements at these addresses.
struct PackSize {
  int64_t element;  // bytes
  int64_t pack;
};
Packing packing_of(std::span<const DevicePointer> addresses, PackSize size, int64_t elements);
/// The same for elements of the dtype.
Packing packing_of(std::span<const DevicePointer> addresses, Dtype dtype, int64_t elements);

struct Movement {
  DevicePointer to;
  DevicePointer from;
};

/// Fills with zeros. Without bytes the call has no items.
KernelCall zero_call(DevicePointer to, Bytes size);
/// The memory must not overlap.
KernelCall copy_call(DevicePointer to, DevicePointer from, Bytes size);

/// `size` bytes, which are the element again and again.
KernelCall fill_call(DevicePointer to, Bytes size, std::span<const std::byte> element);

/// Makes words as large as the addresses, the box, and all of these strides allow, and counts the
/// strides in them.
void widen(MoveArgs& args, std::span<int64_t* const> strides);

/// Moves the elements of the box, of `itemsize` bytes, in words as large as they allow. Nothing is
/// called where every element already is in its place.
std::vector<KernelCall> move_calls(const Movement& where, int64_t itemsize, const Box& box);

}  // namespace orrery::cuda
