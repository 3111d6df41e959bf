#pragma once

// An MPMD mesh is a mesh of devices that is divided along one axis: the devices at a place of this
// axis are a group, and each group runs a program of its own (JaxPP's MpmdMesh). An MPMD array lies
// whole in one or several groups, and is cut by the other axes within each.
//
// On a mesh s = 3, m = 2 with the MPMD axis s, the groups are {0, 1}, {2, 3} and {4, 5}. The spec
// P(('s', 'm'), 's') is P('m', None) without the axis. An array of this spec in groups 0 and 2 lies
// on the mesh s = 2, m = 2 of devices 0, 1, 4, 5.
//
// A list of arrays moves between a layout over the whole mesh and MPMD arrays in transfer groups,
// one after another, so that what moves at once stays below a threshold. With sizes 4, 8, 2 and 1,
// and the first three bound for group 0 and the last for group 1, the order is 1, 3, 0, 2. With a
// threshold of 9 the transfer groups are {1, 3} of 9 bytes and {0, 2} of 6.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/array/dtype.h"
#include "models/array/shape.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/mesh/device_mesh.h"
#include "models/mesh/mesh.h"
#include "models/mesh/named_sharding.h"
#include "models/mesh/partition_spec.h"

namespace orrery {

/// Returns the devices at these places of an axis, row-major, the axis being numbered as the places
/// are: numpy.take of all devices. Places may come in any order and be repeated. Ascending places
/// give ascending devices. Requires places on the axis.
std::vector<LogicalId> devices_at(const Mesh& mesh, size_t axis, std::span<const int64_t> places);

/// An MpmdMesh is a mesh of devices with its groups along one axis, which are numbered from 0.
class MpmdMesh {
 public:
  /// Throws ShardingError if the mesh has no such axis. Requires a mesh that is not abstract.
  MpmdMesh(DeviceMesh mesh, std::string_view axis);

  const DeviceMesh& mesh() const { return mesh_; }
  size_t axis() const { return axis_; }  // its position in the mesh
  std::string_view axis_name() const { return mesh_.axes().axes()[axis_].name; }

  /// Returns the number of groups, which is the size of the axis.
  int64_t groups() const { return mesh_.axes().axes()[axis_].size; }
  int64_t group_of(LogicalId id) const { return mesh_.axes().coordinate(id, axis_); }

  /// Returns places on the axis as numpy.take has them: those below 0 are from the end. Throws
  /// ShardingError for one beyond the axis.
  std::vector<int64_t> places(std::vector<int64_t> indices) const;
  /// Returns the sizes of the axes of a mesh with so many groups.
  std::vector<int64_t> shape_of(int64_t groups) const;
  /// Returns the physical ids in the order of devices_at().
  std::vector<int64_t> devices_at(std::span<const int64_t> places) const;

  /// Returns the sharding of an array of this spec over these groups. Throws ShardingError if there
  /// is no group or one beyond the axis, and as NamedSharding does.
  NamedSharding sharding(const std::set<int64_t>& groups, const PartitionSpec& spec) const;

  /// Returns the spec without the MPMD axis. Throws ShardingError if a dimension is unconstrained.
  PartitionSpec filtered(const PartitionSpec& spec) const;

 private:
  DeviceMesh mesh_;
  size_t axis_;
};

/// Requires a group of `groups`: "expected a group from 0 to 3, got 4".
std::optional<std::string> group_error(int64_t group, int64_t groups);

/// Requires that no dimension is unconstrained, as of an MPMD array.
std::optional<std::string> open_dimension_error(const PartitionSpec& spec);

/// Returns the spec with the axis taken out of each entry, without unreduced and reduced axes.
/// Requires that no dimension is unconstrained.
PartitionSpec without_axis(const PartitionSpec& spec, std::string_view axis);

/// Returns the groups that an array moves to if these are given: group 0 if none are.
std::set<int64_t> target_groups(std::set<int64_t> given);

/// Returns the order in which arrays move to groups. `sizes` are those of an array's shard, and
/// `groups` where it is bound for, at least one group each. Arrays with one smallest group form a
/// bucket. The buckets take turns, in the order of their first arrays, and give their largest
/// array; of equal ones the last.
std::vector<size_t> interleaved_order(std::span<const Bytes> sizes,
                                      std::span<const std::set<int64_t>> groups);

/// Returns the order in which arrays move back from groups: the largest first, of equal ones the
/// first.
std::vector<size_t> descending_order(std::span<const Bytes> sizes);

/// Returns the indices of arrays, in order, in groups that move at once. A group ends before the
/// array with which its sizes would exceed the threshold, so an array that alone exceeds it is a
/// group of its own. Requires sizes of at least 0.
std::vector<std::vector<size_t>> transfer_groups(std::span<const Bytes> sizes, Bytes threshold);

/// A LimitAndPeak has the memory figures of one device on which a default threshold depends.
struct LimitAndPeak {
  Bytes limit;  // what the device has
  Bytes peak;   // the most that was in use
};

/// Returns the threshold if none is given: a third of the least limit - peak of these devices,
/// rounded down, below 0 too. Requires a device.
Bytes threshold_of_devices(std::span<const LimitAndPeak> devices);

/// Returns the threshold on which several processes agree. The least of each process is rounded to
/// float32 as numpy rounds an integer, by way of float64, before the least of all is divided.
/// Requires a process, and a device of each.
Bytes threshold_of_processes(std::span<const std::vector<LimitAndPeak>> processes);

// An MpmdArray is an array in some groups of an MPMD mesh, as one process sees it (JaxPP's class of
// that name): all processes know its type and its groups, and each holds replicas in some of them.
//
// With groups {0, 2}, a process of group 2 holds one replica, and so it has a local array. The
// first replica is that of group 0, which it has not. A process of group 1 holds none. A process
// that holds both replicas has a list of local arrays, and it may delete the first alone. After
// that the array refuses all other uses, though it can be printed.

/// A LocalArray is an array that a process holds: on a group of an MPMD mesh, or where no replica
/// may be.
struct LocalArray {
  enum class On : uint8_t { OneGroup, WholeMesh, OneDevice };
  On on = On::OneGroup;
  int64_t group = 0;  // if it is on a group
  PartitionSpec spec = {};
  Shape shape = {};
  Dtype dtype = Dtype::S32;
};

/// An MpmdUse is what is asked of an array. An array of which no replica is held can be got: it is
/// nothing.
enum class MpmdUse : uint8_t { Delete, DeleteFirst, IsDeleted, Get, Number };

class MpmdArray {
 public:
  /// A Type is known of an array without a replica.
  struct Type {
    std::optional<Shape> shape = {};
    std::optional<Dtype> dtype = {};
  };

  /// Makes an array whose replicas are `local`. Throws ShardingError for the first of these that
  /// does not hold:
  ///  - The spec without the MPMD axis makes a sharding over the groups.
  ///  - Each replica lies on a group of these, which has no other.
  ///  - Its own spec and shape fit the group.
  ///  - All have one shape, dtype and spec without the axis: those that are given.
  ///  - A shape and a dtype are given if there is no replica.
  MpmdArray(const MpmdMesh& mesh, std::set<int64_t> groups, const PartitionSpec& spec,
            const std::vector<LocalArray>& local, Type given);

  const std::set<int64_t>& groups() const { return groups_; }
  const NamedSharding& sharding() const { return sharding_; }  // over all groups
  const Shape& shape() const { return *type_.shape; }
  Dtype dtype() const { return *type_.dtype; }

  /// Returns the groups whose replicas this process holds, also deleted ones.
  const std::set<int64_t>& held() const { return held_; }
  /// Returns the group of the first replica, the smallest of all, unless it is not held.
  std::optional<int64_t> first_replica() const;

  /// Returns why the array refuses a use, or nothing if it does not.
  std::optional<std::string> error_of(MpmdUse use) const;

  /// Returns whether all replicas are deleted.
  bool is_deleted() const { return deleted_ == held_.size(); }
  void delete_first() { deleted_ = std::max<size_t>(deleted_, 1); }
  void delete_all() { deleted_ = held_.size(); }

 private:
  void add(const LocalArray& local, const MpmdMesh& mesh);

  std::set<int64_t> groups_;
  NamedSharding sharding_;
  Type type_;
  std::set<int64_t> held_;
  size_t deleted_ = 0;  // how many of them are deleted, from the first on
};

}  // namespace orrery
