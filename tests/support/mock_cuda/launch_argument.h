#pragma once

// A kernel as it is passed to the driver, checked.

#include "tests/support/mock_cuda/state.h"

namespace orrery::mock_cuda {

/// The work of a kernel with one struct as its argument. Throws Misuse where it has another size
/// than the kernel's, or the shape is none.
KernelWork kernel_work(State& s, const cuda::CUDA_KERNEL_NODE_PARAMS& node);

}  // namespace orrery::mock_cuda
