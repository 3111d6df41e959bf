#pragma once

// Programs on the mock driver, whose values must be the host executor's.

#include <cstdint>
#include <optional>
#include <string>

#include "models/program/program.h"
#include "models/scenario/scenario.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/cuda/executor.h"
#include "simulator/values/values.h"
#include "tests/support/mock_cuda/mock_control.h"

namespace orrery::test {

/// What is run: a program with its arguments on every device.
struct OnMock {
  const Program& program;
  const Lowered& lowered;
  const DeviceValues& arguments;
  MemoryPolicy memory = {};
};

/// Runs it on a mock of one GPU, in the order of `seed`.
cuda::GpuRun run_on_mock(const OnMock& run, uint64_t seed,
                         const cuda::ExecutorOptions& options = {},
                         const MockCudaSettings& settings = {});

/// Where the values of the runs differ; empty where they do not.
std::string first_difference(const Program& program, const DeviceValues& host,
                             const DeviceValues& gpus);

/// Runs it in so many random orders, from number `first` on. In each:
///  - the values are the host's, bit for bit;
///  - each half moved what its schedule says;
///  - each arena was used as the profile counts;
///  - nothing was written out of its place, and nothing is left of the run.
/// Empty, or what was not so, and in which order.
std::string wrong_on_mock(const OnMock& run, uint64_t orders, uint64_t first = 1);

}  // namespace orrery::test
