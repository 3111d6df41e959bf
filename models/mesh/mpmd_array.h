#pragma once

// An MpmdArray is an array in some groups of an MPMD mesh, as one process sees it (JaxPP's class of
// that name): all processes know its type and its groups, and each holds replicas in some of them.
//
// With groups {0, 2}, a process of group 2 holds one replica, and so it has a local array. The
// first replica is that of group 0, which it has not. A process of group 1 holds none. A process
// that holds both replicas has a list of local arrays, and it may delete the first alone. After
// that the array refuses all other uses, though it can be printed.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/array/dtype.h"
#include "models/array/shape.h"
#include "models/mesh/mpmd.h"
#include "models/mesh/named_sharding.h"
#include "models/mesh/partition_spec.h"

namespace orrery {

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
