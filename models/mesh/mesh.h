#pragma once

// The logical arrangement of devices: named axes, replica groups over them, and how an array is
// cut.
//
// A mesh of axes x = 2 and y = 4 has devices 0 to 7: device 4 x + y is at (x, y). Everything here
// is arithmetic on such numbers; nothing is stored per device. A collective over y exchanges within
// 2 groups, {0, 1, 2, 3} and {4, 5, 6, 7}; one over x within 4, {0, 4} and so on. A device's rank
// is its index over the axes of the collective, in the order in which the op names them. The same
// arithmetic cuts arrays: with the spec P(y, x) a device holds row block y and column block x.
// Programs on a part of the mesh have groups within that part only (groups_within).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/array/shape.h"
#include "models/base/id.h"

namespace orrery {

struct Axis {
  std::string name;
  int64_t size = 1;
  friend bool operator==(const Axis&, const Axis&) = default;
};

/// Ordered named axes. A device's logical id is its row-major index over them (the last varies
/// fastest).
class Mesh {
 public:
  Mesh() = default;  // no axes: one device
  explicit Mesh(std::vector<Axis> axes);

  std::span<const Axis> axes() const { return axes_; }
  uint32_t devices() const { return devices_; }

  /// The position of the axis in axes(); empty if the mesh has no such axis.
  std::optional<size_t> axis(std::string_view name) const;

  /// The coordinate of `id` on axis number `axis`.
  int64_t coordinate(LogicalId id, size_t axis) const;

  /// The index of `id` over `axes` (positions in axes(), in the order given, the first most
  /// significant).
  int64_t index(LogicalId id, std::span<const size_t> axes) const;

  /// The device that is at `index` over `axes` and otherwise where `id` is. Requires an index of
  /// these axes.
  LogicalId with_index(LogicalId id, std::span<const size_t> axes, int64_t index) const;

  /// Product of the sizes of `axes`.
  int64_t size(std::span<const size_t> axes) const;

 private:
  std::vector<Axis> axes_;
  std::vector<int64_t> strides_;  // logical ids between neighbours on an axis
  uint32_t devices_ = 1;
};

/// One replica group: logical ids in rank order.
using Group = std::vector<LogicalId>;

/// A group with members both inside and outside a set of devices.
struct CutGroup {
  LogicalId inside;
  LogicalId outside;
};

/// The replica groups over `axes` that lie within `devices` (ascending, each once), or the first
/// group that they cut. There is a group for each setting of the other axes, row-major; a device's
/// rank is its index over `axes`, in the order given. With `lists`, which have each rank once, each
/// group is split into one per list: the members of these ranks, in the list's order (JAX's
/// axis_index_groups). Takes time and memory by the devices and the lists, not by the mesh.
std::variant<std::vector<Group>, CutGroup> groups_within(
    const Mesh& mesh, std::span<const size_t> axes, std::span<const std::vector<int64_t>> lists,
    std::span<const LogicalId> devices);

/// The index of `device` among ascending devices; empty if it is not one of them.
std::optional<size_t> index_among(std::span<const LogicalId> devices, LogicalId device);

/// Places on an axis, without the end.
struct Interval {
  int64_t begin = 0;
  int64_t end = 0;
};

/// The devices whose coordinates lie in these intervals, one per axis of the mesh; ascending.
std::vector<LogicalId> devices_in(const Mesh& mesh, std::span<const Interval> box);

/// Every device, ascending.
std::vector<LogicalId> all_devices(const Mesh& mesh);

/// How an array is cut over a mesh: per array dimension, the axes that divide it, major to minor
/// (JAX's PartitionSpec). Missing trailing dimensions are not cut.
struct PartitionSpec {
  std::vector<std::vector<std::string>> dims;
  friend bool operator==(const PartitionSpec&, const PartitionSpec&) = default;

  std::string text() const;  // "P(x, None, (y, z))"
};

/// The shape each device holds. Requires that every axis is in the mesh, none is used twice, and
/// each extent is divisible by the product of its axes (the reader checks these and says so).
Shape local_shape(const Mesh& mesh, const PartitionSpec& spec, const Shape& global);

/// The first index of device `id`'s part of the global array, per dimension.
std::vector<int64_t> local_start(const Mesh& mesh, const PartitionSpec& spec, const Shape& global,
                                 LogicalId id);

}  // namespace orrery
