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

}  // namespace

SharedList<VertexId> vertices_of(const Group& members) {
  std::vector<VertexId> vertices;
  for (const LogicalId member : members)
    vertices.emplace_back(member.index());
  return vertices;
}

uint32_t ranks_together(const Fabric& fabric, const SharedList<VertexId>& ranks) {
  const auto* const nodes = dynamic_cast<const Nodes*>(&fabric.topology());
  if (nodes == nullptr)
    return 1;
  const auto node_of = [&](size_t rank) { return nodes->node_of(ranks[rank].index()); };
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
    made->together.push_back(ranks_together(fabric_, made->vertices.back()));
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
