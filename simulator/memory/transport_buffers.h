#pragma once

// The buffers through which the messages of collectives pass, as NCCL and its descendants allocate
// them: each connection of a communicator has slots at its receiver, from the first use to the end.

#include <vector>

#include "models/base/quantity.h"
#include "models/program/program.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// Per device, in bytes. A communicator is one group on one stream of one list; its sites share
/// the connections. A connection is a sending channel with a receiver. It has slots for the site
/// with the most of them. Throws Overflow.
std::vector<Bytes> transport_buffers(const Program& program, const Lowered& lowered, Bytes slot);

}  // namespace orrery
