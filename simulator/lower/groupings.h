#pragma once

// This stores each list of groups once, since many sites of a program have the same.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/base/shared_list.h"
#include "models/fabric/fabric.h"
#include "models/mesh/mesh.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// Returns the vertices of the members. Logical id d runs on device d.
SharedList<VertexId> vertices_of(const Group& members);

/// Returns how the ranks lie on the fabric.
Layout layout_of(const Fabric& fabric, std::span<const VertexId> ranks);

/// Returns the groups with the ranks of each node side by side, in the order of their devices, as
/// algorithms with levels need them. A reduction of whole operands has the same result in any order
/// of ranks, but for roundings. Groups stay as they are without nodes, and where the links inside
/// of nodes are slower than those of the network.
std::vector<Group> node_by_node(const Fabric& fabric, std::vector<Group> groups);

/// A Grouping has the groups of a site, and how they lie on the fabric.
struct Grouping {
  std::vector<Group> groups;
  std::vector<TransferGroup> transfers;        // of a transfer: what each is; else empty
  std::vector<GroupMember> absent;             // members by which no op enters
  std::vector<SharedList<LogicalId>> members;  // per group
  std::vector<SharedList<VertexId>> vertices;  // per group
  std::vector<Layout> layouts;                 // per group
  GroupTable table;
  std::vector<size_t> shapes;  // the first group of each shape, without groups of one
};

/// It stores each list of groups once. Two groups have the same shape if one is the other shifted
/// along the devices, the two vertices of each rank have the same outgoing links, and they lie
/// alike to the group's first one (Topology::placed). On topologies by rule such groups take the
/// same time, unless equal ways are chosen by number or hash and some of them collide.
class Groupings {
 public:
  explicit Groupings(const Fabric& fabric) : fabric_(fabric) {}

  /// Returns the grouping of these groups, which equal lists share. The reference stays valid.
  const Grouping& of(const std::vector<Group>& groups,
                     const std::vector<TransferGroup>& transfers = {},
                     const std::vector<GroupMember>& absent = {});

 private:
  uint64_t links_hash(VertexId vertex);
  std::vector<size_t> shapes(const std::vector<SharedList<VertexId>>& vertices);

  const Fabric& fabric_;
  std::vector<std::optional<uint64_t>> links_;  // per vertex: hash of its outgoing links, if known
  std::map<uint64_t, std::vector<std::unique_ptr<Grouping>>> known_;  // by their hash
};

}  // namespace orrery
