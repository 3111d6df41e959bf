#include "simulator/network/paths.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include <boost/graph/adjacency_list.hpp>

#include "models/base/check.h"

namespace orrery {
namespace {

constexpr uint32_t kFree = UINT32_MAX;  // of a hash table's slots

}  // namespace

/// Returns the vertex's entry, or its place. A table as large as the fabric has no collisions.
size_t RouteSearch::slot(const Graph& graph, VertexId vertex) const {
  const size_t mask = entered_over_.size() - 1;
  size_t at = vertex.index() & mask;
  while (entered_over_[at] != kFree && graph.fabric.link(LinkId(entered_over_[at])).to != vertex)
    at = (at + 1) & mask;
  return at;
}

bool RouteSearch::met(const Graph& graph, VertexId vertex) const {
  return !entered_over_.empty() && entered_over_[slot(graph, vertex)] != kFree;
}

void RouteSearch::meet(const Graph& graph, uint32_t link) {
  const VertexId vertex = graph.fabric.link(LinkId(link)).to;
  if (vertex == from_ || graph.dead_end[vertex.index()])
    return;
  if (2 * met_ >= entered_over_.size() && entered_over_.size() < graph.vertices())
    grow(graph);
  uint32_t& entered = entered_over_[slot(graph, vertex)];
  if (entered != kFree)
    return;
  entered = link;
  ++met_;
  frontier_.push_back(vertex.index());
}

void RouteSearch::grow(const Graph& graph) {
  const std::vector<uint32_t> before = std::move(entered_over_);
  entered_over_.assign(std::max<size_t>(8, 2 * before.size()), kFree);
  for (const uint32_t link : before)
    if (link != kFree)
      entered_over_[slot(graph, graph.fabric.link(LinkId(link)).to)] = link;
}

/// Reaches the neighbours of the next vertex.
void RouteSearch::go_on(const Graph& graph) {
  const uint32_t vertex = frontier_[next_++];
  if (next_ == frontier_.size() || next_ >= 64 + frontier_.size() / 2) {
    frontier_.erase(frontier_.begin(), frontier_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
  }
  for (uint32_t l = graph.first[vertex]; l < graph.first[vertex + 1]; ++l)
    meet(graph, graph.links[l]);
}

// A vertex is met first over its lowest route, since vertices of one distance leave the frontier in
// the order of their routes, and each looks along its links in id order.
bool RouteSearch::backwards(const Graph& graph, VertexId to, Links& links) {
  while (!met(graph, to)) {
    if (next_ == frontier_.size()) {
      frontier_.shrink_to_fit();
      return false;
    }
    go_on(graph);
  }
  for (VertexId at = to; at != from_;) {
    links.emplace_back(entered_over_[slot(graph, at)]);
    at = graph.fabric.link(links.back()).from;
  }
  return true;
}

Paths::Paths(const Fabric& fabric, size_t most_held)
    : graph_{fabric, {}, {}, {}}, most_held_(most_held) {
  const size_t vertices = fabric.devices() + fabric.switches().size();
  count_kept_ = std::bit_ceil(std::min({kMostKept, most_held, vertices * vertices}));
  graph_.first.resize(vertices + 1, 0);
  graph_.dead_end.resize(vertices);
  only_out_.resize(vertices, kNone);
  only_in_.resize(vertices, kNone);
  searches_.resize(vertices);
  const std::span<const Link> links = fabric.links();
  for (uint32_t l = 0; l < links.size(); ++l) {
    if (links[l].cut)
      continue;
    ++graph_.first[links[l].from.index() + 1];
    uint32_t& out = only_out_[links[l].from.index()];
    out = out == kNone ? l : kSeveral;
    uint32_t& in = only_in_[links[l].to.index()];
    in = in == kNone ? l : kSeveral;
  }
  std::partial_sum(graph_.first.begin(), graph_.first.end(), graph_.first.begin());
  graph_.links.resize(graph_.first.back());
  std::vector<uint32_t> next(graph_.first.begin(), graph_.first.end() - 1);
  for (uint32_t l = 0; l < links.size(); ++l)
    if (!links[l].cut)
      graph_.links[next[links[l].from.index()]++] = l;
  // A search can leave out dead ends. It is never asked for a vertex with only one incoming link.
  // No route continues from a vertex without outgoing links, or with only the link back.
  for (size_t v = 0; v < vertices; ++v) {
    const uint32_t in = only_in_[v];
    const uint32_t out = only_out_[v];
    const bool one_in = in != kNone && in != kSeveral;
    graph_.dead_end[v] =
        one_in && (out == kNone || (out != kSeveral && links[out].to == links[in].from));
  }
}

bool Paths::search(VertexId from, VertexId to, RouteSearch::Links& backwards) {
  if (const std::optional<LinkId> direct = fabric().direct_link(from, to)) {
    backwards.push_back(*direct);
    return true;
  }
  std::unique_ptr<RouteSearch>& search = searches_[from.index()];
  if (!search)
    search = std::make_unique<RouteSearch>(from);
  const size_t before = search->held();
  const bool found = search->backwards(graph_, to, backwards);
  held_ += search->held();
  held_ -= before;
  if (held_ > most_held_) {
    for (std::unique_ptr<RouteSearch>& other : searches_)
      other.reset();
    held_ = 0;
  }
  return found;
}

void Paths::append(LinkId id) {
  const Link& link = fabric().link(id);
  path_->links.push_back(id);
  path_->bottleneck =
      path_->bottleneck ? std::min(*path_->bottleneck, link.bandwidth) : link.bandwidth;
  path_->latency += link.latency;
}

size_t Paths::slot_of(VertexId from, VertexId to, size_t size) const {
  const uint64_t vertices = graph_.vertices();
  if (vertices * vertices <= size)
    return from.index() * vertices + to.index();
  const uint64_t hash = uint64_t{from.index()} * 0x9e3779b97f4a7c15U + to.index();
  return (hash ^ hash >> 32U) & (size - 1);
}

bool Paths::append_searched(VertexId from, VertexId to) {
  if (kept_.empty())
    kept_.resize(count_kept_);
  Kept& kept = kept_[slot_of(from, to, kept_.size())];
  if (!kept.asked || kept.from != from || kept.to != to) {
    kept.links.clear();
    const bool found = search(from, to, kept.links);
    kept = {from, to, true, found, std::move(kept.links)};
  }
  const bool found = kept.found;
  for (auto link = kept.links.rbegin(); link != kept.links.rend(); ++link)
    append(*link);
  if (kept.links.capacity() > kMostLinksKept)
    kept = {};
  return found;
}

/// Follows single links out of the source and single links into the target. Where these stop, it
/// searches between.
bool Paths::route(VertexId from, VertexId to) {
  path_->links.clear();
  path_->bottleneck.reset();
  path_->rate_parts = fabric().rate_parts();
  path_->latency = {};
  for (uint32_t steps = 0; from != to; ++steps) {
    const uint32_t only = only_out_[from.index()];
    if (only == kNone || steps > graph_.vertices())
      return false;
    if (only == kSeveral)
      break;
    append(LinkId(only));
    from = fabric().link(LinkId(only)).to;
  }
  ahead_.clear();
  for (uint32_t steps = 0; from != to; ++steps) {
    const uint32_t only = only_in_[to.index()];
    if (only == kNone || steps > graph_.vertices())
      return false;
    if (only == kSeveral)
      break;
    ahead_.emplace_back(only);
    to = fabric().link(LinkId(only)).from;
  }
  if (from != to && !append_searched(from, to))
    return false;
  for (auto link = ahead_.rbegin(); link != ahead_.rend(); ++link)
    append(*link);
  return true;
}

const Path* Paths::find(VertexId from, VertexId to) {
  if (only_out_[from.index()] != kSeveral) {  // mostly found in a few steps
    path_ = &next_;
    return route(from, to) ? path_ : nullptr;
  }
  if (found_.empty())
    found_.resize(std::min(count_kept_, kMostFound));
  if (long_ != nullptr)
    *std::exchange(long_, nullptr) = {};
  Found& found = found_[slot_of(from, to, found_.size())];
  if (!found.asked || found.from != from || found.to != to) {
    path_ = &found.path;
    found.asked = false;
    found.is_route = route(from, to);
    found.asked = true;
    found.from = from;
    found.to = to;
    if (found.path.links.size() > kMostLinksKept)
      long_ = &found;
  }
  return found.is_route ? &found.path : nullptr;
}

const Path& Paths::between(VertexId from, VertexId to) {
  const Path* const path = find(from, to);
  ORRERY_CHECK(path != nullptr, "lowering refuses members without a route");
  return *path;
}

std::optional<Unrouted> first_unrouted(const Schedule& schedule, std::span<const VertexId> vertices,
                                       Paths& paths) {
  if (paths.fabric().reach_each_other(vertices))
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
  for (size_t c = 0; c < lowered.collectives.size(); ++c) {
    const Collective& collective = lowered.collectives[c];
    if (auto ends = first_unrouted(*collective.schedule, collective.vertices, paths))
      return LostRoute{CollectiveId(c), *ends};
  }
  return std::nullopt;
}

}  // namespace orrery
