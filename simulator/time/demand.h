#pragma once

// The most that a program may ever ask of each link at once. A link that can give all of it never
// slows a message down: where that holds for every link the sweep is exact, and where it holds for
// some the engine need not share them.

#include <vector>

#include "models/base/int128.h"
#include "models/fabric/fabric.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// A chain is what one (device, stream, channel) sends, each message after the one before; its peak
/// rate on a link is the most that one of its messages that cross the link can get on its route and
/// under its declared cap.
struct Demand {
  Int128 peak = 0;  // bytes per second: the peaks of all chains of the program together
  size_t chains = 0;

  bool exceeds(const Link& link) const { return peak > link.bandwidth.count(); }
};

/// Per link of the fabric.
std::vector<Demand> demands(const Lowered& lowered, const Fabric& fabric, Paths& paths);

}  // namespace orrery
