#pragma once

// Calls of kernels that move elements or fill memory. Without elements there is no call.

#include <span>
#include <vector>

#include "models/base/quantity.h"
#include "simulator/values/cuda/kernels/box.h"
#include "simulator/values/cuda/kernels/kernel_call.h"
#include "simulator/values/cuda/kernels/move.h"
#include "simulator/values/cuda/kernels/packs.h"

namespace orrery::cuda {

/// The packs of a row of elements at these addresses.
struct PackSize {
  int64_t element;  // bytes
  int64_t pack;
};
Packing packing_of(std::span<const DevicePointer> addresses, PackSize size, int64_t elements);
/// Of elements of the dtype.
Packing packing_of(std::span<const DevicePointer> addresses, Dtype dtype, int64_t elements);

struct Movement {
  DevicePointer to;
  DevicePointer from;
};

/// Zeros. Of no bytes: no items.
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
