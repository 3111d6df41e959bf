#pragma once

// Applies faults to a cluster and a lowered program. The algorithms stay those of the healthy
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

/// What a run uses instead of the healthy cluster.
struct FaultEffects {
  std::optional<Fabric> fabric;       // if some link changed; links keep their ids
  std::vector<Instant> device_start;  // per logical id; empty: all begin at 0
};

/// Lengthens the local ops of `lowered`, and returns the other effects. An op's draw depends only
/// on the seed, its name and the device; a link's only on the seed and its id. Throws Overflow.
FaultEffects apply_faults(std::span<const Fault> faults, const Program& program,
                          const Fabric& healthy, uint64_t seed, Lowered& lowered);

}  // namespace orrery
