#pragma once

// The buffers through which the messages of collectives pass: each connection of a communicator has
// slots, from the first use to the end. They are counted at the receiver; NCCL may have them at the
// sender (P2P reads), or at both (networks).

#include <vector>

#include "models/base/quantity.h"
#include "models/program/program.h"
#include "models/scenario/scenario.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// Returns the bytes per device. A communicator is one group (members in rank order) on one stream
/// of one list; its sites with one protocol share connections. Two nodes have one connection in
/// each direction for each channel on which a site sends. A connection has as many slots as the
/// site that uses the most. Collectives whose protocol has no slots have no buffers. Throws
/// KeyOverflow if a device has more than kMostReserved.
std::vector<Bytes> transport_buffers(const Program& program, const Lowered& lowered);

}  // namespace orrery
