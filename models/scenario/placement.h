#pragma once

// This reads how a program and its arrays lie on the mesh: "mesh", "on", the states "varying",
// "unreduced" and "reduced", and "spec" (which may be "corrected") or "hlo", which say how an array
// is cut.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/array/shape.h"
#include "models/base/diagnostics.h"
#include "models/base/id.h"
#include "models/mesh/mesh.h"
#include "models/mesh/partition_spec.h"
#include "models/program/value.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"
#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"

namespace orrery {

// Each reader returns nothing, or leaves something out, if it has added an error. The mesh is null
// if it has errors itself; then names of axes are not checked.

/// Reads the axes in the order of the file. The mesh has at most `devices` devices, if known.
std::optional<Mesh> read_mesh(DocumentNode node, std::optional<uint32_t> devices,
                              const Limits& limits, Diagnostics& diagnostics);

/// Reads "on": the devices of the mesh that a program or an array is on, ascending, each once. "on"
/// is a list of device ids, or an object such as {"stage": 0, "x": [2, 4]}. That means the devices
/// with index 0 on axis "stage" and index 2 or 3 on axis "x".
std::optional<std::vector<LogicalId>> read_devices(DocumentNode node, const Mesh& mesh,
                                                   Diagnostics& diagnostics);

/// Reads the lists "unreduced" and "reduced" beside a spec. Each axis may be in one list only, and
/// in none if the spec names it. The unreduced axes of the spec come before those of the list.
std::optional<ArrayStates> read_states_beside(Fields& fields, const Mesh* mesh,
                                              const PartitionSpec& spec, Diagnostics& diagnostics);

/// Reads the lists of states of an array given per device that is not joined: the same, and
/// "varying".
std::optional<ArrayStates> read_states_alone(Fields& fields, const Mesh* mesh,
                                             Diagnostics& diagnostics);

/// Adds an error if there is a list "varying" beside `key`, by which the array's "spec" or "hlo"
/// says over which axes it varies.
void refuse_varying(Fields& fields, std::string_view key, Diagnostics& diagnostics);

/// Returns one state per axis of the mesh: varying over those of the spec, as given over those of
/// `given`, and `others` over the rest.
AxisStates axis_states(const Mesh& mesh, const PartitionSpec& spec, const ArrayStates& given,
                       AxisState others = AxisState::Invarying);
AxisStates axis_states(const Mesh& mesh, const Array& array);

/// Returns the error of an array given per device if two devices have different elements, though
/// the array is invarying or reduced along all axes along which they differ. It names the first two
/// devices and the first such element.
std::optional<std::string> unequal_copies(const Mesh& mesh, const Array& array);

/// Returns the shape of the part that each device holds of the array.
Shape local_shape(const Mesh& mesh, const Array& array);

// spec_reader.cc reads how an array is cut. Errors of specs are those of models/mesh, with a
// position.

/// Reads "spec" of an output: how an array is cut over the mesh, as [["x", "y"], null]. Each axis
/// may be named once.
PartitionSpec read_spec(DocumentNode node, const Mesh& mesh, Diagnostics& diagnostics);

/// An UncutArray is what has been read of an array before its cut.
struct UncutArray {
  const Mesh* mesh = nullptr;         // null if it has an error; then no axis is checked
  const std::optional<Shape>& shape;  // empty if it has an error
  bool per_device = false;            // `shape` is that of a part
  const std::optional<std::vector<LogicalId>>& on;  // as in Array
};

/// An ArrayCut says how the file cuts an array.
struct ArrayCut {
  PartitionSpec spec;                             // with the unreduced axes of an HLO text
  std::optional<PartitionSpec> uncorrected = {};  // as in Array
  std::optional<DocumentNode> given = {};         // the value of "spec" or "hlo"
  std::string_view key = {};                      // of that value
};

/// Reads "spec", "corrected" and "hlo" of an array. The axes must divide the extents of a whole
/// array. Its devices must span whole each axis that cuts it, and each along which it has addends.
ArrayCut read_cut(Fields& fields, const UncutArray& array, Diagnostics& diagnostics);

/// Adds an error at the node for each of the axes that the devices `on` do not span whole. An array
/// must be on such devices if the axis cuts it, or if it has addends along the axis.
void check_spanned(DocumentNode node, const std::vector<std::string>& axes, const Mesh& mesh,
                   const std::vector<LogicalId>& on, Diagnostics& diagnostics);

}  // namespace orrery
