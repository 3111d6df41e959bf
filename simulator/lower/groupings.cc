#include "simulator/lower/groupings.h"

#include <algorithm>
#include <set>
#include <utility>

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

/// Returns an order for each NIC of a node. Order k enters the first node by the rank of NIC k and
/// goes on by rank, round the node. It leaves by the rank before, and enters the next node by the
/// rank with the same number there. That node it goes through the other way round, so its last rank
/// has the number of the first node's first. So messages stay on their rail, and each NIC takes and
/// sends those of one order, except on the way from the last of an odd number of nodes to the
/// first. As NCCL's rings do, the orders of all channels go through the nodes in the same order.
SharedList<SharedList<uint32_t>> orders_by_nic(const Nodes& nodes, std::span<const VertexId> ranks,
                                               uint32_t together) {
  const auto all = static_cast<uint32_t>(ranks.size());
  if (together <= 1 || together >= all)
    return {};
  std::vector<uint32_t> starts;  // the first rank of each NIC
  std::set<uint32_t> seen;
  for (uint32_t rank = 0; rank < together; ++rank)
    if (seen.insert(nodes.nic_of(ranks[rank].index())).second)
      starts.push_back(rank);
  if (starts.size() == 1)
    return {};
  std::vector<SharedList<uint32_t>> orders;
  for (const uint32_t start : starts) {
    std::vector<uint32_t> order;
    for (uint32_t first = 0; first < all; first += together) {
      const uint32_t share = std::min(together, all - first);
      const bool back = first / together % 2 == 1;
      for (uint32_t i = 0; i < share; ++i)
        order.push_back(first + (start + (back ? share - 1 - i : i)) % share);
    }
    orders.emplace_back(std::move(order));
  }
  return orders;
}

/// Returns the sizes of the axes of the box that the ranks fill, row-major. Axes along which the
/// box has one device are left out. The result is empty if the ranks fill no box in that order.
SharedList<uint32_t> filled_axes(const Torus& torus, std::span<const VertexId> ranks) {
  std::vector<uint32_t> strides(torus.dimensions().size(), 1);
  for (size_t d = strides.size() - 1; d > 0; --d)
    strides[d - 1] = strides[d] * torus.dimensions()[d].size;
  const auto coordinate = [&](size_t rank, size_t d) {
    return ranks[rank].index() / strides[d] % torus.dimensions()[d].size;
  };
  std::vector<uint32_t> box;
  uint64_t devices = 1;
  for (size_t d = 0; d < strides.size(); ++d) {
    box.push_back(coordinate(ranks.size() - 1, d) - coordinate(0, d) + 1);  // wraps below the first
    devices *= box.back();
    if (box.back() > torus.dimensions()[d].size || devices > ranks.size())
      return {};
  }
  if (devices != ranks.size())
    return {};
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    size_t rest = rank;
    for (size_t d = box.size(); d > 0; --d) {
      if (coordinate(rank, d - 1) != coordinate(0, d - 1) + rest % box[d - 1])
        return {};
      rest /= box[d - 1];
    }
  }
  std::erase(box, 1U);
  return box;
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
    layout.orders = orders_by_nic(*nodes, ranks, layout.together);
  } else if (const auto* const torus = dynamic_cast<const Torus*>(&fabric.topology())) {
    layout.axes = filled_axes(*torus, ranks);
  }
  return layout;
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
