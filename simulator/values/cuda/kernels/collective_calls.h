#pragma once

// The kernel calls of a collective's steps and of its ends: what MemberMemory and the host executor
// do, on device memory. Elements are held as the folding says.

#include <vector>

#include "models/array/work.h"
#include "models/program/value.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/cuda/kernels/kernels.h"
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

/// The calls as the member of that rank enters: in one pass they fill the area with its operand's
/// elements, converted and in canonical order. Empty where the area is the operand and has this
/// form.
std::vector<KernelCall> entering_calls(const Collective& collective, const Folding& folding,
                                       Dtype operand_dtype, Rank rank, const Movement& where);

/// The calls as a member leaves: they make the result, of that type, of the area. Both may be the
/// same memory where nothing is reordered and elements have one size.
std::vector<KernelCall> leaving_calls(const Collective& collective, const Folding& folding,
                                      const ValueType& result, const Movement& where);

}  // namespace orrery::cuda
