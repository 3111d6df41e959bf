#pragma once

// Checks of a run on GPUs.

#include "models/program/program.h"
#include "simulator/memory/profile.h"
#include "simulator/values/cuda/executor.h"
#include "simulator/values/values.h"
#include "verifier/report.h"

namespace orrery {

/// Every value that an op makes on the GPUs is the host's, bit for bit, on every device
/// (VALUES.GPUS). Otherwise names the first that differs, with the element.
Check gpu_values_agree(const Program& program, const DeviceValues& host, const DeviceValues& gpus);

/// MEMORY.ARENA.
Check arenas_agree(const MemoryProfile& memory, const cuda::GpuFacts& facts);

/// MEMORY.GUARDS.
Check guards_whole(const cuda::GpuFacts& facts);

}  // namespace orrery
