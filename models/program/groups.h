#pragma once

// These functions turn a collective's axis names and axis_index_groups into replica groups: the
// devices that exchange.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/mesh/mesh.h"
#include "models/program/rules.h"

namespace orrery {

/// Returns the message for a name that is no axis of the mesh: "expected an axis of the mesh (x,
/// y), got "z"", with the nearest axis if it looks like a typo. Requires a name that is no axis.
std::string unknown_axis(const Mesh& mesh, std::string_view name);

/// Returns the error in a list of axis names, if the mesh lacks one or if one is given twice.
std::optional<std::string> axes_error(const Mesh& mesh, std::span<const std::string> names);

/// Returns the error in a collective's axis_index_groups. Each rank must be named exactly once, no
/// list may be empty, and the sizes must be as `sizes` says. Requires axis names without errors.
std::optional<TypeError> groups_error(const Mesh& mesh, const Attributes& attributes,
                                      GroupSizes sizes);

/// Returns the number of ranks in a group, or in the first group if axis_index_groups makes them
/// unequal. Requires groups without errors, as does replica_groups.
int64_t group_size(const Mesh& mesh, const Attributes& attributes);

/// Returns the replica groups of a collective that have at least one of `devices` (ascending).
std::vector<Group> replica_groups(const Mesh& mesh, const Attributes& attributes,
                                  std::span<const LogicalId> devices);

}  // namespace orrery
