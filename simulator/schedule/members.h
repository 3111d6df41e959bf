#pragma once

// Which device has which part in a site.

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

/// For each device of a list of groups, its group and its rank there. Copies share one table.
class GroupTable {
 public:
  struct Entry {
    uint32_t group = 0;
    Node node;
  };

  GroupTable() = default;
  /// Requires that no device is in two groups.
  explicit GroupTable(std::span<const Group> groups);

  /// Empty for a device that is in none.
  std::optional<Entry> find(LogicalId device) const {
    const std::optional<size_t> index = index_among(devices_, device);
    return index ? std::optional(entries_[*index]) : std::nullopt;
  }
  std::span<const LogicalId> devices() const { return devices_; }  // ascending

 private:
  SharedList<LogicalId> devices_;
  SharedList<Entry> entries_;  // of each of the devices
};

/// The members of one site.
class SiteMembers {
 public:
  SiteMembers() = default;
  /// Group g of the table is the collective `first` + g.
  SiteMembers(CollectiveId first, GroupTable groups) : first_(first), groups_(std::move(groups)) {}

  /// Empty for a device that takes no part.
  std::optional<Member> find(LogicalId device) const {
    const std::optional<GroupTable::Entry> entry = groups_.find(device);
    if (!entry)
      return std::nullopt;
    return Member{CollectiveId(first_.index() + entry->group), entry->node};
  }
  std::span<const LogicalId> devices() const { return groups_.devices(); }  // ascending

 private:
  CollectiveId first_;
  GroupTable groups_;
};

}  // namespace orrery
