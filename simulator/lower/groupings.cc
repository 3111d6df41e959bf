#include "simulator/lower/groupings.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "models/base/compiler.h"
#include "models/base/hash.h"

namespace orrery {
namespace {

uint64_t hash(const std::vector<Group>& groups) {
  Hasher hasher;
  for (const Group& group : groups) {
    hasher.add(uint64_t{group.size()});
    for (const LogicalId member : group)
      hasher.add(member.index());
  }
  return hasher.word();
}

/// Returns how many consecutive ranks are on each node. The last node may have fewer. The result is
/// 1 where nodes have no such share.
uint32_t ranks_together(const Nodes& nodes, std::span<const VertexId> ranks) {
  const auto node_of = [&](size_t rank) { return nodes.node_of(ranks[rank].index()); };
  size_t share = 1;
  while (share < ranks.size() && node_of(share) == node_of(0))
    ++share;
  std::set<uint32_t> seen;
  for (size_t first = 0; first < ranks.size(); first += share) {
    if (!seen.insert(node_of(first)).second)
      return 1;
    for (size_t rank = first; rank < std::min(first + share, ranks.size()); ++rank)
      if (node_of(rank) != node_of(first))
        return 1;
  }
  return static_cast<uint32_t>(share);
}

/// Returns 0, 1, -1, 2, -2 and so on, modulo n. The sums of neighbours are 0 or 1. So if this is
/// shifted by i, they are 2 i or 2 i + 1, and different shifts share few neighbours.
std::vector<uint32_t> zigzag(uint32_t n) {
  std::vector<uint32_t> places;
  for (uint32_t i = 0; i < n; ++i)
    places.push_back(i % 2 == 1 ? (i + 1) / 2 : (n - i / 2) % n);
  return places;
}

/// Returns the way through a node, from device 0 on: in the order of the devices, but a zigzag
/// where links join each two of them. If their number is even, the ways from all devices on use
/// each link once (Williams 1949, designs balanced for residual effects).
std::vector<uint32_t> way_through(const Topology& inside, uint32_t share) {
  if (dynamic_cast<const FullMesh*>(&inside) != nullptr)
    return zigzag(share);
  std::vector<uint32_t> way(share);
  std::iota(way.begin(), way.end(), 0U);
  return way;
}

/// Returns the ranks of each node, in group order. The nodes come in the order of their first
/// ranks.
std::vector<std::vector<uint32_t>> ranks_by_node(const Nodes& nodes,
                                                 std::span<const VertexId> ranks) {
  std::vector<std::vector<uint32_t>> by_node;
  std::map<uint32_t, size_t> number;  // of a node
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    const auto [known, is_new] =
        number.try_emplace(nodes.node_of(ranks[rank].index()), by_node.size());
    if (is_new)
      by_node.emplace_back();
    by_node[known->second].push_back(rank);
  }
  return by_node;
}

/// Returns whether the links of a device inside its node are slower together than those of its NIC.
bool is_slower_inside(const Fabric& fabric, VertexId device) {
  Int128 inside = 0;
  Int128 network = 0;
  fabric.topology().for_each_link_from(device, [&](LinkId id) {
    (fabric.is_network(id) ? network : inside) += fabric.figures(id).bandwidth.count();
  });
  return inside < network;
}

/// Sets the orders that use the NICs of a group over several nodes: as many as the node with the
/// fewest NICs has, since all that a ring moves goes through each node. Order k enters the first
/// node by the rank of NIC k and goes round the node (way_through). It enters the next node by the
/// rank with the same number as that by which it left. That node it goes through the other way
/// round, so its last rank has the number of the first node's first. So messages stay on their
/// rail, and each NIC takes and sends those of one order, except on the way from the last of an odd
/// number of nodes to the first. In nodes with other numbers of ranks, each order enters and leaves
/// by the NIC after that of the order before. As NCCL's rings do, the orders of all channels go
/// through the nodes in the same order.
///
/// There are no orders if each node has one NIC, and its ranks already follow each other. If they
/// do not, a ring by rank sends nearly everything over the NICs. That takes less time if
/// the links inside of nodes are slower, so there are no orders either.
void order_by_nic(const Fabric& fabric, const Nodes& nodes, std::span<const VertexId> ranks,
                  Layout& layout) {
  const std::vector<std::vector<uint32_t>> by_node = ranks_by_node(nodes, ranks);
  if (by_node.size() == ranks.size())
    return;
  std::vector<std::vector<size_t>> starts;  // per node: the first rank of each NIC
  bool follow = true;
  for (const std::vector<uint32_t>& of_node : by_node) {
    std::set<uint32_t> seen;
    starts.emplace_back();
    for (size_t i = 0; i < of_node.size(); ++i)
      if (seen.insert(nodes.nic_of(ranks[of_node[i]].index())).second)
        starts.back().push_back(i);
    follow = follow && of_node.back() - of_node.front() + 1 == of_node.size();
  }
  const auto [fewest, most] = std::ranges::minmax(starts, {}, &std::vector<size_t>::size);
  const size_t count = fewest.size();
  if (follow ? most.size() == 1 : is_slower_inside(fabric, ranks.front()))
    return;
  std::vector<SharedList<uint32_t>> orders;
  for (size_t k = 0; k < count; ++k) {
    std::vector<uint32_t> order;
    for (size_t n = 0; n < by_node.size(); ++n) {
      const std::vector<uint32_t>& of_node = by_node[n];
      const size_t start = starts[n][k];
      std::vector<uint32_t> way =
          way_through(*nodes.form().inside, static_cast<uint32_t>(of_node.size()));
      if (n % 2 == 1)
        std::ranges::reverse(way);
      for (const uint32_t step : way)
        order.push_back(of_node[(start + step) % of_node.size()]);
    }
    orders.emplace_back(std::move(order));
  }
  std::vector<uint32_t> sizes;
  for (const std::vector<uint32_t>& of_node : by_node)
    sizes.push_back(static_cast<uint32_t>(of_node.size()));
  layout.orders = std::move(orders);
  layout.nodes = std::move(sizes);
}

/// A RingFinder finds rings of ranks that share no link, among ranks that links join both ways.
/// NCCL finds its rings in this way (src/graph/search.cc).
class RingFinder {
 public:
  static constexpr uint32_t kMostRanks = 16;
  /// The searches for a group take at most so many steps together. Then the best rings so far
  /// count.
  static constexpr uint32_t kMostSteps = 50'000;

  /// `links` has, at from * ranks + to, how many rings may use the links between two ranks.
  /// `steps` counts those of all searches.
  RingFinder(uint32_t ranks, std::vector<uint32_t> links, uint32_t& steps)
      : ranks_(ranks), links_(std::move(links)), left_(links_), steps_(steps) {}

  std::vector<std::vector<uint32_t>> find() {
    begin_ring();
    return best_;
  }

 private:
  uint32_t& left(uint32_t from, uint32_t to) { return left_[from * ranks_ + to]; }

  /// Finds a further ring, from rank 0 on, with the links that are left.
  void begin_ring() {
    used_.assign(ranks_, false);
    used_[0] = true;
    ring_ = {0};
    go_on();
  }

  void go_on() {
    if (++steps_ > kMostSteps || rings_are_enough())
      return;
    const uint32_t last = ring_.back();
    if (ring_.size() == ranks_) {
      if (last > ring_[1] && ranks_ > 2 && left(last, 0) > 0)
        close_ring();
      return;
    }
    std::vector<uint32_t> next;
    for (uint32_t rank = 1; rank < ranks_; ++rank)
      if (!used_[rank] && left(last, rank) > 0)
        next.push_back(rank);
    // Ranks with parallel links come first. So rings that share these are alike, and have numbers
    // that follow each other.
    std::stable_sort(next.begin(), next.end(), [&](uint32_t a, uint32_t b) {
      return links_[last * ranks_ + a] > links_[last * ranks_ + b];
    });
    for (const uint32_t rank : next) {
      used_[rank] = true;
      ring_.push_back(rank);
      go_on();
      ring_.pop_back();
      used_[rank] = false;
    }
  }

  void close_ring() {
    take(-1);
    rings_.push_back(ring_);
    if (rings_.size() > best_.size())
      best_ = rings_;
    const std::vector<uint32_t> ring = ring_;
    const std::vector<bool> used = used_;
    begin_ring();
    ring_ = ring;
    used_ = used;
    rings_.pop_back();
    take(1);
  }

  void take(int more) {
    for (size_t i = 0; i < ranks_; ++i) {
      const uint32_t from = ring_[i];
      const uint32_t to = ring_[(i + 1) % ranks_];
      left(from, to) += static_cast<uint32_t>(more);
      left(to, from) += static_cast<uint32_t>(more);
    }
  }

  /// Returns whether no further ring is possible: each takes two links of each rank.
  bool rings_are_enough() const {
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      uint32_t all = 0;
      for (uint32_t to = 0; to < ranks_; ++to)
        all += links_[rank * ranks_ + to];
      if (best_.size() >= all / 2)
        return true;
    }
    return false;
  }

  uint32_t ranks_;
  std::vector<uint32_t> links_;
  std::vector<uint32_t> left_;  // the same, without the rings that were found
  std::vector<uint32_t> ring_;
  std::vector<bool> used_;
  std::vector<std::vector<uint32_t>> rings_;
  std::vector<std::vector<uint32_t>> best_;
  uint32_t& steps_;
};

/// Returns the orders of rings over links of their own, with the largest bandwidth together. There
/// are none if no more than one such ring was found.
SharedList<SharedList<uint32_t>> orders_found(const Fabric& fabric,
                                              std::span<const VertexId> ranks) {
  const auto all = static_cast<uint32_t>(ranks.size());
  if (all < 3 || all > RingFinder::kMostRanks)
    return {};
  std::vector<std::vector<BytesPerSecond>> rates(size_t{all} * all);
  std::set<BytesPerSecond> speeds;
  for (uint32_t from = 0; from < all; ++from)
    for (uint32_t to = 0; to < all; ++to)
      for (const LinkId link : fabric.links_between(ranks[from], ranks[to])) {
        rates[from * all + to].push_back(fabric.figures(link).bandwidth);
        speeds.insert(rates[from * all + to].back());
      }
  std::vector<std::vector<uint32_t>> best;
  Int128 most = 0;
  uint32_t steps = 0;
  for (const BytesPerSecond speed : speeds) {
    std::vector<uint32_t> links(size_t{all} * all);
    const auto rings_over = [&](uint32_t from, uint32_t to) {
      uint32_t rings = 0;
      for (const BytesPerSecond rate : rates[from * all + to])
        rings += static_cast<uint32_t>(std::min<int64_t>(rate.count() / speed.count(), all));
      return rings;
    };
    for (uint32_t from = 0; from < all; ++from)
      for (uint32_t to = 0; to < all; ++to)
        links[from * all + to] = std::min(rings_over(from, to), rings_over(to, from));
    std::vector<std::vector<uint32_t>> found = RingFinder(all, std::move(links), steps).find();
    const Int128 together = Int128{speed.count()} * static_cast<int64_t>(found.size());
    if (together >= most) {  // of equal ones, those of the highest speed
      most = together;
      best = std::move(found);
    }
  }
  if (best.size() < 2)
    return {};
  std::vector<SharedList<uint32_t>> orders;
  for (std::vector<uint32_t>& ring : best)
    orders.emplace_back(std::move(ring));
  return orders;
}

/// Returns rings where links join each two ranks. They share no link, in either direction, and
/// there are as many as can be (Walecki, in Lucas, Récréations mathématiques, 1892): the last rank,
/// then a zigzag through the others, shifted from ring to ring.
SharedList<SharedList<uint32_t>> orders_of_all_joined(uint32_t ranks) {
  if (ranks < 5 || ranks > RingFinder::kMostRanks)
    return {};
  const uint32_t others = ranks - 1;
  const std::vector<uint32_t> places = zigzag(others);
  std::vector<SharedList<uint32_t>> orders;
  for (uint32_t shift = 0; shift < others / 2; ++shift) {
    std::vector<uint32_t> order = {others};
    for (const uint32_t place : places)
      order.push_back((place + shift) % others);
    orders.emplace_back(std::move(order));
  }
  return orders;
}

/// Returns the orders of the rings of ranks that links of the topology join, if any do.
SharedList<SharedList<uint32_t>> orders_by_links(const Topology& topology, const Fabric& fabric,
                                                 std::span<const VertexId> ranks) {
  if (dynamic_cast<const FullMesh*>(&topology) != nullptr)
    return orders_of_all_joined(static_cast<uint32_t>(ranks.size()));
  return topology.is_searched() ? orders_found(fabric, ranks) : SharedList<SharedList<uint32_t>>();
}

/// Sets the sizes of the axes of the box that the ranks fill: those of the axis along which ranks
/// are farthest apart come first. Axes along which the box has one device are left out. There are
/// none if the ranks fill no box, or if they go round it in no order of its axes.
void find_axes(const Torus& torus, std::span<const VertexId> ranks, Layout& layout) {
  struct Axis {
    uint32_t stride = 1;  // of devices
    uint32_t size = 1;    // of the torus
    uint32_t filled = 1;  // of the box
    size_t apart = 0;     // ranks between two devices that are neighbours along it
    bool wraps = false;   // of the torus
  };
  std::vector<Axis> axes;
  uint32_t stride = torus.devices();
  for (const TorusDimension& dimension : torus.dimensions())
    axes.push_back(
        {.stride = stride /= dimension.size, .size = dimension.size, .wraps = dimension.wraps});
  const auto coordinate = [&](size_t rank, const Axis& axis) {
    return ranks[rank].index() / axis.stride % axis.size;
  };
  uint64_t devices = 1;
  for (Axis& axis : axes) {
    while (axis.apart < ranks.size() && coordinate(axis.apart, axis) == coordinate(0, axis))
      ++axis.apart;
    axis.filled =  // wraps below the first
        coordinate(ranks.size() - 1, axis) - coordinate(0, axis) + 1;
    devices *= axis.filled;
    if (axis.filled > axis.size || devices > ranks.size())
      return;
  }
  if (devices != ranks.size())
    return;
  std::erase_if(axes, [](const Axis& axis) { return axis.filled == 1; });
  std::ranges::sort(axes, std::greater(), &Axis::apart);
  std::vector<uint32_t> box;
  for (const Axis& axis : axes)
    box.push_back(axis.filled);
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    size_t rest = rank;
    uint32_t device = ranks.front().index();
    for (size_t a = axes.size(); a > 0; --a) {
      device += static_cast<uint32_t>(rest % box[a - 1]) * axes[a - 1].stride;
      rest /= box[a - 1];
    }
    if (ranks[rank].index() != device)
      return;
  }
  layout.wraps = axes.size() > 1 && ranks.size() <= kMostRanksInRings &&
                 std::ranges::all_of(axes, [](const Axis& axis) {
                   return axis.wraps && axis.size > 2 && axis.filled == axis.size;
                 });
  layout.axes = std::move(box);
}

}  // namespace

SharedList<VertexId> vertices_of(const Group& members) {
  std::vector<VertexId> vertices;
  for (const LogicalId member : members)
    vertices.emplace_back(member.index());
  return vertices;
}

Layout layout_of(const Fabric& fabric, std::span<const VertexId> ranks) {
  Layout layout;
  if (const auto* const nodes = dynamic_cast<const Nodes*>(&fabric.topology())) {
    layout.together = ranks_together(*nodes, ranks);
    if (layout.together >= ranks.size())
      layout.orders = orders_by_links(*nodes->form().inside, fabric, ranks);
    else
      order_by_nic(fabric, *nodes, ranks, layout);
  } else if (const auto* const torus = dynamic_cast<const Torus*>(&fabric.topology())) {
    find_axes(*torus, ranks, layout);
  } else {
    layout.orders = orders_by_links(fabric.topology(), fabric, ranks);
  }
  return layout;
}

std::vector<Group> node_by_node(const Fabric& fabric, std::vector<Group> groups) {
  if (dynamic_cast<const Nodes*>(&fabric.topology()) != nullptr)
    for (Group& group : groups)
      if (!is_slower_inside(fabric, VertexId(group.front().index())))
        std::ranges::sort(group);
  return groups;
}

const Grouping& Groupings::of(const std::vector<Group>& groups,
                              const std::vector<TransferGroup>& transfers,
                              const std::vector<GroupMember>& absent) {
  std::vector<std::unique_ptr<Grouping>>& alike = known_[hash(groups)];
  for (const auto& grouping : alike)
    if (grouping->groups == groups && grouping->transfers == transfers &&
        grouping->absent == absent)
      return *grouping;
  auto made = std::make_unique<Grouping>();
  made->groups = groups;
  made->transfers = transfers;
  made->absent = absent;
  made->table = GroupTable(groups, transfers, absent);
  for (const Group& group : groups) {
    made->members.emplace_back(group);
    made->vertices.push_back(vertices_of(group));
    made->layouts.push_back(
        layout_of(fabric_, {made->vertices.back().begin(), made->vertices.back().size()}));
  }
  made->shapes = shapes(made->vertices);
  return *alike.emplace_back(std::move(made));
}

uint64_t Groupings::links_hash(VertexId vertex) {
  links_.resize(fabric_.vertices());
  std::optional<uint64_t>& known = links_[vertex.index()];
  if (known)
    return *known;
  uint64_t sum = 0;  // independent of the order of the links
  fabric_.topology().for_each_link_from(vertex, [&](LinkId id) {
    const Link link = fabric_.link(id);
    if (link.cut)
      return;
    Hasher hasher;
    hasher.add(link.bandwidth.count());
    hasher.add(link.latency.count());
    sum += hasher.word();
  });
  known = sum;
  return sum;
}

std::vector<size_t> Groupings::shapes(const std::vector<SharedList<VertexId>>& vertices) {
  std::vector<size_t> firsts;
  std::set<uint64_t> known;
  for (size_t g = 0; g < vertices.size(); ++g) {
    if (vertices[g].size() <= 1)
      continue;
    Hasher shape;
    shape.add(uint64_t{vertices[g].size()});
    for (const VertexId vertex : vertices[g]) {
      shape.add(vertex.index() - vertices[g].front().index());  // wraps below the first
      shape.add(links_hash(vertex));
      shape.add(fabric_.topology().placed(vertices[g].front(), vertex));
    }
    if (known.insert(shape.word()).second)
      firsts.push_back(g);
  }
  return firsts;
}

}  // namespace orrery
