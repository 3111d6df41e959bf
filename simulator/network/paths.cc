#include "simulator/network/paths.h"

#include <algorithm>
#include <utility>

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
    path.bottleneck = path.bottleneck ? std::min(*path.bottleneck, link.bandwidth) : link.bandwidth;
    path.latency += link.latency;
  }
  set_shared(path);
  return path;
}

void Paths::share(std::vector<bool> shared) {
  shared_ = std::move(shared);
  for (auto& [ends, path] : known_)
    set_shared(path);
}

void Paths::set_shared(Path& path) const {
  path.shared.clear();
  for (const LinkId id : path.links)
    if (!shared_.empty() && shared_[id.index()])
      path.shared.push_back(id);
}

}  // namespace orrery
