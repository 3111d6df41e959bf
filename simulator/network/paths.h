#pragma once

// Routes with their figures, looked up once per pair.

#include <map>
#include <optional>
#include <utility>

#include "models/fabric/fabric.h"

namespace orrery {

struct Path {
  Route links;
  std::optional<BytesPerSecond> bottleneck;  // the least bandwidth on the way; empty: no links
  Duration latency;                          // the sum over the links

  /// The most that one flow gets here, when it declares `cap`; empty where nothing limits it.
  std::optional<BytesPerSecond> peak(std::optional<BytesPerSecond> cap) const {
    return cap && (!bottleneck || *cap < *bottleneck) ? cap : bottleneck;
  }
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
