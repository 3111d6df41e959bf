#pragma once

// Which device has which part in a site.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/base/id.h"
#include "models/base/shared_list.h"
#include "models/mesh/mesh.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// A device's part in a site.
struct Member {
  CollectiveId collective;
  Node node;
};

/// For each device, its group in a list of groups and its rank there. Copies share one table, as
/// long as the range from the lowest device to the highest.
class GroupTable {
 public:
  struct Entry {
    uint32_t group = 0;
    Node node;
  };

  GroupTable() = default;
  /// Requires that no device is in two groups.
  explicit GroupTable(std::span<const Group> groups) {
    uint32_t end = 0;
    for (const Group& group : groups) {
      for (const LogicalId device : group) {
        first_ = end == 0 ? device.index() : std::min(first_, device.index());
        end = std::max(end, device.index() + 1);
      }
    }
    std::vector<std::optional<Entry>> entries(end - first_);
    for (uint32_t g = 0; g < groups.size(); ++g)
      for (size_t rank = 0; rank < groups[g].size(); ++rank)
        entries[groups[g][rank].index() - first_] = Entry{g, Node(rank)};
    entries_ = std::move(entries);
  }

  std::optional<Entry> of(LogicalId device) const {
    const size_t at = size_t{device.index()} - first_;  // wraps below the first
    return at < entries_.size() ? entries_[at] : std::nullopt;
  }

 private:
  uint32_t first_ = 0;
  SharedList<std::optional<Entry>> entries_;
};

/// Who takes part in one site.
class SiteMembers {
 public:
  SiteMembers() = default;
  /// Group g of `groups` is the collective `first` + g.
  SiteMembers(CollectiveId first, GroupTable groups) : first_(first), groups_(std::move(groups)) {}
  SiteMembers(CollectiveId first, std::span<const Group> groups)
      : SiteMembers(first, GroupTable(groups)) {}

  /// By logical id; empty for a device that takes no part.
  std::optional<Member> operator[](size_t device) const {
    const std::optional<GroupTable::Entry> entry = groups_.of(LogicalId(device));
    if (!entry)
      return std::nullopt;
    return Member{CollectiveId(first_.index() + entry->group), entry->node};
  }

 private:
  CollectiveId first_;
  GroupTable groups_;
};

}  // namespace orrery
