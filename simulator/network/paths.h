#pragma once

// Routes with their figures, looked up once per pair.

#include <map>
#include <utility>

#include "models/fabric/fabric.h"

namespace orrery {

struct Path {
  Route links;
  BytesPerSecond bottleneck;  // the least bandwidth on the way
  Duration latency;           // the sum over the links
};

/// Requires that the fabric has a route for each pair asked for (lower() refuses programs without).
class Paths {
 public:
  explicit Paths(const Fabric& fabric) : fabric_(fabric) {}
  const Path& between(VertexId from, VertexId to);

 private:
  const Fabric& fabric_;
  std::map<std::pair<VertexId, VertexId>, Path> known_;  // references stay valid
};

}  // namespace orrery
