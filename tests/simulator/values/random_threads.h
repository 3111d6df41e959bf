#pragma once

// Makes random programs of one or two threads on {x: 2, y: 3}, of s32 and f32. They have
// collectives, sync and started, exchanges between the threads, psends, and local ops around them.

#include <cstdint>
#include <memory>

#include "tests/simulator/values/host_rig.h"

namespace orrery::test {

/// Returns a rig that is not lowered yet. The program always ends, since the threads come to their
/// common ops in one order.
std::unique_ptr<HostRig> random_threads(uint64_t seed);

}  // namespace orrery::test
