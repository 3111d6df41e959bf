#include "models/mesh/mesh.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/check.h"
#include "models/base/quantity.h"

namespace orrery {

Mesh::Mesh(std::vector<Axis> axes) : axes_(std::move(axes)), strides_(axes_.size()) {
  int64_t stride = 1;
  for (size_t a = axes_.size(); a-- > 0;) {
    ORRERY_CHECK(axes_[a].size >= 1, "a mesh axis has at least one device");
    strides_[a] = stride;
    stride = checked_multiply(stride, axes_[a].size);
  }
  ORRERY_CHECK(stride <= UINT32_MAX, "a mesh has fewer than 2^32 devices");
  devices_ = static_cast<uint32_t>(stride);
}

std::optional<size_t> Mesh::axis(std::string_view name) const {
  for (size_t a = 0; a < axes_.size(); ++a)
    if (axes_[a].name == name)
      return a;
  return std::nullopt;
}

int64_t Mesh::coordinate(LogicalId id, size_t axis) const {
  return int64_t{id.index()} / strides_[axis] % axes_[axis].size;
}

int64_t Mesh::index(LogicalId id, std::span<const size_t> axes) const {
  int64_t index = 0;
  for (const size_t axis : axes)
    index = index * axes_[axis].size + coordinate(id, axis);
  return index;
}

LogicalId Mesh::with_index(LogicalId id, std::span<const size_t> axes, int64_t index) const {
  auto at = int64_t{id.index()};
  for (size_t i = axes.size(); i-- > 0;) {
    const size_t axis = axes[i];
    at += (index % axes_[axis].size - coordinate(id, axis)) * strides_[axis];
    index /= axes_[axis].size;
  }
  return LogicalId(static_cast<size_t>(at));
}

int64_t Mesh::size(std::span<const size_t> axes) const {
  int64_t size = 1;
  for (const size_t axis : axes)
    size *= axes_[axis].size;
  return size;
}

std::vector<size_t> axis_positions(const Mesh& mesh, std::span<const std::string> names) {
  std::vector<size_t> positions;
  positions.reserve(names.size());
  for (const std::string& name : names) {
    const std::optional<size_t> axis = mesh.axis(name);
    ORRERY_CHECK(axis.has_value(), "axis names have been checked");
    positions.push_back(*axis);
  }
  return positions;
}

namespace {

/// A Seat is a device's group, by its number among all groups of the mesh, and its rank in the
/// group.
struct Seat {
  int64_t group;
  int64_t rank;
  LogicalId device;

  friend bool operator<(const Seat& a, const Seat& b) {
    return std::tie(a.group, a.rank) < std::tie(b.group, b.rank);
  }
};

/// An InList names the list that has a rank of a whole group, and the rank's position in the list.
struct InList {
  size_t list = 0;
  int64_t position = 0;
};

std::vector<InList> positions_in(std::span<const std::vector<int64_t>> lists, int64_t ranks) {
  std::vector<InList> positions(lists.empty() ? 0 : static_cast<size_t>(ranks));
  for (size_t list = 0; list < lists.size(); ++list)
    for (size_t position = 0; position < lists[list].size(); ++position)
      positions[static_cast<size_t>(lists[list][position])] = {list,
                                                               static_cast<int64_t>(position)};
  return positions;
}

std::vector<size_t> other_axes(const Mesh& mesh, std::span<const size_t> axes) {
  std::vector<size_t> others;
  for (size_t a = 0; a < mesh.axes().size(); ++a)
    if (std::find(axes.begin(), axes.end(), a) == axes.end())
      others.push_back(a);
  return others;
}

/// Returns one seat for each of the devices, sorted by group and rank.
std::vector<Seat> seats_of(const Mesh& mesh, std::span<const size_t> axes,
                           std::span<const std::vector<int64_t>> lists,
                           std::span<const LogicalId> devices) {
  const std::vector<size_t> others = other_axes(mesh, axes);
  const std::vector<InList> positions = positions_in(lists, mesh.size(axes));
  std::vector<Seat> seats;
  seats.reserve(devices.size());
  for (const LogicalId device : devices) {
    Seat seat{mesh.index(device, others), mesh.index(device, axes), device};
    if (!lists.empty()) {
      const InList& in = positions[static_cast<size_t>(seat.rank)];
      seat.group = seat.group * static_cast<int64_t>(lists.size()) + static_cast<int64_t>(in.list);
      seat.rank = in.position;
    }
    seats.push_back(seat);
  }
  if (!std::is_sorted(seats.begin(), seats.end()))
    std::sort(seats.begin(), seats.end());
  return seats;
}

/// Returns the rank over the axes of the member at this place of a group.
int64_t rank_at(const std::vector<int64_t>* list, size_t place) {
  return list == nullptr ? static_cast<int64_t>(place) : (*list)[place];
}

}  // namespace

std::vector<Group> groups_of(const Mesh& mesh, std::span<const size_t> axes,
                             std::span<const std::vector<int64_t>> lists,
                             std::span<const LogicalId> devices) {
  const std::vector<Seat> seats = seats_of(mesh, axes, lists, devices);
  std::vector<Group> result;
  for (size_t first = 0; first < seats.size();) {
    const int64_t number = seats[first].group;
    const std::vector<int64_t>* const list =
        lists.empty() ? nullptr : &lists[static_cast<size_t>(number) % lists.size()];
    const size_t size = list == nullptr ? static_cast<size_t>(mesh.size(axes)) : list->size();
    const LogicalId one = seats[first].device;
    Group group;
    for (; first < seats.size() && seats[first].group == number; ++first) {
      // The members before this one that are not among the devices.
      while (static_cast<int64_t>(group.size()) < seats[first].rank)
        group.push_back(mesh.with_index(one, axes, rank_at(list, group.size())));
      group.push_back(seats[first].device);
    }
    while (group.size() < size)
      group.push_back(mesh.with_index(one, axes, rank_at(list, group.size())));
    result.push_back(std::move(group));
  }
  return result;
}

std::optional<LogicalId> missing_member(const Group& group, std::span<const LogicalId> devices) {
  const auto missing = std::find_if(
      group.begin(), group.end(), [&](LogicalId member) { return !index_among(devices, member); });
  return missing == group.end() ? std::nullopt : std::optional(*missing);
}

// Ids that are equally far apart are "0, 2, ..., 14". If there are more than kMostPieces parts,
// some in the middle are left out, so that the text stays short: "0-2, 5-6, ..., 90-92 (40 in
// all)".
std::string ranges_text(std::span<const LogicalId> ids) {
  constexpr size_t kLeastStrided = 4;  // fewer are written out
  constexpr size_t kMostPieces = 8;
  std::vector<std::string> pieces;
  const auto stride_at = [&](size_t i) { return ids[i + 1].index() - ids[i].index(); };
  for (size_t first = 0; first < ids.size();) {
    size_t last = first;
    while (last + 1 < ids.size() && stride_at(last) == stride_at(first))
      ++last;
    const auto id = [&](size_t i) { return std::to_string(ids[i].index()); };
    if (last > first && stride_at(first) == 1) {
      pieces.push_back(id(first) + "-" + id(last));
    } else if (last - first + 1 >= kLeastStrided) {
      pieces.push_back(fmt::format("{}, {}, ..., {}", id(first), id(first + 1), id(last)));
    } else {
      last = first;
      pieces.push_back(id(first));
    }
    first = last + 1;
  }
  if (pieces.size() <= kMostPieces)
    return fmt::format("{}", fmt::join(pieces, ", "));
  const std::string last = pieces.back();
  pieces.resize(kMostPieces - 1);
  return fmt::format("{}, ..., {} ({} in all)", fmt::join(pieces, ", "), last, ids.size());
}

std::string devices_text(std::span<const LogicalId> ids) {
  return (ids.size() == 1 ? "device " : "devices ") + ranges_text(ids);
}

std::vector<LogicalId> devices_in(const Mesh& mesh, std::span<const Interval> box) {
  std::vector<LogicalId> devices = {LogicalId(0)};
  for (size_t a = 0; a < box.size(); ++a) {
    std::vector<LogicalId> further;
    const std::array axis = {a};
    for (const LogicalId device : devices)
      for (int64_t at = box[a].begin; at < box[a].end; ++at)
        further.push_back(mesh.with_index(device, axis, at));
    devices = std::move(further);
  }
  return devices;
}

std::vector<LogicalId> all_devices(const Mesh& mesh) {
  std::vector<LogicalId> devices;
  devices.reserve(mesh.devices());
  for (uint32_t d = 0; d < mesh.devices(); ++d)
    devices.emplace_back(d);
  return devices;
}

}  // namespace orrery
