#pragma once

// Programs on the mock driver, in random orders.

#include <cstdint>
#include <string>

#include "tests/simulator/values/cuda/gpu_rig.h"
#include "tests/support/mock_cuda/mock_control.h"

namespace orrery::test {

/// Runs it on a mock of one GPU, in the order of `seed`.
cuda::GpuRun run_on_mock(const OnGpus& run, uint64_t seed,
                         const cuda::ExecutorOptions& options = {},
                         const MockCudaSettings& settings = {});

/// Runs it in so many random orders, from number `first` on. In each nothing is wrong (gpu_rig.h),
/// nothing is left of the run, and the driver was used as it must be. Empty, or what was not so,
/// and in which order.
std::string wrong_on_mock(const OnGpus& run, uint64_t orders, uint64_t first = 1,
                          const cuda::ExecutorOptions& options = {});

}  // namespace orrery::test
