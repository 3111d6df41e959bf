#pragma once

// This file makes the kernel calls of a collective's steps and of its ends. They do on device
// memory what MemberMemory and the host executor do. Elements are held as the folding says.

#include <vector>

#include "models/array/work.h"
#include "models/program/value.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/cuda/kernels/kernels.h"
#include "simulator/values/cuda/kernels/move_calls.h"

namespace orrery::cuda {

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

}  // namespace orrery::cuda
