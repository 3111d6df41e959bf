#pragma once

// A NamedSharding says which device holds which part of an array: a spec on a mesh of devices, as
// in JAX.
//
// The device at a logical id of the mesh holds, per dimension, the block whose number is the id's
// index over the axes of that dimension. With logical ids, the block of id d is on the device at
// position ids[d] instead. An HloSharding (hlo_sharding.h) says the same without names. An SdyArray
// says it without devices, apart from these ids.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/array/shape.h"
#include "models/base/callable.h"
#include "models/base/id.h"
#include "models/mesh/device_mesh.h"
#include "models/mesh/hlo_sharding.h"
#include "models/mesh/partition_spec.h"

namespace orrery {

/// An SdyDim says how an SdyArray cuts a dimension.
struct SdyDim {
  std::vector<std::string> axes;  // major to minor
  bool open = false;              // whether the compiler may cut it by further axes
  friend bool operator==(const SdyDim&, const SdyDim&) = default;
};

/// An SdyArray is a sharding as Shardy takes it: with the names of axes, and dimensions that the
/// compiler may cut further.
struct SdyArray {
  std::vector<SdyDim> dims;
  std::optional<std::vector<LogicalId>> device_ids = {};
  std::vector<std::string> replicated_axes = {};  // along which it must copy; in mesh order
  std::vector<std::string> unreduced_axes = {};   // in mesh order
  friend bool operator==(const SdyArray&, const SdyArray&) = default;

  /// Returns what JAX's repr does: "SdyArray([{'x', ?}, {}], device_ids=(1, 0),
  /// replicated_axes=frozenset({'y'}))", the set sorted. JAX does not print unreduced axes.
  std::string text() const;
};

/// Returns the array of that rank that the compiler may cut as it likes (JAX's AUTO).
SdyArray open_array(size_t rank);

struct ShardingParts {
  DeviceMesh mesh;
  PartitionSpec spec = {};
  std::optional<std::string> memory_kind = {};  // of a mesh of devices: "device" if it is not given
  std::optional<std::vector<LogicalId>> logical_device_ids = {};
  friend bool operator==(const ShardingParts&, const ShardingParts&) = default;
};

/// A Shard is one device's part of an array.
struct Shard {
  int64_t device = 0;           // its physical id
  std::vector<Interval> slice;  // per dimension
  int64_t replica = 0;          // its number among the devices that hold copies of this slice
};

class NamedSharding {
 public:
  /// Throws ShardingError for the first of these that does not hold:
  ///  - Each axis of the entries is named once.
  ///  - Each axis of the entries is in the mesh.
  ///  - If a dimension is unconstrained, some axis of the mesh is Auto.
  ///  - Unreduced axes, and then reduced ones, are Explicit axes of the mesh.
  ///  - Logical ids have each device of the mesh once.
  explicit NamedSharding(ShardingParts parts);

  const ShardingParts& parts() const { return parts_; }

  /// Returns this sharding with parts changed, which are checked again.
  NamedSharding update(FunctionRef<void(ShardingParts&)> change) const;
  NamedSharding with_memory_kind(std::string kind) const;

  /// Returns the shape of each device's part. Throws ShardingError if the spec has more entries
  /// than the shape dimensions, if an extent is not divisible, or if an axis of several devices is
  /// Manual: then there is no whole array.
  Shape shard_shape(const Shape& global) const;

  /// Returns the parts in the order of the mesh's devices, in which copies of a slice are numbered.
  /// Along unreduced axes there are addends instead of copies, which are all number 0. Throws
  /// ShardingError as shard_shape does, or if the mesh is abstract.
  std::vector<Shard> shards(const Shape& global) const;

  /// Returns whether each device holds the whole array, all equal. An array that is unreduced over
  /// an axis is not, unless the mesh is one device.
  bool is_fully_replicated() const;

  /// Returns whether this process addresses every device, as it does here. Throws ShardingError if
  /// the mesh is abstract.
  bool is_fully_addressable() const;

  /// Returns the sharding of arrays of a rank as XLA has it. Throws ShardingError if the spec has
  /// more entries, or cuts by a Manual axis of several devices.
  HloSharding hlo_sharding(size_t rank) const;

  /// Returns the sharding of arrays of a rank as Shardy has it. Throws ShardingError if the spec
  /// has more entries.
  SdyArray sdy_sharding(size_t rank) const;

  /// Returns the same with what the types of axes say: if any is Auto, each dimension is open, and
  /// Explicit axes that the spec does not name are replicated.
  SdyArray typed_sdy_sharding(size_t rank) const;

  /// Returns whether both give each device the same part of an array of this rank, in the same kind
  /// of memory. Devices of two abstract meshes are not compared. Throws ShardingError as
  /// hlo_sharding does.
  bool is_equivalent_to(const NamedSharding& other, size_t rank) const;

  /// Returns what JAX's repr does: "NamedSharding(mesh=Mesh('x': 4, axis_types=(Auto,)),
  /// spec=P('x',), memory_kind=device)".
  std::string repr() const;

  friend bool operator==(const NamedSharding&, const NamedSharding&) = default;

 private:
  void check_entries() const;
  void check_set(const std::set<std::string>& axes, std::string_view set) const;
  void check_logical_ids() const;
  void check_rank(size_t rank, std::string_view array) const;
  const Mesh& mesh() const { return parts_.mesh.axes(); }
  [[noreturn]] void refuse(ShardingStage stage, std::string_view message) const;
  /// Puts the dimension before the message.
  [[noreturn]] void refuse(size_t dimension, std::string_view message) const;

  ShardingParts parts_;
};

/// Returns the sharding of the spec that is corrected for the shape and the mesh (JAX users'
/// get_corrected_named_sharding).
NamedSharding corrected_sharding(const Shape& shape, const PartitionSpec& spec,
                                 const DeviceMesh& mesh);

/// Returns the spec over the mesh of an HLO sharding of arrays of this rank. If several fit, it is
/// the one with the axes in the mesh's order. It has no axes of size 1, and no entries after the
/// last that cuts. Throws ShardingError if the text is no sharding, or has no spec.
PartitionSpec spec_of_hlo(std::string_view hlo, const Mesh& mesh, size_t rank);

}  // namespace orrery
