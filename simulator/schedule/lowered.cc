#include "simulator/schedule/lowered.h"

#include "models/base/check.h"

namespace orrery {

const RaggedGroup* tables_of(const Lowered& lowered, const Collective& collective) {
  const auto tables = lowered.tables.find(collective.site);
  return tables != lowered.tables.end() ? &tables->second->groups[collective.group] : nullptr;
}

CommunicationStream stream_of(const Collective& collective, Node node) {
  const size_t n = node.index();
  return {collective.vertices[n], collective.threads.empty() ? ThreadId() : collective.threads[n],
          collective.stream_of(node)};
}

std::vector<SiteMembers> members_by_site(const Lowered& lowered, size_t sites) {
  std::vector<CollectiveId> first(sites);
  std::vector<std::vector<Group>> groups(sites);
  std::vector<std::vector<TransferGroup>> transfers(sites);
  for (size_t c = 0; c < lowered.collectives.size(); ++c) {
    const Collective& collective = lowered.collectives[c];
    const size_t site = collective.site.index();
    if (groups[site].empty())
      first[site] = CollectiveId(c);
    ORRERY_CHECK(first[site].index() + groups[site].size() == c,
                 "the collectives of a site stand together");
    groups[site].emplace_back(collective.members.begin(), collective.members.end());
    if (collective.transfer)
      transfers[site].push_back(*collective.transfer);
  }
  std::vector<SiteMembers> result;
  for (size_t site = 0; site < sites; ++site)
    result.emplace_back(first[site], GroupTable(groups[site], transfers[site]));
  return result;
}

}  // namespace orrery
