#include "simulator/network/paths.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "models/base/check.h"

namespace orrery {
namespace {

constexpr uint32_t kFree = UINT32_MAX;  // of a hash table's slots

}  // namespace

RouteSearch::Graph::Graph(const Fabric& fabric) {
  const uint32_t vertices = fabric.vertices();
  first_out.resize(vertices + size_t{1});
  first_in.resize(vertices + size_t{1});
  dead_end.resize(vertices);
  for (uint32_t l = 0; l < fabric.count_links(); ++l) {
    const Link link = fabric.link(LinkId(l));
    from.push_back(link.from);
    to.push_back(link.to);
    if (link.cut)
      continue;
    ++first_out[link.from.index() + size_t{1}];
    ++first_in[link.to.index() + size_t{1}];
    in.push_back(l);
  }
  std::partial_sum(first_out.begin(), first_out.end(), first_out.begin());
  std::partial_sum(first_in.begin(), first_in.end(), first_in.begin());
  std::stable_sort(in.begin(), in.end(), [&](uint32_t a, uint32_t b) { return to[a] < to[b]; });
  out = in;
  std::stable_sort(out.begin(), out.end(),
                   [&](uint32_t a, uint32_t b) { return from[a] < from[b]; });
  for (size_t l = 1; l < out.size(); ++l)
    has_parallel |= from[out[l]] == from[out[l - 1]] && to[out[l]] == to[out[l - 1]] &&
                    fabric.is_device(from[out[l]]) && fabric.is_device(to[out[l]]);
  // A search can leave out dead ends. It is never asked for a vertex with only one incoming link.
  // No route continues from a vertex without outgoing links, or with only the link back.
  for (uint32_t v = 0; v < vertices; ++v) {
    const std::optional<LinkId> in_link = only_in(VertexId(v));
    const std::optional<LinkId> out_link = only_out(VertexId(v));
    const bool none_out = first_out[v] == first_out[v + size_t{1}];
    dead_end[v] =
        in_link && (none_out || (out_link && to[out_link->index()] == from[in_link->index()]));
  }
}

std::optional<LinkId> RouteSearch::Graph::only_out(VertexId vertex) const {
  const uint32_t first = first_out[vertex.index()];
  return first_out[vertex.index() + size_t{1}] - first == 1 ? std::optional(LinkId(out[first]))
                                                            : std::nullopt;
}

std::optional<LinkId> RouteSearch::Graph::only_in(VertexId vertex) const {
  const uint32_t first = first_in[vertex.index()];
  return first_in[vertex.index() + size_t{1}] - first == 1 ? std::optional(LinkId(in[first]))
                                                           : std::nullopt;
}

std::span<const uint32_t> RouteSearch::Graph::between(VertexId source, VertexId target) const {
  const auto begin = out.begin() + first_out[source.index()];
  const auto end = out.begin() + first_out[source.index() + size_t{1}];
  const auto less = [&](uint32_t link, VertexId wanted) { return to[link] < wanted; };
  const auto first = std::lower_bound(begin, end, target, less);
  auto last = first;
  while (last != end && to[*last] == target)
    ++last;
  return {first, last};
}

/// Returns the vertex's entry, or its place. A table as large as the fabric has no collisions.
size_t RouteSearch::slot(uint32_t vertex) const {
  const size_t mask = met_.size() - 1;
  size_t at = vertex & mask;
  while (met_[at].vertex != kFree && met_[at].vertex != vertex)
    at = (at + 1) & mask;
  return at;
}

std::optional<uint32_t> RouteSearch::distance(VertexId vertex) const {
  if (vertex == from_)
    return 0;
  if (met_.empty())
    return std::nullopt;
  const Met& met = met_[slot(vertex.index())];
  return met.vertex == kFree ? std::nullopt : std::optional(met.distance);
}

void RouteSearch::meet(const Graph& graph, VertexId vertex, uint32_t distance) {
  if (vertex == from_ || graph.dead_end[vertex.index()])
    return;
  if (2 * count_met_ >= met_.size() && met_.size() < graph.vertices())
    grow();
  Met& met = met_[slot(vertex.index())];
  if (met.vertex != kFree)
    return;
  met = {vertex.index(), distance};
  ++count_met_;
  frontier_.push_back(vertex.index());
}

void RouteSearch::grow() {
  const std::vector<Met> before = std::move(met_);
  met_.assign(std::max<size_t>(8, 2 * before.size()), {kFree, 0});
  for (const Met& met : before)
    if (met.vertex != kFree)
      met_[slot(met.vertex)] = met;
}

/// Reaches the neighbours of the next vertex.
void RouteSearch::go_on(const Graph& graph) {
  const VertexId vertex(frontier_[next_++]);
  if (next_ == frontier_.size() || next_ >= 64 + frontier_.size() / 2) {
    frontier_.erase(frontier_.begin(), frontier_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
  }
  const uint32_t next = *distance(vertex) + 1;
  for (uint32_t l = graph.first_out[vertex.index()]; l < graph.first_out[vertex.index() + 1]; ++l)
    meet(graph, graph.to[graph.out[l]], next);
}

// Vertices are met in the order of their distances. So when the target is met, all vertices that
// may come before it on a route have been met.
RouteSearch::Outcome RouteSearch::backwards(const Graph& graph, VertexId to, uint64_t number,
                                            Around around, Route& links) {
  while (!distance(to)) {
    if (next_ == frontier_.size()) {
      frontier_.shrink_to_fit();
      return Outcome::NoRoute;
    }
    go_on(graph);
  }
  struct Hop {
    VertexId from, to;
    uint64_t product;  // of the numbers of vertices that could be chosen, up to here
  };
  boost::container::small_vector<Hop, 8> hops;
  boost::container::small_vector<VertexId, 8> before;
  uint64_t product = 1;
  for (VertexId at = to; at != from_;) {
    const uint32_t wanted = *distance(at) - 1;
    before.clear();
    for (uint32_t l = graph.first_in[at.index()]; l < graph.first_in[at.index() + 1]; ++l) {
      const VertexId vertex = graph.from[graph.in[l]];
      if (distance(vertex) == wanted &&
          std::find(before.begin(), before.end(), vertex) == before.end())
        before.push_back(vertex);
    }
    const VertexId chosen = before[number / product % before.size()];
    const bool fits = product <= std::numeric_limits<uint64_t>::max() / before.size();
    product = fits ? product * before.size() : std::numeric_limits<uint64_t>::max();
    hops.push_back({chosen, at, product});
    at = chosen;
  }
  bool is_only = product == 1;
  for (size_t i = 0; i < hops.size(); ++i) {
    const std::span<const uint32_t> lanes = graph.between(hops[i].from, hops[i].to);
    const size_t from_nearer_end = std::min(i + around.after, hops.size() - 1 - i + around.before);
    uint64_t at_end = 1;
    if (from_nearer_end >= around.after)
      at_end = hops[std::min(from_nearer_end - around.after, hops.size() - 1)].product;
    links.emplace_back(lanes[number / at_end % lanes.size()]);
    is_only = is_only && lanes.size() == 1;
  }
  return is_only ? Outcome::OnlyRoute : Outcome::OneOfSeveral;
}

Paths::Paths(const Fabric& fabric, size_t most_held)
    : fabric_(fabric),
      is_searched_(fabric.topology().is_searched()),
      vertices_(fabric.vertices()),
      most_held_(most_held),
      count_kept_(std::bit_ceil(std::min<size_t>({kMostKept, most_held, vertices_ * vertices_}))) {}

RouteSearch::Outcome Paths::search(VertexId from, VertexId to, uint64_t number,
                                   RouteSearch::Around around, Route& backwards) {
  if (const std::span<const uint32_t> lanes = graph_->between(from, to); !lanes.empty()) {
    backwards.emplace_back(lanes[number % lanes.size()]);
    return lanes.size() == 1 ? RouteSearch::Outcome::OnlyRoute : RouteSearch::Outcome::OneOfSeveral;
  }
  searches_.resize(graph_->vertices());
  std::unique_ptr<RouteSearch>& search = searches_[from.index()];
  if (!search)
    search = std::make_unique<RouteSearch>(from);
  const size_t before = search->held();
  const RouteSearch::Outcome outcome = search->backwards(*graph_, to, number, around, backwards);
  held_ += search->held();
  held_ -= before;
  if (held_ > most_held_) {
    for (std::unique_ptr<RouteSearch>& other : searches_)
      other.reset();
    held_ = 0;
  }
  return outcome;
}

void Paths::begin_path(Path& path) {
  path_ = &path;
  path.links.clear();
  path.rate_parts = fabric_.rate_parts();
}

void Paths::end_path() {
  static_cast<RouteFigures&>(*path_) = fabric_.figures_of(path_->links);
}

size_t Paths::slot_of(const Asked& asked, size_t size) const {
  const uint64_t pair = asked.from.index() * vertices_ + asked.to.index();
  if (vertices_ * vertices_ <= size)
    return (pair + uint64_t{asked.channel} * 0x9e3779b97f4a7c15U) & (size - 1);
  const uint64_t hash =
      (uint64_t{asked.from.index()} + (uint64_t{asked.channel} << 32U)) * 0x9e3779b97f4a7c15U +
      asked.to.index();
  return (hash ^ (hash >> 32U)) & (size - 1);
}

bool Paths::append_searched(const Asked& asked, uint64_t number, RouteSearch::Around around) {
  if (kept_.empty())
    kept_.resize(count_kept_);
  Kept& kept = kept_[slot_of(asked, kept_.size())];
  const bool for_any_number = kept.outcome != RouteSearch::Outcome::OneOfSeveral;
  if (kept.asked != asked ||
      !(for_any_number || (kept.number == number && kept.around == around))) {
    kept.links.clear();
    const RouteSearch::Outcome outcome = search(asked.from, asked.to, number, around, kept.links);
    std::ranges::reverse(kept.links);
    kept = {asked, number, around, outcome, std::move(kept.links)};
  }
  const bool found = kept.outcome != RouteSearch::Outcome::NoRoute;
  for (const LinkId link : kept.links)
    path_->links.push_back(link);
  if (kept.links.capacity() > kMostLinksKept)
    kept = {};
  return found;
}

/// Follows single links out of the source and single links into the target. Where these stop, it
/// searches between.
bool Paths::route(const Asked& asked) {
  auto [from, to, channel] = asked;
  const uint64_t number = fabric_.way_number(from, to, channel).value_or(to.index() + channel);
  const auto has = [](const std::vector<uint32_t>& first, VertexId vertex) {
    return first[vertex.index()] < first[vertex.index() + 1];
  };
  for (uint32_t steps = 0; from != to; ++steps) {
    if (!has(graph_->first_out, from) || steps > graph_->vertices())
      return false;
    const std::optional<LinkId> only = graph_->only_out(from);
    if (!only)
      break;
    path_->links.push_back(*only);
    from = graph_->to[only->index()];
  }
  ahead_.clear();
  for (uint32_t steps = 0; from != to; ++steps) {
    if (!has(graph_->first_in, to) || steps > graph_->vertices())
      return false;
    const std::optional<LinkId> only = graph_->only_in(to);
    if (!only)
      break;
    ahead_.emplace_back(*only);
    to = graph_->from[only->index()];
  }
  const RouteSearch::Around around{static_cast<uint32_t>(path_->links.size()),
                                   static_cast<uint32_t>(ahead_.size())};
  if (from != to && !append_searched({from, to, channel}, number, around))
    return false;
  for (size_t left = ahead_.size(); left > 0; --left)
    path_->links.push_back(ahead_[left - 1]);
  end_path();
  return true;
}

const Path* Paths::find_in_list(VertexId from, VertexId to, uint32_t channel) {
  if (!graph_)
    graph_.emplace(fabric_);
  // Parallel links between two devices serve the channels in turns. Elsewhere, only a hash differs
  // from channel to channel.
  const bool by_channel =
      fabric_.ways().hashed || (graph_->has_parallel && fabric_.is_device(from) &&
                                fabric_.is_device(to) && graph_->between(from, to).size() > 1);
  const Asked asked{from, to, by_channel ? channel : 0};
  if (graph_->first_out[from.index() + 1] - graph_->first_out[from.index()] <= 1) {
    begin_path(next_);  // mostly found in a few steps
    return route(asked) ? path_ : nullptr;
  }
  if (found_.empty())
    found_.resize(std::min(count_kept_, kMostFound));
  if (long_ != nullptr)
    *std::exchange(long_, nullptr) = {};
  Found& found = found_[slot_of(asked, found_.size())];
  if (found.asked != asked) {
    found.asked.reset();
    begin_path(found.path);
    found.is_route = route(asked);
    found.asked = asked;
    if (found.path.links.size() > kMostLinksKept)
      long_ = &found;
  }
  return found.is_route ? &found.path : nullptr;
}

bool Paths::crosses_a_cut(const Route& route) const {
  return fabric_.has_cuts() &&
         std::any_of(route.begin(), route.end(), [&](LinkId id) { return fabric_.link(id).cut; });
}

bool Paths::route_by_rule(const Asked& asked) {
  const auto& [from, to, channel] = asked;
  const Topology& topology = fabric_.topology();
  const std::optional<uint64_t> number = fabric_.way_number(from, to, channel);
  Route& links = path_->links;
  bool found = topology.append_route(from, to, number, links);
  for (uint64_t way = 0; found && crosses_a_cut(links); ++way) {
    if (way == topology.ways())
      return false;
    links.clear();
    found = topology.append_route(from, to, number.value_or(to.index()) + way, links);
  }
  end_path();
  return found;
}

const Path* Paths::find_by_rule(VertexId from, VertexId to, uint32_t channel) {
  const Topology& topology = fabric_.topology();
  if (topology.devices_forward() && fabric_.has_cuts()) {
    next_.links.clear();
    if (!topology.append_route(from, to, fabric_.way_number(from, to, channel), next_.links) ||
        crosses_a_cut(next_.links))
      return find_in_list(from, to, channel);
  }
  const Asked asked{from, to, fabric_.ways().hashed ? channel : 0};
  Found& found = by_rule_[(size_t{8} * from.index() ^ to.index()) % kMostByRule];
  if (found.asked != asked) {
    found.asked.reset();
    begin_path(found.path);
    found.is_route = route_by_rule(asked);
    found.asked = asked;
  }
  return found.is_route ? &found.path : nullptr;
}

bool Paths::may_differ_by_channel() const {
  return fabric_.ways().hashed || is_searched_ || fabric_.has_cuts();
}

const Path* Paths::find(VertexId from, VertexId to, uint32_t channel) {
  return is_searched_ ? find_in_list(from, to, channel) : find_by_rule(from, to, channel);
}

const Path& Paths::between(VertexId from, VertexId to, uint32_t channel) {
  const Path* const path = find(from, to, channel);
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
        if (!first && !paths.find(sender, receiver, c))
          first = Unrouted{sender, receiver, c};
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
