#pragma once

// What a program asks of each link: the most at once, and in all. A link that can give the most
// that is asked of it never slows a message down: where that holds for every link the sweep is
// exact, and where it holds for some the engine need not share them.

#include <cstdint>
#include <vector>

#include "models/base/int128.h"
#include "models/fabric/fabric.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// A chain is what one (list, stream, channel) sends, each message after the one before; its peak
/// rate on a link is the most that one of its messages that cross the link can get on its route and
/// under its declared cap.
struct Demand {
  Int128 peak = 0;  // bytes per second: the peaks of all chains of the program together
  size_t chains = 0;
  Int128 bytes = 0;  // the payloads of all messages that cross it: they do not depend on timing

  bool exceeds(const Link& link) const { return peak > link.bandwidth.count(); }
};

struct Demands {
  std::vector<Demand> links;       // per link of the fabric
  std::vector<uint64_t> messages;  // per collective
};

/// Looks once at each pair of devices that exchange in a collective. Requires routes.
Demands demands(const Lowered& lowered, Paths& paths);

}  // namespace orrery
