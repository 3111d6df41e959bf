#include "simulator/lower/reach.h"

#include <algorithm>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>

namespace orrery {

Reach::Reach(const Fabric& fabric) : component_(fabric.devices() + fabric.switches().size()) {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph(component_.size());
  for (const Link& link : fabric.links())
    if (!link.cut)
      boost::add_edge(link.from.index(), link.to.index(), graph);
  boost::strong_components(graph, boost::make_iterator_property_map(
                                      component_.begin(), boost::get(boost::vertex_index, graph)));
}

bool Reach::mutual(std::span<const VertexId> vertices) const {
  return std::all_of(vertices.begin(), vertices.end(), [&](VertexId id) {
    return component_[id.index()] == component_[vertices.front().index()];
  });
}

std::optional<Unrouted> first_unrouted(const Schedule& schedule, std::span<const VertexId> vertices,
                                       Paths& paths, const Reach& reach) {
  if (reach.mutual(vertices))
    return std::nullopt;
  std::optional<Unrouted> first;
  const Extent extent = schedule.extent();
  for (uint32_t n = 0; n < extent.nodes; ++n) {
    for (uint32_t c = 0; c < extent.channels; ++c) {
      schedule.for_each_receiver(Node(n), Channel(c), [&](const Sent& sent) {
        const VertexId sender = vertices[n];
        const VertexId receiver = vertices[sent.to.index()];
        if (!first && !paths.find(sender, receiver))
          first = Unrouted{sender, receiver};
      });
      if (first)
        return first;
    }
  }
  return std::nullopt;
}

std::optional<LostRoute> first_unrouted(const Lowered& lowered, Paths& paths) {
  const Reach reach(paths.fabric());
  for (size_t c = 0; c < lowered.collectives.size(); ++c) {
    const Collective& collective = lowered.collectives[c];
    if (auto ends = first_unrouted(*collective.schedule, collective.vertices, paths, reach))
      return LostRoute{CollectiveId(c), *ends};
  }
  return std::nullopt;
}

}  // namespace orrery
