#pragma once

// This file makes the kernel calls of local ops. They compute on device memory what the ops'
// evaluate rules (models/program) compute.

#include <span>
#include <vector>

#include "models/program/program.h"
#include "simulator/values/cuda/kernels/kernels.h"

namespace orrery::cuda {

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
