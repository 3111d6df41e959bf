#pragma once

// A Mesh is the logical arrangement of devices on named axes. This file also has replica groups
// over axes. partition_spec.h says how an array is cut.
//
// A mesh of axes x = 2 and y = 4 has devices 0 to 7: device 4 x + y is at (x, y). Everything here
// is arithmetic on such numbers. Nothing is stored per device. A collective over y exchanges within
// 2 groups, {0, 1, 2, 3} and {4, 5, 6, 7}. A collective over x exchanges within 4 groups, {0, 4}
// and so on. A device's rank is its index over the axes of the collective, in the order in which
// the op names them. The same arithmetic cuts arrays: with the spec P('y', 'x') a device holds row
// block y and column block x. A program on a part of the mesh has groups within that part
// (groups_of).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/id.h"

namespace orrery {

struct Axis {
  std::string name;
  int64_t size = 1;
  friend bool operator==(const Axis&, const Axis&) = default;
};

/// A Mesh has named axes in an order. A device's logical id is its row-major index over the axes
/// (the last varies fastest).
class Mesh {
 public:
  Mesh() = default;  // no axes: one device
  explicit Mesh(std::vector<Axis> axes);

  std::span<const Axis> axes() const { return axes_; }
  uint32_t devices() const { return devices_; }

  /// Returns the position of the axis in axes(), or nothing if the mesh has no such axis.
  std::optional<size_t> axis(std::string_view name) const;

  /// Returns the coordinate of `id` on axis number `axis`.
  int64_t coordinate(LogicalId id, size_t axis) const;

  /// Returns the index of `id` over `axes` (positions in axes(), in the order given, the first most
  /// significant).
  int64_t index(LogicalId id, std::span<const size_t> axes) const;

  /// Returns the device at `index` over `axes` whose other coordinates are those of `id`. Requires
  /// 0 <= index < size(axes).
  LogicalId with_index(LogicalId id, std::span<const size_t> axes, int64_t index) const;

  /// Returns the product of the sizes of `axes`.
  int64_t size(std::span<const size_t> axes) const;

  friend bool operator==(const Mesh&, const Mesh&) = default;

 private:
  std::vector<Axis> axes_;
  std::vector<int64_t> strides_;  // logical ids between neighbours on an axis
  uint32_t devices_ = 1;
};

/// Returns the positions of axes in the mesh, in the order given. Requires axes of the mesh.
std::vector<size_t> axis_positions(const Mesh& mesh, std::span<const std::string> names);

/// A Group is one replica group: logical ids in rank order.
using Group = std::vector<LogicalId>;

/// Returns the replica groups over `axes` that have at least one of `devices` (ascending, each
/// once). A group may have other members too. There is a group for each setting of the other axes,
/// row-major. A device's rank is its index over `axes`, in the order given. With `lists` (JAX's
/// axis_index_groups), which have each rank once, each group is split into one per list: the
/// members of the list's ranks, in its order. Takes time and memory by the groups returned and the
/// lists, not by the mesh.
std::vector<Group> groups_of(const Mesh& mesh, std::span<const size_t> axes,
                             std::span<const std::vector<int64_t>> lists,
                             std::span<const LogicalId> devices);

/// Returns the first member of `group` that is not among `devices` (ascending), if there is one.
std::optional<LogicalId> missing_member(const Group& group, std::span<const LogicalId> devices);

/// Returns ascending ids as ranges: "0-3, 8".
std::string ranges_text(std::span<const LogicalId> ids);
/// Returns the same with the noun: "device 8", "devices 0-3, 8".
std::string devices_text(std::span<const LogicalId> ids);

/// Returns the index of `device` among ascending devices, or nothing if it is not among them.
inline std::optional<size_t> index_among(std::span<const LogicalId> devices, LogicalId device) {
  if (devices.empty() || device < devices.front())
    return std::nullopt;
  // Devices mostly have consecutive ids.
  const size_t next = device.index() - devices.front().index();
  if (next < devices.size() && devices[next] == device)
    return next;
  const auto at = std::lower_bound(devices.begin(), devices.end(), device);
  if (at == devices.end() || *at != device)
    return std::nullopt;
  return static_cast<size_t>(at - devices.begin());
}

/// An Interval is the coordinates on an axis from `begin` to before `end`.
struct Interval {
  int64_t begin = 0;
  int64_t end = 0;
};

/// Returns the devices whose coordinates lie in these intervals, one per axis of the mesh,
/// ascending.
std::vector<LogicalId> devices_in(const Mesh& mesh, std::span<const Interval> box);

/// Returns every device, ascending.
std::vector<LogicalId> all_devices(const Mesh& mesh);

}  // namespace orrery
