#pragma once

// What faults make of a cluster and of what a program was lowered to. The algorithms stay those of
// the cluster without faults, as on a machine that breaks after the choice; so the same schedules
// run, and whoever walks them knows nothing of faults.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/program/program.h"
#include "models/scenario/fault.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// What a run has in the place of the healthy cluster.
struct FaultEffects {
  std::optional<Fabric> fabric;       // where a link is not as it was; links keep their ids
  std::vector<Instant> device_start;  // per logical id; empty: all begin at 0
};

/// Lengthens the local ops of `lowered`, and returns the rest. An op's draw depends on the seed,
/// its name and the device, a link's on the seed and its id: on nothing else of the program. Throws
/// Overflow.
FaultEffects apply_faults(std::span<const Fault> faults, const Program& program,
                          const Fabric& healthy, uint64_t seed, Lowered& lowered);

}  // namespace orrery
