#pragma once

// The program's demand of each link: the maximum rate at once, and the bytes in total. A link whose
// capacity covers the maximum never slows a message down. Where that holds for every link the sweep
// is exact; where it holds for some, the engine need not share them.

#include <cstdint>
#include <vector>

#include "models/base/compiler.h"
#include "models/fabric/fabric.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// How much the chains of a program ask of a link. A chain is messages that are sent one after
/// another: those of one channel number of a member in all collectives of its stream. A switch
/// sends those of one channel in one run of a collective one after another; its collectives do not
/// wait for each other, nor for the run before in a loop. The peak rate of a chain on a link is the
/// highest rate that one of its messages can have there, given its route and its declared cap.
struct Demand {
  Int128 peak = 0;  // bytes per second: the peaks of all chains of the program together
  size_t chains = 0;
  Int128 bytes = 0;  // the payloads of all messages that cross it; independent of timing
  Int128 wire = 0;   // the same with the flags of their protocols

  bool exceeds(const Link& link) const { return peak > link.bandwidth.count(); }
};

struct Demands {
  std::vector<Demand> links;       // per link of the fabric
  std::vector<uint64_t> messages;  // per collective

  /// Throws Overflow, which names the link, if the bytes exceed 63 bits.
  Bytes bytes_over(LinkId link, const Fabric& fabric) const;
};

/// Visits each pair of devices that exchange in a collective once. Requires routes.
Demands demands(const Lowered& lowered, Paths& paths);

}  // namespace orrery
