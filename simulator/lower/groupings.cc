#include "simulator/lower/groupings.h"

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

const Grouping& Groupings::of(const std::vector<Group>& groups) {
  std::vector<std::unique_ptr<Grouping>>& alike = known_[hash(groups)];
  for (const auto& grouping : alike)
    if (grouping->groups == groups)
      return *grouping;
  auto made = std::make_unique<Grouping>();
  made->groups = groups;
  made->table = GroupTable(groups);
  for (const Group& group : groups) {
    std::vector<VertexId> places;
    for (const LogicalId member : group)
      places.emplace_back(member.index());
    made->members.emplace_back(group);
    made->places.emplace_back(std::move(places));
  }
  return *alike.emplace_back(std::move(made));
}

}  // namespace orrery
