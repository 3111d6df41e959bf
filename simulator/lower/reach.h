#pragma once

// Which devices can reach each other, so that a group of them need not be searched pair by pair.

#include <span>
#include <vector>

#include "models/base/id.h"
#include "models/fabric/fabric.h"

namespace orrery {

class Reach {
 public:
  explicit Reach(const Fabric& fabric);

  /// Whether there is a route from each of the vertices to each other.
  bool mutual(std::span<const VertexId> vertices) const;

 private:
  std::vector<size_t> component_;  // per vertex: its strongly connected component
};

}  // namespace orrery
