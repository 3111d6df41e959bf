#include "models/fabric/fabric.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <fmt/format.h>

#include "models/base/check.h"
#include "models/base/hash.h"

namespace orrery {

/// A search over links that are not cut says which vertices reach each other.
struct Fabric::Graph {
  Graph(uint32_t vertices, const std::vector<Link>& links)
      : first_from(vertices + size_t{1}, 0), component(vertices) {
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph(vertices);
    by_ends.reserve(links.size());
    for (uint32_t i = 0; i < links.size(); ++i) {
      if (links[i].cut)
        continue;
      boost::add_edge(links[i].from.index(), links[i].to.index(), graph);
      by_ends.push_back(i);
    }
    const auto key = [&](uint32_t link) {
      return std::tuple(links[link].from, links[link].to, link);
    };
    std::sort(by_ends.begin(), by_ends.end(),
              [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    for (const uint32_t link : by_ends)
      ++first_from[links[link].from.index() + size_t{1}];
    std::partial_sum(first_from.begin(), first_from.end(), first_from.begin());
    boost::strong_components(graph, boost::make_iterator_property_map(
                                        component.begin(), boost::get(boost::vertex_index, graph)));
  }

  /// Returns the lowest link from `from` straight to `to`.
  std::optional<LinkId> direct(const Fabric& fabric, VertexId from, VertexId to) const {
    const auto out_of = by_ends.begin() + first_from[from.index()];
    const auto out_end = by_ends.begin() + first_from[from.index() + size_t{1}];
    const auto begin = std::lower_bound(out_of, out_end, to, [&](uint32_t link, VertexId wanted) {
      return fabric.link(LinkId(link)).to < wanted;
    });
    return begin != out_end && fabric.link(LinkId(*begin)).to == to ? std::optional(LinkId(*begin))
                                                                    : std::nullopt;
  }

  std::vector<uint32_t> by_ends;  // ids of links that are not cut, in the order of (from, to, id)
  std::vector<uint32_t> first_from;  // per vertex: where its links out begin in by_ends
  std::vector<size_t> component;     // per vertex: its strongly connected component
};

Fabric::Fabric(uint32_t devices, std::vector<std::string> switches, std::vector<Link> links,
               Ways ways)
    : Fabric(std::make_shared<const ListedTopology>(devices, std::move(switches), std::move(links)),
             ways) {}

Fabric::Fabric(std::shared_ptr<const Topology> topology, Ways ways)
    : topology_(std::move(topology)), ways_(ways) {
  if (!topology_->is_searched())
    return;
  const std::vector<Link> links = this->links();
  has_cuts_ = std::any_of(links.begin(), links.end(), [](const Link& link) { return link.cut; });
  graph_ = std::make_shared<const Graph>(vertices(), links);
}

std::vector<std::string> Fabric::switch_names() const {
  std::vector<std::string> names;
  for (uint32_t s = 0; s < switches(); ++s)
    names.push_back(topology_->switch_name(s));
  return names;
}

std::vector<Link> Fabric::links() const {
  if (changed_)
    return *changed_;
  std::vector<Link> links;
  links.reserve(count_links());
  for (uint32_t l = 0; l < count_links(); ++l)
    links.push_back(topology_->link(LinkId(l)));
  return links;
}

Fabric Fabric::with_reduction(std::vector<VertexId> switches) const {
  for (const VertexId id : switches)
    ORRERY_CHECK(id.index() >= devices() && id.index() < vertices(), "only a switch reduces");
  std::sort(switches.begin(), switches.end());
  Fabric fabric(*this);
  fabric.reducing_switches_ = std::move(switches);
  return fabric;
}

Fabric Fabric::with_links(std::vector<Link> links, int64_t rate_parts) const {
  ORRERY_CHECK(rate_parts >= 1 && rate_parts <= kMostRateParts, "the parts of rates are few");
  ORRERY_CHECK(links.size() == count_links(), "each link has figures");
  Fabric fabric(*this);
  fabric.has_cuts_ =
      std::any_of(links.begin(), links.end(), [](const Link& link) { return link.cut; });
  if (topology_->is_searched() || (fabric.has_cuts_ && topology_->devices_forward()))
    fabric.graph_ = std::make_shared<const Graph>(vertices(), links);
  fabric.changed_ = std::make_shared<const std::vector<Link>>(std::move(links));
  fabric.rate_parts_ = rate_parts;
  return fabric;
}

uint64_t Fabric::hashed_number(VertexId from, VertexId to, uint32_t channel) const {
  Hasher hasher;
  hasher.add(ways_.seed);
  hasher.add(uint64_t{from.index()});
  hasher.add(uint64_t{to.index()});
  hasher.add(uint64_t{channel});
  return hasher.word();
}

std::optional<LinkId> Fabric::direct_link(VertexId from, VertexId to) const {
  if (graph_)
    return graph_->direct(*this, from, to);
  if (has_cuts_) {
    const std::vector<LinkId> between = links_between(from, to);
    return between.empty() ? std::nullopt : std::optional(between.front());
  }
  Route route;
  // Number 0 decides for the first of parallel links.
  const bool found = topology_->append_route(from, to, 0, route) && route.size() == 1;
  return found ? std::optional(route.front()) : std::nullopt;
}

std::vector<LinkId> Fabric::links_between(VertexId from, VertexId to) const {
  std::vector<LinkId> between;
  topology_->for_each_link_from(from, [&](LinkId id) {
    const Link link = this->link(id);
    if (!link.cut && link.to == to)
      between.push_back(id);
  });
  return between;
}

std::vector<VertexId> Fabric::neighbours(VertexId from) const {
  std::vector<VertexId> found;
  topology_->for_each_link_from(from, [&](LinkId id) {
    if (const Link link = this->link(id); !link.cut)
      found.push_back(link.to);
  });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool Fabric::reach_each_other(std::span<const VertexId> vertices) const {
  if (!graph_)
    return topology_->joins_all() && !has_cuts_;
  return std::all_of(vertices.begin(), vertices.end(), [&](VertexId id) {
    return graph_->component[id.index()] == graph_->component[vertices.front().index()];
  });
}

std::string Fabric::vertex_text(VertexId id) const {
  if (is_device(id))
    return "device " + std::to_string(id.index());
  return fmt::format("switch \"{}\"", switch_name(id));
}

std::string Fabric::link_text(LinkId id) const {
  const Link link = this->link(id);
  return vertex_text(link.from) + " -> " + vertex_text(link.to);
}

ListedTopology::ListedTopology(uint32_t devices, std::vector<std::string> switches,
                               std::vector<Link> links)
    : devices_(devices), switches_(std::move(switches)), links_(std::move(links)) {
  const size_t vertices = devices_ + switches_.size();
  first_from_.resize(vertices + 1);
  for (const Link& link : links_) {
    ORRERY_CHECK(link.from.index() < vertices && link.to.index() < vertices,
                 "a link joins vertices of its fabric");
    ORRERY_CHECK(link.from != link.to, "a link joins two different vertices");
    ORRERY_CHECK(link.bandwidth.count() > 0 && link.latency.count() >= 0,
                 "a link has a bandwidth, and a latency that is not negative");
    ++first_from_[link.from.index() + size_t{1}];
  }
  std::partial_sum(first_from_.begin(), first_from_.end(), first_from_.begin());
  by_source_.resize(links_.size());
  std::vector<uint32_t> next(first_from_.begin(), first_from_.end() - 1);
  for (uint32_t l = 0; l < links_.size(); ++l)
    by_source_[next[links_[l].from.index()]++] = l;
}

void ListedTopology::for_each_link_from(VertexId from, FunctionRef<void(LinkId)> visit) const {
  for (uint32_t i = first_from_[from.index()]; i < first_from_[from.index() + size_t{1}]; ++i)
    visit(LinkId(by_source_[i]));
}

bool ListedTopology::append_route(VertexId /*from*/, VertexId /*to*/,
                                  std::optional<uint64_t> /*number*/, Route& /*route*/) const {
  return false;
}

}  // namespace orrery
