#include "models/fabric/fabric.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <fmt/format.h>

#include "models/base/check.h"

namespace orrery {

struct Fabric::Graph {
  struct LinkProperty {
    uint32_t link = 0;
  };
  // Links are added in id order, so a vertex's out-edges are in id order.
  using LinkGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS,
                                          boost::no_property, LinkProperty>;

  Graph(size_t vertices, const std::vector<Link>& links)
      : graph(vertices), first_from(vertices + 1, 0), component(vertices) {
    by_ends.reserve(links.size());
    for (uint32_t i = 0; i < links.size(); ++i) {
      if (links[i].cut)
        continue;
      boost::add_edge(links[i].from.index(), links[i].to.index(), LinkProperty{i}, graph);
      by_ends.push_back(i);
    }
    const auto key = [&](uint32_t link) {
      return std::tuple(links[link].from, links[link].to, link);
    };
    std::sort(by_ends.begin(), by_ends.end(),
              [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    for (const uint32_t link : by_ends)
      ++first_from[links[link].from.index() + 1];
    std::partial_sum(first_from.begin(), first_from.end(), first_from.begin());
    boost::strong_components(graph, boost::make_iterator_property_map(
                                        component.begin(), boost::get(boost::vertex_index, graph)));
  }

  /// Returns the links from `from` straight to `to`.
  std::span<const uint32_t> direct(const std::vector<Link>& links, VertexId from,
                                   VertexId to) const {
    const auto out_of = by_ends.begin() + first_from[from.index()];
    const auto out_end = by_ends.begin() + first_from[from.index() + 1];
    const auto begin = std::lower_bound(out_of, out_end, to, [&](uint32_t link, VertexId wanted) {
      return links[link].to < wanted;
    });
    auto end = begin;
    while (end != out_end && links[*end].to == to)
      ++end;
    return {begin, end};
  }

  LinkGraph graph;
  std::vector<uint32_t> by_ends;  // ids of links that are not cut, in the order of (from, to, id)
  std::vector<uint32_t> first_from;  // per vertex: where its links out begin in by_ends
  std::vector<size_t> component;     // per vertex: its strongly connected component
};

Fabric::Fabric(uint32_t devices, std::vector<std::string> switches, std::vector<Link> links)
    : devices_(devices), switches_(std::move(switches)), links_(std::move(links)) {
  const size_t vertices = devices_ + switches_.size();
  for (const Link& link : links_) {
    ORRERY_CHECK(link.from.index() < vertices && link.to.index() < vertices,
                 "a link joins vertices of its fabric");
    ORRERY_CHECK(link.from != link.to, "a link joins two different vertices");
    ORRERY_CHECK(link.bandwidth.count() > 0 && link.latency.count() >= 0,
                 "a link has a bandwidth, and a latency that is not negative");
  }
  graph_ = std::make_shared<const Graph>(vertices, links_);
}

Fabric Fabric::with_reduction(std::vector<VertexId> switches) const {
  for (const VertexId id : switches)
    ORRERY_CHECK(id.index() >= devices_ && id.index() < devices_ + switches_.size(),
                 "only a switch reduces");
  std::sort(switches.begin(), switches.end());
  Fabric fabric(*this);
  fabric.reducing_switches_ = std::move(switches);
  return fabric;
}

Fabric Fabric::with_links(std::vector<Link> links, int64_t rate_parts) const {
  ORRERY_CHECK(rate_parts >= 1 && rate_parts <= kMostRateParts, "the parts of rates are few");
  Fabric fabric(devices_, switches_, std::move(links));
  fabric.reducing_switches_ = reducing_switches_;
  fabric.rate_parts_ = rate_parts;
  return fabric;
}

std::optional<LinkId> Fabric::direct_link(VertexId from, VertexId to) const {
  const std::span<const uint32_t> direct = graph_->direct(links_, from, to);
  return direct.empty() ? std::nullopt : std::optional(LinkId(direct.front()));
}

std::vector<LinkId> Fabric::links_between(VertexId from, VertexId to) const {
  const std::span<const uint32_t> direct = graph_->direct(links_, from, to);
  return {direct.begin(), direct.end()};
}

std::vector<VertexId> Fabric::neighbours(VertexId from) const {
  std::set<VertexId> targets;
  const auto [begin, end] = boost::out_edges(from.index(), graph_->graph);
  for (auto edge = begin; edge != end; ++edge)
    targets.emplace(boost::target(*edge, graph_->graph));
  return {targets.begin(), targets.end()};
}

bool Fabric::reach_each_other(std::span<const VertexId> vertices) const {
  return std::all_of(vertices.begin(), vertices.end(), [&](VertexId id) {
    return graph_->component[id.index()] == graph_->component[vertices.front().index()];
  });
}

std::string Fabric::vertex_text(VertexId id) const {
  if (id.index() < devices_)
    return fmt::format("device {}", id.index());
  return fmt::format("switch \"{}\"", switches_[id.index() - devices_]);
}

std::string Fabric::link_text(LinkId id) const {
  return fmt::format("{} -> {}", vertex_text(link(id).from), vertex_text(link(id).to));
}

}  // namespace orrery
