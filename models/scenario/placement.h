#pragma once

// This reads how a program and its arrays lie on the mesh: "mesh", "on", "spec", and the states
// "varying", "unreduced" and "reduced".

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/callable.h"
#include "models/base/diagnostics.h"
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

/// Reads "spec": how an array is cut over the mesh, as [["x", "y"], null]. Visits each item of the
/// list with its dimension and its valid axes. Each axis may be named once.
PartitionSpec read_spec(
    DocumentNode node, const Mesh* mesh, Diagnostics& diagnostics,
    FunctionRef<void(DocumentNode item, size_t dimension, const std::vector<std::string>& axes)>
        visit);

/// Adds an error and returns false if `node` has more items than `shape` has dimensions.
bool fits_rank(DocumentNode node, const Shape& shape, Diagnostics& diagnostics);

/// Reads the lists "unreduced" and "reduced" beside a spec. Each axis may be in one list only, and
/// in none if the spec names it.
std::optional<ArrayStates> read_states_beside(Fields& fields, const Mesh* mesh,
                                              const PartitionSpec& spec, Diagnostics& diagnostics);

/// Reads the same lists, and "varying", which only an array that is given per device may state.
/// `spec` is null for such an array.
std::optional<ArrayStates> read_array_states(Fields& fields, const Mesh* mesh,
                                             const PartitionSpec* spec, Diagnostics& diagnostics);

/// Returns one state per axis of the mesh: varying over those of the spec, as given over those of
/// `given`, and `others` over the rest.
AxisStates axis_states(const Mesh& mesh, const PartitionSpec& spec, const ArrayStates& given,
                       AxisState others = AxisState::Invarying);
AxisStates axis_states(const Mesh& mesh, const Array& array);

/// Returns the error of an array given per device if two devices have different elements, though
/// the array is invarying or reduced along all axes along which they differ.
std::optional<std::string> unequal_copies(const Mesh& mesh, const Array& array);

/// Returns the shape of the part that each device holds of the array.
Shape local_shape(const Mesh& mesh, const Array& array);

/// Returns the shape of the whole array of which each device holds a `local` one. Throws Overflow.
Shape global_shape(const Mesh& mesh, const PartitionSpec& spec, const Shape& local);

}  // namespace orrery
