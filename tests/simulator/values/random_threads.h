#pragma once

// Random programs of one or two threads on {x: 2, y: 3}, of s32 and f32: collectives, started ones
// that are done later, exchanges between the threads, psends, and local ops around them.

#include <cstdint>
#include <memory>

#include "tests/simulator/values/host_rig.h"

namespace orrery::test {

/// Not lowered yet. It always ends: threads come to what they do together in one order.
std::unique_ptr<HostRig> random_threads(uint64_t seed);

}  // namespace orrery::test
