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
#include "models/program/sides.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// A device's part in a site.
struct Member {
  CollectiveId collective;
  Node node;
};

/// For each device of a list of groups, its group and its rank there, on each side that it enters
/// by. Copies share one table.
class GroupTable {
 public:
  struct Entry {
    uint32_t group = 0;
    Node node;
  };

  GroupTable() = default;
  /// `transfers` has what each group is, of a transfer; else it is empty. Requires that no device
  /// enters two groups on one side.
  explicit GroupTable(std::span<const Group> groups, std::span<const TransferGroup> transfers = {});

  /// Empty for a device that enters none on this side.
  std::optional<Entry> find(LogicalId device, Side side) const {
    const Entries& entries = of(side);
    const std::optional<size_t> index = index_among(entries.devices, device);
    return index ? std::optional(entries.entries[*index]) : std::nullopt;
  }
  /// Those that enter on this side, ascending.
  std::span<const LogicalId> devices(Side side) const { return of(side).devices; }

 private:
  struct Entries {
    SharedList<LogicalId> devices;
    SharedList<Entry> entries;  // of each of the devices
  };
  const Entries& of(Side side) const { return side == Side::Receives ? receivers_ : others_; }

  Entries others_;     // on both sides, or of a transfer those that send
  Entries receivers_;  // of a transfer
};

/// The members of one site.
class SiteMembers {
 public:
  SiteMembers() = default;
  /// Group g of the table is the collective `first` + g.
  SiteMembers(CollectiveId first, GroupTable groups) : first_(first), groups_(std::move(groups)) {}

  /// Empty for a device that does not enter on this side.
  std::optional<Member> find(LogicalId device, Side side) const {
    const std::optional<GroupTable::Entry> entry = groups_.find(device, side);
    if (!entry)
      return std::nullopt;
    return Member{CollectiveId(first_.index() + entry->group), entry->node};
  }
  std::span<const LogicalId> devices(Side side) const { return groups_.devices(side); }

 private:
  CollectiveId first_;
  GroupTable groups_;
};

}  // namespace orrery
