#pragma once

// The kernel calls of a collective's steps and of its ends: what MemberMemory and the host executor
// do, on device memory. Elements are held as the folding says.

#include <vector>

#include "models/array/work.h"
#include "models/program/value.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/cuda/kernels/kernel_call.h"
#include "simulator/values/cuda/kernels/move_calls.h"

namespace orrery::cuda {

/// The places of a step of a fold. The target may be left, right or both, but overlaps neither in
/// part.
struct Fold {
  DevicePointer target;
  DevicePointer left;
  DevicePointer right;
};

/// combine_into of work.h.
KernelCall combine_call(const Folding& folding, Combine combine, const Fold& fold, int64_t count);

/// As the member of that rank enters: fills the area with its operand's elements, converted and in
/// canonical order, in one pass. Nothing where the area is the operand and has this form.
std::vector<KernelCall> entering_calls(const Collective& collective, const Folding& folding,
                                       Dtype operand_dtype, Rank rank, const Movement& where);

/// As a member leaves: makes the result, of that type, of the area. These may be one where nothing
/// is reordered and elements have one size.
std::vector<KernelCall> leaving_calls(const Collective& collective, const Folding& folding,
                                      const ValueType& result, const Movement& where);

}  // namespace orrery::cuda
