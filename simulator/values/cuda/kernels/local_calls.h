#pragma once

// The kernel calls of local ops: what their evaluate rules (models/program) compute, on device
// memory.

#include <span>
#include <vector>

#include "models/program/program.h"
#include "simulator/values/cuda/kernels/kernels.h"

namespace orrery::cuda {

/// Where an op's operands and results lie, in its order. A result may lie in the place of an
/// operand as its memory rule allows (models/program/rules.h).
struct LocalOperands {
  std::span<const DevicePointer> operands;
  std::span<const DevicePointer> results;
};

/// The calls of a local op on one device, each after the one before. Empty where nothing is to be
/// done: no result has elements, or each is an operand and lies in its place.
std::vector<KernelCall> local_calls(const Program& program, const Op& op, LogicalId device,
                                    const LocalOperands& where);

}  // namespace orrery::cuda
