#pragma once

// The devices that exchange in a collective: its axis names and axis_index_groups as replica
// groups.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/mesh/mesh.h"
#include "models/program/rules.h"

namespace orrery {

/// The message for a name that is no axis of the mesh: "expected an axis of the mesh (x, y), got
/// "z"", with the nearest axis if it looks like a typo. Requires that it is none.
std::string unknown_axis(const Mesh& mesh, std::string_view name);

/// The error in a list of axis names: one that the mesh does not have, or one given twice.
std::optional<std::string> axes_error(const Mesh& mesh, std::span<const std::string> names);

/// The positions of axes in the mesh, in the order given. Requires names without errors.
std::vector<size_t> axis_positions(const Mesh& mesh, std::span<const std::string> names);

/// The error in a collective's axis_index_groups: each rank must be named exactly once, no list may
/// be empty, and `sizes` must be met. Requires axis names without errors.
std::optional<TypeError> groups_error(const Mesh& mesh, const Attributes& attributes,
                                      GroupSizes sizes);

/// The number of ranks in a group; in the first, if axis_index_groups makes them unequal. Requires
/// groups without errors, as does replica_groups.
int64_t group_size(const Mesh& mesh, const Attributes& attributes);

/// The replica groups of a collective within `devices` (ascending), or a group that is only partly
/// inside.
std::variant<std::vector<Group>, CutGroup> replica_groups(const Mesh& mesh,
                                                          const Attributes& attributes,
                                                          std::span<const LogicalId> devices);

}  // namespace orrery
