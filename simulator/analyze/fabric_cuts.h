#pragma once

// This proposes cuts of a fabric: sets of vertices whose links to the others may be too few for
// what a collective must send over them. fabric_bounds.h judges them. A cut that limits nothing
// does no harm, so proposals need not be good ones.
//
// Rules propose whole divisions of the fabric into blocks:
//  - each device by itself, and blocks of consecutive devices: nodes, 2, 4, 8, ... nodes, and the
//    subtrees of a tree; of other fabrics, blocks of 2, 4, 8, ... devices;
//  - for each dimension of a torus, its two halves, and its lines and planes.
// A switch joins a block if most of what leads into it comes from there. Each round of this gives a
// division of its own: leaves, say, then the spines of a pod.
//
// A maximum flow proposes the least cut between ranks. It is only asked for in small fabrics.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/base/compiler.h"
#include "models/base/id.h"
#include "models/fabric/fabric.h"

namespace orrery {

/// A Division has disjoint blocks of vertices. Bandwidths are in the fabric's parts.
struct Division {
  static constexpr uint32_t kNone = UINT32_MAX;

  std::vector<uint32_t> block;  // of each vertex; kNone: in no block
  std::vector<int64_t> out;     // per block: the bandwidth of the links that lead out, together
  std::vector<int64_t> in;      // per block: that of the links that lead in
  bool folds_outside = false;   // some switch that reduces is in no block
};

/// Returns the links that messages between these ranks may cross, if the topology's rule leaves
/// some out. Messages of a node's devices stay inside the node. Those of a line or plane of a torus
/// stay in it, and those of a full mesh go straight. The result is empty if it may be any link, or
/// if switches that join nodes reduce.
std::optional<std::vector<LinkId>> links_among(const Fabric& fabric,
                                               std::span<const VertexId> ranks);

/// Links without those that are cut, by the vertex that they leave.
struct OpenLinks {
  /// Takes these links, or all.
  explicit OpenLinks(const Fabric& fabric,
                     const std::optional<std::vector<LinkId>>& only = std::nullopt);

  struct Open {
    LinkId id;
    Link link;
  };
  std::vector<Open> links;      // in the order of (from, id)
  std::vector<uint32_t> first;  // per vertex: where its links begin; and the end
  Int128 bandwidth = 0;         // of all links together
};

/// Returns the divisions that the fabric's rules propose. Requires that all links together have a
/// bandwidth of 63 bits.
std::vector<Division> divisions(const Fabric& fabric, const OpenLinks& links);

/// Says between which ranks a flow is sought.
enum class FlowEnds : uint8_t {
  FromAll,  // from all other ranks, which send at one rate, to each rank
  ToAll,    // from each rank to all others
  Pairs,    // between the first rank and each other one, both ways
};

/// Returns divisions of one block each: the least cuts that limit the flows. There are at most as
/// many flows as `most`; if there are more ranks, evenly spaced ones are taken. Requires the same.
std::vector<Division> flow_cuts(const Fabric& fabric, const OpenLinks& links,
                                std::span<const VertexId> ranks, FlowEnds ends, size_t most);

}  // namespace orrery
