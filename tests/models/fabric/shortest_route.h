#pragma once

// This is the rule of routes as a plain breadth-first search. Tests compare Paths with it.

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "models/fabric/fabric.h"

namespace orrery::test {

using Route = std::vector<LinkId>;

/// Returns the route with the fewest links that are not cut. Among several such routes it returns
/// the one whose link ids, compared in order, are lowest. The result is empty if there is no route.
inline std::optional<Route> shortest_route(const Fabric& fabric, VertexId from, VertexId to) {
  // Vertices leave the queue in the order of their distance, and at one distance in the order of
  // their routes. Each vertex follows its links in the order of ids. So each vertex is first met
  // over its lowest route.
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
