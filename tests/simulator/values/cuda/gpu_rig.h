#pragma once

// Runs programs on the GPUs of a driver and compares their values with the host executor's.

#include <string>

#include "models/program/program.h"
#include "models/scenario/scenario.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/cuda/executor.h"
#include "simulator/values/values.h"

namespace orrery::test {

/// An `OnGpus` is a program with its arguments on every device.
struct OnGpus {
  const Program& program;
  const Lowered& lowered;
  const DeviceValues& arguments;
  MemoryPolicy memory = {};
};

cuda::GpuRun run_on(const cuda::Driver& driver, const OnGpus& run,
                    const cuda::ExecutorOptions& options = {});

/// Returns where the values of the two runs first differ; "" if they are the same.
std::string first_difference(const Program& program, const DeviceValues& host,
                             const DeviceValues& gpus);

/// Returns the first error of a run on GPUs; "" if all of this holds:
///  - the values are the host's, bit for bit;
///  - each half moved the bytes that its schedule states;
///  - each arena was used as the memory profile counts;
///  - nothing was written outside its place.
std::string wrong(const OnGpus& run, const cuda::GpuRun& gpus);

}  // namespace orrery::test
