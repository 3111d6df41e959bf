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

/// Runs it in so many random orders, from number `first` on. In each nothing must be wrong
/// (gpu_rig.h), nothing be left of the run, and the driver not be misused. Returns the first error
/// and its order; empty if there is none.
std::string wrong_on_mock(const OnGpus& run, uint64_t orders, uint64_t first = 1,
                          const cuda::ExecutorOptions& options = {});

}  // namespace orrery::test
