#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

#include "models/base/compiler.h"
#include "models/fabric/topology.h"
#include "simulator/analyze/fabric_bounds.h"

namespace orrery {
namespace {

constexpr uint32_t kNone = Division::kNone;
using Blocks = std::vector<uint32_t>;  // per vertex

Division measured(const Fabric& fabric, const OpenLinks& links, Blocks block, uint32_t count) {
  Division division{std::move(block), std::vector<int64_t>(count), std::vector<int64_t>(count)};
  for (const OpenLinks::Open& open : links.links) {
    const uint32_t from = division.block[open.link.from.index()];
    const uint32_t to = division.block[open.link.to.index()];
    if (from == to)
      continue;
    if (from != kNone)
      division.out[from] += open.link.bandwidth.count();
    if (to != kNone)
      division.in[to] += open.link.bandwidth.count();
  }
  const auto in_none = [&](VertexId id) { return division.block[id.index()] == kNone; };
  division.folds_outside = std::ranges::any_of(fabric.reducing_switches(), in_none);
  return division;
}

/// Says whether links from vertices in no block count when a switch joins a block. If they do, what
/// is inside a node joins, and a leaf with no more links down than up does not. So that is tried
/// first: the division in between has the links of the NICs as its border.
enum class Votes : uint8_t { OfAll, OfBlocks };

/// Lets switches that are in no block join the one from which most of what leads into them comes.
/// Returns whether any switch joined.
bool join_switches(const Fabric& fabric, const OpenLinks& links, Votes which, Blocks& block) {
  // A majority, if there is one, is left over when links to different blocks cancel each other
  // (Boyer and Moore 1981). Another pass counts it.
  struct Vote {
    uint32_t block = kNone;
    int64_t left = 0;
    int64_t its = 0;
    int64_t all = 0;
  };
  std::vector<Vote> votes(fabric.switches());
  const auto for_each_vote = [&](auto visit) {
    for (const OpenLinks::Open& open : links.links)
      if (const uint32_t to = open.link.to.index();
          to >= fabric.devices() && block[to] == kNone &&
          (which == Votes::OfAll || block[open.link.from.index()] != kNone))
        visit(votes[to - fabric.devices()], block[open.link.from.index()],
              open.link.bandwidth.count());
  };
  for_each_vote([](Vote& vote, uint32_t from, int64_t bandwidth) {
    if (vote.block == from) {
      vote.left += bandwidth;
    } else if (vote.left < bandwidth) {
      vote.block = from;
      vote.left = bandwidth - vote.left;
    } else {
      vote.left -= bandwidth;
    }
  });
  for_each_vote([](Vote& vote, uint32_t from, int64_t bandwidth) {
    vote.all += bandwidth;
    if (vote.block == from)
      vote.its += bandwidth;
  });
  bool joined = false;
  for (uint32_t s = 0; s < fabric.switches(); ++s)
    if (votes[s].block != kNone && Int128{votes[s].its} * 2 > votes[s].all) {
      block[fabric.devices() + s] = votes[s].block;
      joined = true;
    }
  return joined;
}

/// Returns how many consecutive devices make blocks.
std::set<uint32_t> sizes_of_blocks(const Topology& topology) {
  std::set<uint32_t> sizes;
  const auto add_doubled = [&](uint64_t first) {
    for (uint64_t size = first; size < topology.devices(); size *= 2)
      sizes.insert(static_cast<uint32_t>(size));
  };
  // The leaves of the subtrees of each level below the top.
  const auto subtrees = [](const Tree& tree) {
    std::vector<uint64_t> leaves = {1};
    for (const TreeLevel& level : tree.levels())
      leaves.push_back(leaves.back() * level.below);
    return leaves;
  };
  sizes.insert(1);
  if (const auto* nodes = dynamic_cast<const Nodes*>(&topology)) {
    add_doubled(nodes->per_node());
    if (const auto* outside = dynamic_cast<const Tree*>(nodes->form().outside.get()))
      for (const uint64_t nics : subtrees(*outside)) {
        const uint64_t per_rail = nics * nodes->per_node();
        if (nodes->form().rails && per_rail < topology.devices())
          sizes.insert(static_cast<uint32_t>(per_rail));
        if (!nodes->form().rails && nics % nodes->form().nics == 0)
          sizes.insert(static_cast<uint32_t>(per_rail / nodes->form().nics));
      }
  } else if (const auto* tree = dynamic_cast<const Tree*>(&topology)) {
    for (const uint64_t devices : subtrees(*tree))
      sizes.insert(static_cast<uint32_t>(devices));
    add_doubled(tree->levels().front().below);  // a part of a leaf is cut as its hosts are
  } else if (dynamic_cast<const Torus*>(&topology) == nullptr) {
    add_doubled(1);
  }
  return sizes;
}

class Divider {
 public:
  Divider(const Fabric& fabric, const OpenLinks& links) : fabric_(fabric), links_(links) {}

  std::vector<Division> divide() && {
    const Topology& topology = fabric_.topology();
    for (const uint32_t size : sizes_of_blocks(topology))
      add([&](uint32_t device) { return device / size; });
    if (const auto* torus = dynamic_cast<const Torus*>(&topology))
      add_planes(*torus);
    if (has_one_way(topology))
      add_subtrees(dynamic_cast<const Tree&>(topology));
    return std::move(divisions_);
  }

 private:
  void add(const std::function<uint32_t(uint32_t)>& block_of) {
    constexpr int kRounds = 8;  // one of each kind for each of up to 4 levels of switches
    Blocks block(fabric_.vertices(), kNone);
    uint32_t count = 0;
    for (uint32_t d = 0; d < fabric_.devices(); ++d) {
      block[d] = block_of(d);
      count = std::max(count, block[d] + 1);
    }
    if (count < 2)
      return;
    divisions_.push_back(measured(fabric_, links_, block, count));
    for (int round = 0; round < kRounds; ++round) {
      if (!join_switches(fabric_, links_, Votes::OfAll, block) &&
          !join_switches(fabric_, links_, Votes::OfBlocks, block))
        return;
      divisions_.push_back(measured(fabric_, links_, block, count));
    }
  }

  /// Adds, for each level, a block for each of its vertices: the vertex and all below it. Requires
  /// has_one_way().
  void add_subtrees(const Tree& tree) {
    for (size_t top = 0; top < tree.levels().size(); ++top) {
      Blocks block(fabric_.vertices(), kNone);
      uint32_t vertex = 0;
      for (size_t level = 0; level <= top; ++level) {
        const uint32_t in_each = tree.vertices_of(level) / tree.vertices_of(top);
        for (uint32_t i = 0; i < tree.vertices_of(level); ++i)
          block[vertex++] = i / in_each;
      }
      divisions_.push_back(measured(fabric_, links_, std::move(block), tree.vertices_of(top)));
    }
  }

  void add_planes(const Torus& torus) {
    uint32_t stride = torus.devices();
    for (const TorusDimension& dimension : torus.dimensions()) {
      stride /= dimension.size;
      const uint32_t size = dimension.size;
      const auto coordinate = [=](uint32_t device) { return device / stride % size; };
      add(coordinate);
      add([=](uint32_t device) { return coordinate(device) < size / 2 ? 0U : 1U; });
    }
  }

  const Fabric& fabric_;
  const OpenLinks& links_;
  std::vector<Division> divisions_;
};

using Links = std::optional<std::vector<LinkId>>;

/// Returns the links of a torus between devices that share the coordinates that all of these do.
Links links_of_plane(const Torus& torus, std::span<const uint32_t> devices) {
  const auto shared = [&](auto coordinate) {
    return std::ranges::all_of(devices, [&](uint32_t device) {
      return coordinate(device) == coordinate(devices.front());
    });
  };
  std::vector<bool> inside(torus.devices(), true);
  uint32_t stride = torus.devices();
  for (const TorusDimension& dimension : torus.dimensions()) {
    stride /= dimension.size;
    const auto coordinate = [&](uint32_t device) { return device / stride % dimension.size; };
    if (dimension.size > 1 && shared(coordinate))
      for (uint32_t d = 0; d < torus.devices(); ++d)
        inside[d] = inside[d] && coordinate(d) == coordinate(devices.front());
  }
  std::vector<LinkId> links;
  for (uint32_t d = 0; d < torus.devices(); ++d)
    if (inside[d])
      torus.for_each_link_from(VertexId(d), [&](LinkId id) {
        if (inside[torus.link(id).to.index()])
          links.push_back(id);
      });
  return links;
}

/// Returns the links of a group over several nodes: those inside of its nodes, and those outside
/// but for NICs by which none of its messages leaves or enters a node.
std::vector<LinkId> links_over_nodes(const Nodes& nodes, std::span<const uint32_t> devices) {
  const NodesForm& form = nodes.form();
  std::vector<uint32_t> in_node(form.nodes);  // how many ranks each node has
  std::vector<uint32_t> by_index(form.nics);  // how many ranks have a NIC of this index
  std::vector<uint32_t> by_nic(size_t{form.nodes} * form.nics);
  for (const uint32_t device : devices) {
    const uint32_t node = nodes.node_of(device);
    ++in_node[node];
    ++by_index[nodes.nic_of(device)];
    ++by_nic[node * form.nics + nodes.nic_of(device)];
  }
  const auto enters_by = [&](const Nodes::Nic& nic) {
    return by_nic[nic.node * form.nics + nic.index] > 0;
  };
  const auto leaves_by = [&](const Nodes::Nic& nic) {
    const uint32_t own = by_nic[nic.node * form.nics + nic.index];
    return form.over_nodes ? in_node[nic.node] > 0 && by_index[nic.index] > own : own > 0;
  };
  std::vector<LinkId> links;
  for (uint32_t l = 0; l < nodes.links(); ++l) {
    const Link link = nodes.link(LinkId(l));
    if (nodes.is_network(LinkId(l))) {
      const std::optional<Nodes::Nic> from = nodes.nic_at(link.from);
      const std::optional<Nodes::Nic> to = nodes.nic_at(link.to);
      const bool forwards = from && to;  // other messages may cross a link between NICs
      if (forwards || ((!from || leaves_by(*from)) && (!to || enters_by(*to))))
        links.emplace_back(l);
    } else if (in_node[nodes.node_at(link.from)] > 0) {
      links.emplace_back(l);
    }
  }
  return links;
}

/// As links_among of the header, for devices of a topology.
Links links_among(const Topology& topology, std::span<const uint32_t> devices, bool has_cuts) {
  if (const auto* nodes = dynamic_cast<const Nodes*>(&topology)) {
    const uint32_t node = nodes->node_of(devices.front());
    std::vector<uint32_t> inside;
    for (const uint32_t device : devices)
      if (nodes->node_of(device) == node)
        inside.push_back(device % nodes->per_node());
    if (inside.size() < devices.size())
      return has_cuts ? Links() : links_over_nodes(*nodes, devices);
    const Topology& within = *nodes->form().inside;
    Links links = links_among(within, inside, has_cuts);
    if (!links) {
      links.emplace();
      for (uint32_t l = 0; l < within.links(); ++l)
        links->emplace_back(l);
    }
    // The links inside come first, node by node.
    for (LinkId& id : *links)
      id = LinkId(id.index() + size_t{node} * within.links());
    return links;
  }
  if (has_cuts)
    return std::nullopt;
  if (const auto* torus = dynamic_cast<const Torus*>(&topology))
    return links_of_plane(*torus, devices);
  if (dynamic_cast<const FullMesh*>(&topology) != nullptr) {
    std::vector<LinkId> links;
    for (const uint32_t from : devices)
      topology.for_each_link_from(VertexId(from), [&](LinkId id) {
        if (std::ranges::find(devices, topology.link(id).to.index()) != devices.end())
          links.push_back(id);
      });
    return links;
  }
  return std::nullopt;
}

/// Flows from a source beside the fabric, over links or against them.
class Flows {
 public:
  Flows(const Fabric& fabric, const OpenLinks& links, std::span<const VertexId> ranks,
        bool backwards)
      : fabric_(fabric),
        links_(links),
        ranks_(ranks),
        source_(fabric.vertices()),
        graph_(fabric.vertices() + size_t{1}),
        into_(fabric.vertices()) {
    for (const OpenLinks::Open& open : links.links) {
      VertexId from = open.link.from;
      VertexId to = open.link.to;
      if (backwards)
        std::swap(from, to);
      add_edge(from.index(), to.index(), open.link.bandwidth.count());
      into_[to.index()] += open.link.bandwidth.count();
    }
    for (const VertexId rank : ranks)
      supplies_.push_back(add_edge(source_, rank.index(), 0));
  }

  /// Proposes the least cut between two ranks.
  void between(size_t from, size_t to, std::vector<Division>& cuts) {
    supply([&](size_t rank) { return rank == from ? into_[ranks_[to].index()] : 0; });
    cuts.push_back(cut_before(to).division);
  }

  /// Proposes the cuts that limit the rate at which all other ranks together can send to one. The
  /// rate begins at what its own links allow. While the flow is less, a cut limits it more, and the
  /// rate becomes what that cut allows (as in Dinkelbach 1967).
  void to_one(size_t to, std::vector<Division>& cuts) {
    constexpr int kMostCuts = 8;
    const auto others = static_cast<int64_t>(ranks_.size()) - 1;
    int64_t rate = ceil_divide(into_[ranks_[to].index()], others);
    for (int cut = 0; cut < kMostCuts; ++cut) {
      supply([&](size_t rank) { return rank == to ? 0 : rate; });
      Found found = cut_before(to);
      if (found.flow >= rate * others)
        return;
      const int64_t allowed = ceil_divide(found.bandwidth, found.ranks_outside);
      cuts.push_back(std::move(found.division));
      if (allowed >= rate)
        return;
      rate = allowed;
    }
  }

 private:
  using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
  using Edge = Traits::edge_descriptor;
  using Graph = boost::adjacency_list<
      boost::vecS, boost::vecS, boost::directedS, boost::no_property,
      boost::property<boost::edge_capacity_t, int64_t,
                      boost::property<boost::edge_residual_capacity_t, int64_t,
                                      boost::property<boost::edge_reverse_t, Edge>>>>;
  struct Found {
    Division division;
    int64_t flow = 0;
    int64_t bandwidth = 0;      // of the links over the cut, in the direction of the flow
    int64_t ranks_outside = 0;  // those that send over it
  };

  Edge add_edge(size_t from, size_t to, int64_t capacity) {
    const Edge edge = boost::add_edge(from, to, graph_).first;
    const Edge back = boost::add_edge(to, from, graph_).first;
    boost::put(boost::edge_capacity, graph_, edge, capacity);
    boost::put(boost::edge_capacity, graph_, back, 0);
    boost::put(boost::edge_reverse, graph_, edge, back);
    boost::put(boost::edge_reverse, graph_, back, edge);
    return edge;
  }

  template <class Of>
  void supply(Of of) {
    for (size_t rank = 0; rank < ranks_.size(); ++rank)
      boost::put(boost::edge_capacity, graph_, supplies_[rank], of(rank));
  }

  /// Returns the least cut between the source and a rank: the rank's side has all that no path with
  /// capacity left leads to.
  Found cut_before(size_t to) {
    Found found;
    // Few paths carry these flows, so searching for them is quicker than pushing from vertex to
    // vertex (Boykov and Kolmogorov 2004). The least cut next to the source is the same.
    found.flow = boost::boykov_kolmogorov_max_flow(
        graph_, boost::get(boost::edge_capacity, graph_),
        boost::get(boost::edge_residual_capacity, graph_), boost::get(boost::edge_reverse, graph_),
        boost::get(boost::vertex_index, graph_), source_, ranks_[to].index());
    std::vector<bool> reached(boost::num_vertices(graph_));
    std::vector<size_t> open = {source_};
    reached[source_] = true;
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      for (auto [edge, end] = boost::out_edges(at, graph_); edge != end; ++edge) {
        const size_t next = boost::target(*edge, graph_);
        if (reached[next] || boost::get(boost::edge_residual_capacity, graph_, *edge) == 0)
          continue;
        reached[next] = true;
        open.push_back(next);
      }
    }
    Blocks block(fabric_.vertices());
    for (size_t v = 0; v < block.size(); ++v)
      block[v] = reached[v] ? kNone : 0;
    found.division = measured(fabric_, links_, std::move(block), 1);
    for (const VertexId rank : ranks_)
      found.ranks_outside += reached[rank.index()] ? 1 : 0;
    for (size_t v = 0; v < fabric_.vertices(); ++v)
      for (auto [edge, end] = boost::out_edges(v, graph_); edge != end; ++edge)
        if (const size_t next = boost::target(*edge, graph_); reached[v] && !reached[next])
          found.bandwidth += boost::get(boost::edge_capacity, graph_, *edge);
    return found;
  }

  const Fabric& fabric_;
  const OpenLinks& links_;
  std::span<const VertexId> ranks_;
  size_t source_;
  Graph graph_;
  std::vector<int64_t> into_;   // per vertex: the bandwidth of what leads into it
  std::vector<Edge> supplies_;  // per rank
};

}  // namespace

std::optional<std::vector<LinkId>> links_among(const Fabric& fabric,
                                               std::span<const VertexId> ranks) {
  std::vector<uint32_t> devices;
  for (const VertexId rank : ranks)
    devices.push_back(rank.index());
  if (const auto* nodes = dynamic_cast<const Nodes*>(&fabric.topology())) {
    const uint32_t outside =
        nodes->devices() + nodes->form().nodes * nodes->form().inside->switches();
    if (!fabric.reducing_switches().empty() && fabric.reducing_switches().back().index() >= outside)
      return std::nullopt;
  }
  // Around a cut link, messages take other ways. Inside of nodes they do so inside.
  return links_among(fabric.topology(), devices, fabric.has_cuts());
}

OpenLinks::OpenLinks(const Fabric& fabric, const std::optional<std::vector<LinkId>>& only)
    : first(fabric.vertices() + size_t{1}) {
  const size_t count = only ? only->size() : fabric.count_links();
  links.reserve(count);
  for (size_t l = 0; l < count; ++l) {
    const LinkId id = only ? (*only)[l] : LinkId(l);
    if (const Link link = fabric.link(id); !link.cut)
      links.push_back({id, link});
  }
  std::stable_sort(links.begin(), links.end(),
                   [](const Open& a, const Open& b) { return a.link.from < b.link.from; });
  for (const Open& open : links) {
    ++first[open.link.from.index() + size_t{1}];
    bandwidth += open.link.bandwidth.count();
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
}

bool has_one_way(const Topology& topology) {
  const auto* const tree = dynamic_cast<const Tree*>(&topology);
  return tree != nullptr && tree->ways() == 1;
}

std::vector<Division> divisions(const Fabric& fabric, const OpenLinks& links) {
  return Divider(fabric, links).divide();
}

std::vector<Division> flow_cuts(const Fabric& fabric, const OpenLinks& links,
                                std::span<const VertexId> ranks, FlowEnds ends, size_t most) {
  std::vector<Division> cuts;
  const size_t flows = std::min(most, ranks.size());
  if (ranks.size() < 2 || flows == 0)
    return cuts;
  Flows flow(fabric, links, ranks, ends == FlowEnds::ToAll);
  for (size_t f = 0; f < flows; ++f) {
    const size_t rank = f * ranks.size() / flows;
    if (ends != FlowEnds::Pairs) {
      flow.to_one(rank, cuts);
    } else if (rank > 0) {
      flow.between(0, rank, cuts);
      flow.between(rank, 0, cuts);
    }
  }
  return cuts;
}

}  // namespace orrery
