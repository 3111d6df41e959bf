#pragma once

// Which devices can reach each other, so that a group need not be searched pair by pair.

#include <optional>
#include <span>
#include <vector>

#include "models/base/id.h"
#include "models/fabric/fabric.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

class Reach {
 public:
  explicit Reach(const Fabric& fabric);

  /// Whether each of the vertices has a route to each other one.
  bool mutual(std::span<const VertexId> vertices) const;

 private:
  std::vector<size_t> component_;  // per vertex: its strongly connected component
};

/// The first member that sends to a device without a route, by node and channel; empty if every
/// message has one. `reach` is that of the fabric of `paths`.
struct Unrouted {
  VertexId sender, receiver;
};
std::optional<Unrouted> first_unrouted(const Schedule& schedule, std::span<const VertexId> vertices,
                                       Paths& paths, const Reach& reach);

/// The same of a whole program: its first collective with such a member.
struct LostRoute {
  CollectiveId collective;
  Unrouted ends;
};
std::optional<LostRoute> first_unrouted(const Lowered& lowered, Paths& paths);

}  // namespace orrery
