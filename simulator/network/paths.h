#pragma once

// Routes with their figures, looked up once per pair.

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "models/fabric/fabric.h"
#include "simulator/schedule/durations.h"

namespace orrery {

struct Path {
  Route links;
  std::optional<BytesPerSecond> bottleneck;  // the least bandwidth on the way; empty: no links
  Duration latency;                          // the sum over the links
  Route shared;                              // those of `links` whose use is shared out

  /// The most that one message gets here, when it declares `cap`. Requires links.
  BytesPerSecond peak(std::optional<BytesPerSecond> cap) const { return most(*bottleneck, cap); }
  /// How long a message takes that gets the most, latency apart; nothing where there are no links.
  Duration transfer(Bytes size, std::optional<BytesPerSecond> cap) const {
    return message_duration(size, bottleneck, cap);
  }
};

/// Requires that the fabric has a route for each pair asked for (lower() refuses programs without).
class Paths {
 public:
  explicit Paths(const Fabric& fabric) : fabric_(fabric) {}
  const Path& between(VertexId from, VertexId to);

  /// From now on the links in `shared`, by link id, are shared out among the messages on them; no
  /// other link ever slows a message down. Before, none is.
  void share(std::vector<bool> shared);

 private:
  void set_shared(Path& path) const;

  const Fabric& fabric_;
  std::vector<bool> shared_;                             // per link; empty: none
  std::map<std::pair<VertexId, VertexId>, Path> known_;  // references stay valid
};

}  // namespace orrery
