#pragma once

// These functions make the calls of kernels: first those that move elements or fill memory, with
// the boxes of kernels (places.h), then those of a collective's members, then those of local ops.

#include <cstdint>
#include <span>
#include <vector>

#include "models/array/strided_move.h"
#include "models/array/work.h"
#include "models/base/quantity.h"
#include "models/program/program.h"
#include "models/program/value.h"
#include "simulator/schedule/lowered.h"
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

// collective_calls.cc makes the calls of collectives. They do on device memory what MemberMemory
// and the host executor do in a step and at its ends. Elements are held as the folding says.

/// The places of a step of a fold. The target may be left, right or both, but overlaps neither in
/// part.
struct CombinePlaces {
  DevicePointer target;
  DevicePointer left;
  DevicePointer right;
};

/// Returns the call that does combine_into of work.h.
KernelCall combine_call(const Folding& folding, Combine combine, const CombinePlaces& fold,
                        int64_t count);

/// Returns the calls for the entry of the member of that rank. In one pass they fill the area with
/// its operand's elements, converted and in canonical order. There are none if the area is the
/// operand and has this form.
std::vector<KernelCall> entering_calls(const Collective& collective, const Folding& folding,
                                       Dtype operand_dtype, Rank rank, const Movement& where);

/// Returns the calls for the exit of a member. They make the result, of that type, from the area.
/// Both may be the same memory if nothing is reordered and elements have one size.
std::vector<KernelCall> leaving_calls(const Collective& collective, const Folding& folding,
                                      const ValueType& result, const Movement& where);

// local_calls.cc makes the calls of local ops. They compute on device memory what the ops' evaluate
// rules (models/program) compute.

/// LocalOperands says where an op's operands and results lie, in the op's order. A result may lie
/// in the place of an operand as its memory rule allows (models/program/rules.h).
struct LocalOperands {
  std::span<const DevicePointer> operands;
  std::span<const DevicePointer> results;
};

/// Returns the calls of a local op on one device, in order. There are none if nothing is to be
/// done: no result has elements, or each result is an operand and lies in its place.
std::vector<KernelCall> local_calls(const Program& program, const Op& op, LogicalId device,
                                    const LocalOperands& where);

}  // namespace orrery::cuda
