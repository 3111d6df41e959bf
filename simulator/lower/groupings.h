#pragma once

// The groups of sites, each list of groups held once: many sites of a program have the same.

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "models/base/shared_list.h"
#include "models/mesh/mesh.h"
#include "simulator/schedule/members.h"

namespace orrery {

/// A site's groups, placed: logical id d runs on device d.
struct Grouping {
  std::vector<Group> groups;
  std::vector<SharedList<LogicalId>> members;  // per group
  std::vector<SharedList<VertexId>> places;    // per group
  GroupTable table;
};

class Groupings {
 public:
  /// The reference stays valid; equal lists of groups have one.
  const Grouping& of(const std::vector<Group>& groups);

 private:
  std::unordered_map<uint64_t, std::vector<std::unique_ptr<Grouping>>> known_;  // by their hash
};

}  // namespace orrery
