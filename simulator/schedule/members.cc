#include "simulator/schedule/members.h"

#include <algorithm>

namespace orrery {

GroupTable::GroupTable(std::span<const Group> groups) {
  std::vector<std::pair<LogicalId, Entry>> all;
  for (uint32_t g = 0; g < groups.size(); ++g)
    for (size_t rank = 0; rank < groups[g].size(); ++rank)
      all.push_back({groups[g][rank], {g, Node(rank)}});
  const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::is_sorted(all.begin(), all.end(), before))
    std::sort(all.begin(), all.end(), before);
  std::vector<LogicalId> devices;
  std::vector<Entry> entries;
  for (const auto& [device, entry] : all) {
    devices.push_back(device);
    entries.push_back(entry);
  }
  devices_ = std::move(devices);
  entries_ = std::move(entries);
}

}  // namespace orrery
