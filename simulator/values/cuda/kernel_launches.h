#pragma once

// How kernel calls are launched: so many threads that they hide the latency of memory; more work a
// thread loops over.

#include "simulator/values/cuda/driver/kernel_launch.h"
#include "simulator/values/cuda/driver/kernel_module.h"
#include "simulator/values/cuda/kernels/kernel_call.h"

namespace orrery::cuda {

/// `module` is that of the GPU. The launch refers to the call's argument. Throws CudaError.
KernelLaunch launch_of(const KernelCall& call, const Gpu& gpu, KernelModule& module);

}  // namespace orrery::cuda
