#pragma once

// This applies faults to a cluster and a lowered program. The algorithms stay those of the healthy
// cluster, as on a machine that breaks after the choice. So the schedules stay the same, and
// executors need not know of faults.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/program/program.h"
#include "models/scenario/fault.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// The parts of the healthy cluster that faults replace in a run.
struct FaultEffects {
  std::optional<Fabric> fabric;       // if some link changed; links keep their ids
  std::vector<Instant> device_start;  // per logical id; empty: all begin at 0
};

/// Lengthens the local ops of `lowered`, and returns the other effects. The amount drawn for an op
/// depends only on the seed, the op's name and the device; that for a link only on the seed and the
/// link's id. Throws Overflow.
FaultEffects apply_faults(std::span<const Fault> faults, const Program& program,
                          const Fabric& healthy, uint64_t seed, Lowered& lowered);

}  // namespace orrery
