#include "simulator/schedule/members.h"

#include <algorithm>

namespace orrery {

GroupTable::GroupTable(std::span<const Group> groups, std::span<const TransferGroup> transfers) {
  using Place = std::pair<LogicalId, Entry>;
  const auto of_side = [&](bool receivers) {
    std::vector<Place> all;
    for (uint32_t g = 0; g < groups.size(); ++g)
      for (size_t rank = 0; rank < groups[g].size(); ++rank) {
        const auto side =
            side_of(transfers.empty() ? std::nullopt : std::optional(transfers[g]), rank);
        if (side && (*side == Side::Receives) == receivers)
          all.push_back({groups[g][rank], {g, Node(rank)}});
      }
    const auto before = [](const Place& a, const Place& b) { return a.first < b.first; };
    if (!std::is_sorted(all.begin(), all.end(), before))
      std::sort(all.begin(), all.end(), before);
    std::vector<LogicalId> devices;
    std::vector<Entry> entries;
    for (const auto& [device, entry] : all) {
      devices.push_back(device);
      entries.push_back(entry);
    }
    return Entries{std::move(devices), std::move(entries)};
  };
  others_ = of_side(false);
  if (!transfers.empty())
    receivers_ = of_side(true);
}

}  // namespace orrery
