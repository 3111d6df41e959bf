#pragma once

// A PartitionSpec says how an array is cut over a mesh, as in JAX. It has an entry per dimension of
// the array: the axes that divide it, major to minor. With P('x', ('z', 'y')) on a mesh x = 2,
// y = 3, z = 5 the first dimension has 2 blocks and the second 15. The device at (x, y, z) holds
// row block x and column block 3 z + y. Axes that the spec does not name copy the array, unless the
// array is `unreduced` over them: then it is the sum of what the devices hold.
//
// The functions that return an error state each rule of specs once. The reader of scenarios puts
// its position before them, and NamedSharding (named_sharding.h) the spec.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/array/shape.h"
#include "models/mesh/mesh.h"

namespace orrery {

/// A ShardingStage says what could not be made: the mesh, the spec alone, the sharding of both, its
/// use for a shape, the map from devices to slices. They are made in this order. Hlo stands apart:
/// an HLO text could not be read.
enum class ShardingStage : uint8_t { Mesh, Spec, Sharding, Shape, Map, Hlo };

/// Returns "mesh", "spec" and so on.
std::string_view name(ShardingStage stage);

/// A ShardingError says why a mesh, a spec or a sharding is refused.
class ShardingError : public std::runtime_error {
 public:
  ShardingError(ShardingStage stage, const std::string& message)
      : std::runtime_error(message), stage_(stage) {}
  ShardingStage stage() const { return stage_; }

 private:
  ShardingStage stage_;
};

/// Missing trailing dimensions are not cut. Two specs are equal if their entries and sets are, so
/// P('x') and P('x', None) differ, though they mean the same.
struct PartitionSpec {
  std::vector<std::vector<std::string>> dims;
  std::set<size_t> unconstrained = {};   // dimensions without axes that a compiler may still cut
  std::set<std::string> unreduced = {};  // axes along which the copies are addends of a sum
  std::set<std::string> reduced = {};    // axes along which the cotangent is unreduced
  friend bool operator==(const PartitionSpec&, const PartitionSpec&) = default;

  /// Returns what JAX's repr does: "P('x', None, ('y', 'z'), unreduced={'a'})", sets sorted.
  std::string text() const;

  /// Returns the spec of the array's cotangent: unreduced and reduced change places.
  PartitionSpec cotangent() const;
};

/// Returns the name in quotes, as Python's repr writes a string.
std::string python_text(std::string_view name);

/// Returns "('x', 'y')" or "(1, 0)"; a tuple of one has a comma: "('x',)".
std::string python_tuple(std::span<const std::string> names);
std::string python_tuple(std::span<const LogicalId> ids);

/// Throws ShardingError if an axis is in more than one of `unreduced`, `reduced` and the entries.
void check_places(const PartitionSpec& spec);

/// Returns the axes of the spec with the dimension that each divides, in the order of the spec.
std::vector<std::pair<std::string, size_t>> array_mapping(const PartitionSpec& spec);

/// Returns the spec in which each axis divides its dimension, in the order given within one.
PartitionSpec spec_of(std::span<const std::pair<std::string, size_t>> mapping);

/// Returns a spec that fits the shape and the mesh, and cuts no more than `spec`: an entry stays if
/// the mesh has all its axes and their sizes' product divides the extent (0 is divisible). Others
/// are None, as are unconstrained ones. The result has an entry per dimension, or none if nothing
/// is cut. It has no unreduced or reduced axes.
PartitionSpec corrected(const PartitionSpec& spec, const Shape& shape, const Mesh& mesh);

/// Returns a sentence for each entry with axes that is None in the corrected spec: "dimension 1 is
/// not cut, since the mesh has no axis "z"; it has "x"".
std::vector<std::string> corrections(const PartitionSpec& spec, const Shape& shape,
                                     const Mesh& mesh);

// Each rule returns its error, or nothing if it is kept.

/// Requires that an entry's axis is in the mesh.
std::optional<std::string> missing_axis_error(const Mesh& mesh, std::string_view axis);

/// Requires that no axis is named twice in the entries. Adds the axis to those used before.
std::optional<std::string> repeated_axis_error(std::string_view axis, std::set<std::string>& used);

/// Requires that an axis is in one place: an entry, `unreduced` or `reduced`. Adds it to those used
/// before.
std::optional<std::string> places_error(std::string_view axis, std::set<std::string>& used);

/// Requires at most one entry per dimension of `array`, which is a shape or "an array of rank 2".
std::optional<std::string> rank_error(size_t entries, size_t rank, std::string_view array);

/// Requires that the product of the axes' sizes divides the extent. Requires axes of the mesh.
std::optional<std::string> divisible_error(const Mesh& mesh, std::span<const std::string> axes,
                                           size_t dimension, int64_t extent);

/// Returns the shape that each device holds. Requires a spec that keeps the rules.
Shape local_shape(const Mesh& mesh, const PartitionSpec& spec, const Shape& global);

/// Returns the shape of the whole array of which each device holds a `local` one. Requires a spec
/// that keeps the rules. Throws Overflow.
Shape global_shape(const Mesh& mesh, const PartitionSpec& spec, const Shape& local);

/// Returns the first index of device `id`'s part of the global array, per dimension.
std::vector<int64_t> local_start(const Mesh& mesh, const PartitionSpec& spec, const Shape& global,
                                 LogicalId id);

}  // namespace orrery
