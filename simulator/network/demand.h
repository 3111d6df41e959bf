#pragma once

// This finds the program's demand of each link: the maximum rate at once, and the bytes in total. A
// link whose capacity covers the maximum never slows a message down. If that holds for every link,
// the sweep is exact; if it holds for some links, the engine need not share them.

#include <compare>
#include <cstdint>
#include <vector>

#include "models/array/work.h"
#include "models/base/compiler.h"
#include "models/fabric/fabric.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// A Sending is what a run of a collective sends, and where. Runs of equal sendings send the same
/// bytes over each link.
struct Sending {
  const Schedule* schedule;
  const VertexId* vertices;
  Bytes item;
  explicit Sending(const Collective& collective)
      : schedule(collective.schedule),
        vertices(collective.vertices.begin()),
        item(itemsize(collective.work)) {}
  friend auto operator<=>(const Sending&, const Sending&) = default;
};

/// How much the chains of a program ask of a link. A chain is a sequence of messages, each sent
/// after the one before. The messages of a member on one channel number, over all collectives of
/// its stream, are a chain. At a switch, the messages of one channel in one run of a collective are
/// a chain. The collectives of a switch do not wait for each other, nor do the runs of one in a
/// loop. The peak rate of a chain on a link is the highest rate that one of its messages can have
/// there, given its route and its declared cap.
struct Demand {
  Int128 peak = 0;  // bytes per second: the sum of the peaks of all chains of the program
  size_t chains = 0;
  Int128 bytes = 0;  // the payloads of all messages that cross the link; independent of timing
  Int128 wire = 0;   // the same bytes with the flags of their protocols

  bool exceeds(const Link& link) const { return peak > link.bandwidth.count(); }
};

struct Demands {
  std::vector<Demand> links;       // per link of the fabric
  std::vector<uint64_t> messages;  // per collective

  /// Returns the bytes over a link. Throws Overflow, which names the link, if they exceed 63 bits.
  Bytes bytes_over(LinkId link, const Fabric& fabric) const;
};

/// Returns the demands. Visits each pair that exchanges in a collective once. Requires routes.
Demands demands(const Lowered& lowered, Paths& paths);

}  // namespace orrery
