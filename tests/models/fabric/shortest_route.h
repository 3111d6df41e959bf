#pragma once

// This is the rule of routes in lists of links, found in the plainest way. Tests compare Paths with
// it.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "models/fabric/fabric.h"

namespace orrery::test {

using LinkList = std::vector<LinkId>;

/// Returns a fabric with the same links in a list.
inline Fabric listed(const Fabric& fabric, Ways ways = {}) {
  return Fabric(fabric.devices(), fabric.switch_names(), fabric.links(), ways);
}

/// Returns the distance of each vertex that can be reached from `from`, in links that are not cut.
inline std::map<VertexId, uint32_t> distances(const Fabric& fabric, VertexId from) {
  std::map<VertexId, uint32_t> found = {{from, 0}};
  for (bool grew = true; grew;) {  // once for each distance
    const std::map<VertexId, uint32_t> before = found;
    for (const Link& link : fabric.links())
      if (!link.cut && before.count(link.from) != 0)
        found.emplace(link.to, before.at(link.from) + 1);
    grew = found.size() > before.size();
  }
  return found;
}

/// Returns the route with the fewest links that are not cut. The number decides between several, as
/// paths.h says. The result is empty if there is no route.
inline std::optional<LinkList> shortest_route(const Fabric& fabric, VertexId from, VertexId to,
                                              std::optional<uint64_t> number = std::nullopt) {
  const std::map<VertexId, uint32_t> distance = distances(fabric, from);
  if (distance.count(to) == 0)
    return std::nullopt;
  const uint64_t decides = number.value_or(to.index());
  struct Hop {
    std::vector<LinkId> lanes;
    uint64_t product;
  };
  std::vector<Hop> hops;  // from the end
  uint64_t product = 1;
  for (VertexId at = to; at != from;) {
    // The vertices that may come before, in the order of their lowest links.
    std::vector<VertexId> before;
    for (const Link& link : fabric.links())
      if (!link.cut && link.to == at && distance.count(link.from) != 0 &&
          distance.at(link.from) + 1 == distance.at(at) &&
          std::find(before.begin(), before.end(), link.from) == before.end())
        before.push_back(link.from);
    const VertexId chosen = before[decides / product % before.size()];
    product *= before.size();
    Hop hop{{}, product};
    for (size_t l = 0; l < fabric.count_links(); ++l)
      if (const Link link = fabric.link(LinkId(l));
          !link.cut && link.from == chosen && link.to == at)
        hop.lanes.emplace_back(l);
    hops.push_back(std::move(hop));
    at = chosen;
  }
  LinkList route;
  for (size_t i = hops.size(); i > 0; --i) {
    const Hop& hop = hops[i - 1];
    const size_t from_nearer_end = std::min(i - 1, hops.size() - i);
    route.push_back(hop.lanes[decides / hops[from_nearer_end].product % hop.lanes.size()]);
  }
  return route;
}

/// Returns the route by the rule of the topology, or in the list of links if it has none.
inline std::optional<LinkList> expected_route(const Fabric& fabric, VertexId from, VertexId to) {
  Route route;
  if (fabric.topology().is_searched() || fabric.has_cuts())
    return shortest_route(fabric, from, to);
  if (!fabric.topology().append_route(from, to, std::nullopt, route))
    return std::nullopt;
  return LinkList(route.begin(), route.end());
}

}  // namespace orrery::test
