#pragma once

// Which collectives lie outside of what a transport was calibrated for.

#include <span>
#include <string>
#include <vector>

#include "models/fabric/transport.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// For each op, one label with the ranks and sizes of its collectives that lie outside:
/// "transport: extrapolated to psum of 16 ranks, 1 GiB (calibrated for 2 to 8 ranks, 96 B to 384
/// MiB)". None where the transport does not say what it was calibrated for.
std::vector<std::string> extrapolated_labels(const TransportFigures& transport,
                                             std::span<const Collective> collectives);

/// The larger of operand and result on a rank, as the collective moves them.
Bytes largest_tensor(const Collective& collective);

}  // namespace orrery
