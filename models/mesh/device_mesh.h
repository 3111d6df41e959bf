#pragma once

// A DeviceMesh is a mesh of real devices, as in JAX: its axes have types, and its logical ids have
// physical devices in some order. An abstract one has no devices.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/mesh/mesh.h"

namespace orrery {

/// An AxisType says who decides how arrays are cut along an axis: the compiler (Auto), their types
/// (Explicit), or a program that each device runs on its own part (Manual).
enum class AxisType : uint8_t { Auto, Explicit, Manual };

/// Returns "Auto" and so on.
std::string_view name(AxisType type);

/// Says which devices a mesh has: none if it is abstract, or the physical id at each logical id,
/// which is 0, 1, ... if no order is given.
struct MeshDevices {
  bool abstract = false;
  std::optional<std::vector<int64_t>> order = {};
};

class DeviceMesh {
 public:
  /// If no types are given, all axes are Auto. Throws ShardingError unless all of these hold:
  ///  - Each axis has a name of its own, which is neither "" nor "UNCONSTRAINED".
  ///  - Each axis has a device at least.
  ///  - There is a type per axis.
  ///  - An order has each device once, and as many as the mesh has.
  explicit DeviceMesh(std::vector<Axis> axes, std::optional<std::vector<AxisType>> types = {},
                      MeshDevices devices = {});

  const Mesh& axes() const { return mesh_; }
  AxisType type(size_t axis) const { return types_[axis]; }
  bool has(AxisType type) const;  // whether any axis has it
  bool is_abstract() const { return abstract_; }

  /// Returns the physical id at a logical one. Requires a mesh that is not abstract.
  int64_t device(LogicalId id) const;

  /// Returns what JAX's str does: "Mesh('x': 2, 'y': 4, axis_types=(Auto, Explicit))".
  std::string text() const;

  /// Returns what JAX's repr does: "Mesh(axis_sizes=(2, 4), axis_names=('x', 'y'), axis_types=..)".
  /// That of an abstract mesh is text().
  std::string repr() const;

  friend bool operator==(const DeviceMesh&, const DeviceMesh&) = default;

  /// Returns whether both have the same devices in the same order.
  friend bool same_devices(const DeviceMesh& a, const DeviceMesh& b);

 private:
  std::string types_text() const;

  Mesh mesh_;
  std::vector<AxisType> types_;
  bool abstract_ = false;
  std::vector<int64_t> order_;  // empty if it is 0, 1, ...
};

}  // namespace orrery
