#pragma once

// Checks a kernel as it is passed to the driver.

#include "tests/support/mock_cuda/state.h"

namespace orrery::mock_cuda {

/// Returns the work of a kernel that has one struct as its argument. Throws Misuse where the
/// argument's size is not the kernel's or the launch shape is invalid.
KernelWork kernel_work(State& s, const cuda::CUDA_KERNEL_NODE_PARAMS& node);

}  // namespace orrery::mock_cuda
