#pragma once

// The rule of routes, by a plain breadth-first search: what Paths is compared with.

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "models/fabric/fabric.h"

namespace orrery::test {

using Route = std::vector<LinkId>;

/// The route with the fewest links that are not cut; among those, the one whose links have the
/// lowest ids, compared in order. Empty if there is none.
inline std::optional<Route> shortest_route(const Fabric& fabric, VertexId from, VertexId to) {
  // Vertices leave the queue by distance, and within one distance in the order of their routes.
  // Each follows its links in id order. So every vertex is first met over its lowest route.
  std::map<VertexId, Route> routes = {{from, {}}};
  std::deque<VertexId> queue = {from};
  while (!queue.empty()) {
    const VertexId vertex = queue.front();
    queue.pop_front();
    for (size_t l = 0; l < fabric.links().size(); ++l) {
      const Link& link = fabric.link(LinkId(l));
      if (link.cut || link.from != vertex || routes.find(link.to) != routes.end())
        continue;
      Route route = routes.at(vertex);
      route.push_back(LinkId(l));
      routes.emplace(link.to, std::move(route));
      queue.push_back(link.to);
    }
  }
  const auto found = routes.find(to);
  return found == routes.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace orrery::test
