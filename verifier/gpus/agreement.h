#pragma once

// These checks find whether a run on GPUs agrees with the host's, and with the memory profile.

#include <span>

#include "models/program/program.h"
#include "simulator/memory/profile.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/gpu_facts.h"
#include "simulator/values/values.h"
#include "verifier/report.h"

namespace orrery {

/// Checks that every value that an op makes on the GPUs is the host's, bit for bit, on every device
/// (VALUES.GPUS). A value that depends on one of `products`, the ops that cuBLASLt did, may differ
/// within the error bounds of both sides (verifier/oracle/bounds.h). A check that fails names the
/// first value that differs, with the element. The check is undecided if an element without a known
/// bound differs, such as a comparison of floats that are nearer to each other than their errors.
/// It is also undecided if the bounds decide no element of a value that differs.
Check gpu_values_agree(const Program& program, const Lowered& lowered, const DeviceValues& host,
                       const DeviceValues& gpus, std::span<const OpId> products = {});

/// Checks that each virtual device used as many bytes of its arena as the profile counts
/// (MEMORY.ARENA).
Check arenas_agree(const MemoryProfile& memory, const cuda::GpuFacts& facts);

/// Checks that nothing was written outside of its place (MEMORY.GUARDS).
Check guards_whole(const cuda::GpuFacts& facts);

}  // namespace orrery
