#pragma once

// Programs on the GPUs of a driver, whose values must be the host executor's.

#include <string>

#include "models/program/program.h"
#include "models/scenario/scenario.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/cuda/executor.h"
#include "simulator/values/values.h"

namespace orrery::test {

/// A run: a program with its arguments on every device.
struct OnGpus {
  const Program& program;
  const Lowered& lowered;
  const DeviceValues& arguments;
  MemoryPolicy memory = {};
};

cuda::GpuRun run_on(const cuda::Driver& driver, const OnGpus& run,
                    const cuda::ExecutorOptions& options = {});

/// Where the values of the runs differ; empty where they do not.
std::string first_difference(const Program& program, const DeviceValues& host,
                             const DeviceValues& gpus);

/// The first error of a run on GPUs; empty if all of this holds:
///  - the values are the host's, bit for bit;
///  - each half moved what its schedule says;
///  - each arena was used as the profile counts;
///  - nothing was written out of its place.
std::string wrong(const OnGpus& run, const cuda::GpuRun& gpus);

}  // namespace orrery::test
