#include "simulator/schedule/lowered.h"

#include <algorithm>

#include "models/base/check.h"
#include "models/base/random.h"

namespace orrery {

Duration drawn(const Hasher& key, Duration most) {
  return Duration(Random(key.word()).between(0, most.count()));
}

Duration OpJitter::of(std::string_view name, LogicalId device) const {
  Hasher key;
  key.add(seed);
  key.add(std::string_view("op"));
  key.add(name);
  key.add(device.index());
  return drawn(key, most);
}

Duration Lowered::local_time(const Program& program, OpRun run, size_t device_index,
                             LogicalId device) const {
  const LocalTime& time = local[run.op.index()];
  if (!jitter || time.common == Duration())
    return time.at(device_index);
  return time.at(device_index) +
         jitter->of(
             iterations->name(program.op(run.op).name, iterations->loop_of(run.op), run.iteration),
             device);
}

GroupTable::GroupTable(std::span<const Group> groups, std::span<const TransferGroup> transfers,
                       std::span<const GroupMember> absent) {
  using Place = std::pair<LogicalId, GroupRank>;
  const auto of_side = [&](bool receivers) {
    std::vector<Place> all;
    for (uint32_t g = 0; g < groups.size(); ++g)
      for (uint32_t rank = 0; rank < groups[g].size(); ++rank) {
        const Side side =
            side_of(transfers.empty() ? std::nullopt : std::optional(transfers[g]), rank);
        if ((side == Side::Receives) == receivers &&
            (absent.empty() || !std::ranges::binary_search(absent, GroupMember{g, rank})))
          all.push_back({groups[g][rank], {g, Node(rank)}});
      }
    const auto before = [](const Place& a, const Place& b) { return a.first < b.first; };
    if (!std::is_sorted(all.begin(), all.end(), before))
      std::sort(all.begin(), all.end(), before);
    std::vector<LogicalId> devices;
    std::vector<GroupRank> ranks;
    for (const auto& [device, rank] : all) {
      devices.push_back(device);
      ranks.push_back(rank);
    }
    return OneSide{std::move(devices), std::move(ranks)};
  };
  others_ = of_side(false);
  if (!transfers.empty())
    receivers_ = of_side(true);
}

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
  std::vector<std::vector<GroupMember>> absent(sites);
  for (size_t c = 0; c < lowered.collectives.size(); ++c) {
    const Collective& collective = lowered.collectives[c];
    const size_t site = collective.site.index();
    if (groups[site].empty())
      first[site] = CollectiveId(c);
    ORRERY_CHECK(first[site].index() + groups[site].size() == c,
                 "the collectives of a site stand together");
    for (const uint32_t rank : collective.absent)
      absent[site].push_back({static_cast<uint32_t>(groups[site].size()), rank});
    groups[site].emplace_back(collective.members.begin(), collective.members.end());
    if (collective.transfer)
      transfers[site].push_back(*collective.transfer);
  }
  std::vector<SiteMembers> result;
  for (size_t site = 0; site < sites; ++site)
    result.emplace_back(first[site], GroupTable(groups[site], transfers[site], absent[site]));
  return result;
}

Lowered lowered_alone(const Program& program, Collective collective) {
  ORRERY_CHECK(program.ops.size() == 1 && program.threads.size() == 1,
               "a program of one op of one thread");
  Lowered lowered;
  lowered.collectives.push_back(std::move(collective));
  lowered.iterations = std::make_shared<const Iterations>(program);
  lowered.tapes.emplace_back(program, program.threads.front(), lowered.iterations);
  lowered.choices.resize(1);
  lowered.local.resize(1);
  lowered.members = members_by_site(lowered, 1);
  return lowered;
}

}  // namespace orrery
