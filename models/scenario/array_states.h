#pragma once

// An array's "varying", "unreduced" and "reduced": its states along mesh axes.

#include <optional>
#include <string>

#include "models/base/diagnostics.h"
#include "models/mesh/mesh.h"
#include "models/program/value.h"
#include "models/scenario/fields.h"
#include "models/scenario/scenario.h"

namespace orrery {

/// The lists "unreduced" and "reduced" of an array whose spec is given. Each axis may be in one
/// list only, and in none if the spec names it. Empty where an error was added.
std::optional<ArrayStates> read_states_beside(Fields& fields, const Mesh* mesh,
                                              const PartitionSpec& spec, Diagnostics& diagnostics);

/// Each axis may be in one list only, and in none if the spec names it. `spec` is null for an array
/// given per device; only such a one may say "varying". Empty where an error was added. Without a
/// mesh, names are not checked.
std::optional<ArrayStates> read_array_states(Fields& fields, const Mesh* mesh,
                                             const PartitionSpec* spec, Diagnostics& diagnostics);

/// One state per axis of the mesh: varying over those of the spec, as given, and `others`
/// elsewhere.
AxisStates axis_states(const Mesh& mesh, const PartitionSpec& spec, const ArrayStates& given,
                       AxisState others = AxisState::Invarying);
AxisStates axis_states(const Mesh& mesh, const Array& array);

/// The error in an array given per device, of which two devices have different elements though it
/// is invarying or reduced along all axes along which they differ.
std::optional<std::string> unequal_copies(const Mesh& mesh, const Array& array);

}  // namespace orrery
