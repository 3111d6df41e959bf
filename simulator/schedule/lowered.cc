#include "simulator/schedule/lowered.h"

#include <algorithm>

namespace orrery {

SiteMembers::SiteMembers(std::vector<std::pair<LogicalId, Member>> members) {
  const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::is_sorted(members.begin(), members.end(), before))
    std::sort(members.begin(), members.end(), before);
  devices_.reserve(members.size());
  members_.reserve(members.size());
  for (const auto& [device, member] : members) {
    devices_.push_back(device);
    members_.push_back(member);
  }
}

std::vector<SiteMembers> members_by_site(const Lowered& lowered, size_t sites) {
  std::vector<std::vector<std::pair<LogicalId, Member>>> members(sites);
  for (size_t c = 0; c < lowered.collectives.size(); ++c) {
    const Collective& collective = lowered.collectives[c];
    for (size_t n = 0; n < collective.members.size(); ++n)
      members[collective.site.index()].emplace_back(collective.members[n],
                                                    Member{CollectiveId(c), Node(n)});
  }
  std::vector<SiteMembers> result;
  result.reserve(sites);
  for (auto& each : members)
    result.emplace_back(std::exchange(each, {}));
  return result;
}

}  // namespace orrery
