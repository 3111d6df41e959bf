#pragma once

// The groups of sites, each list of groups held once: many sites of a program have the same.

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "models/base/shared_list.h"
#include "models/fabric/fabric.h"
#include "models/mesh/mesh.h"
#include "simulator/schedule/members.h"

namespace orrery {

/// A site's groups, placed: logical id d runs on device d.
struct Grouping {
  std::vector<Group> groups;
  std::vector<SharedList<LogicalId>> members;  // per group
  std::vector<SharedList<VertexId>> vertices;  // per group
  GroupTable table;
  std::vector<size_t> shapes;  // the first group of each shape, without groups of one
};

/// Two groups have one shape if one is the other moved along the devices, and what links leave a
/// device is the same for the two vertices of each rank: on the fabrics of the topologies, such
/// groups take the same time.
class Groupings {
 public:
  explicit Groupings(const Fabric& fabric) : fabric_(fabric) {}

  /// The reference stays valid; equal lists of groups have one.
  const Grouping& of(const std::vector<Group>& groups);

 private:
  uint64_t links_hash(VertexId vertex);
  std::vector<size_t> shapes(const std::vector<SharedList<VertexId>>& vertices);

  const Fabric& fabric_;
  std::vector<uint64_t> links_;  // per vertex: the hash of what leaves it; empty before it is asked
  std::map<uint64_t, std::vector<std::unique_ptr<Grouping>>> known_;  // by their hash
};

}  // namespace orrery
