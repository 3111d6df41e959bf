#include "simulator/network/paths.h"

#include "models/base/check.h"

namespace orrery {

const Path& Paths::between(VertexId from, VertexId to) {
  const auto [known, is_new] = known_.try_emplace({from, to});
  Path& path = known->second;
  if (!is_new || from == to)
    return path;
  std::optional<Route> route = fabric_.route(from, to);
  ORRERY_CHECK(route.has_value(), "lowering refuses members without a route");
  path.links = std::move(*route);
  for (const LinkId id : path.links) {
    const Link& link = fabric_.link(id);
    path.bottleneck = path.peak(link.bandwidth);
    path.latency += link.latency;
  }
  return path;
}

}  // namespace orrery
