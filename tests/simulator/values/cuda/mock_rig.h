#pragma once

// Runs programs on the mock driver, in random orders.

#include <cstdint>
#include <string>

#include "tests/simulator/values/cuda/gpu_rig.h"
#include "tests/support/mock_cuda/mock_control.h"

namespace orrery::test {

/// Runs the program on a mock of one GPU, in the order of `seed`.
cuda::GpuRun run_on_mock(const OnGpus& run, uint64_t seed,
                         const cuda::ExecutorOptions& options = {},
                         const MockCudaSettings& settings = {});

/// Runs the program in `orders` random orders, from seed `first` on. In each order, wrong()
/// (gpu_rig.h) must find no error, no driver object may be left, and the driver may not be misused.
/// Returns the first error and its order; "" if there is none.
std::string wrong_on_mock(const OnGpus& run, uint64_t orders, uint64_t first = 1,
                          const cuda::ExecutorOptions& options = {});

}  // namespace orrery::test
