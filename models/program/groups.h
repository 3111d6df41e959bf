#pragma once

// Who exchanges with whom in a collective: its axis names and axis_index_groups as replica groups.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/mesh/mesh.h"
#include "models/program/rules.h"

namespace orrery {

/// What to say of a name that is no axis of the mesh: "expected an axis of the mesh (x, y), got
/// "z"", with the nearest axis where it looks like a slip. Requires that it is none.
std::string unknown_axis(const Mesh& mesh, std::string_view name);

/// What is wrong with a list of axis names (one that the mesh does not have, or one given twice).
std::optional<std::string> axes_fault(const Mesh& mesh, std::span<const std::string> names);

/// The positions of axes in the mesh, in the order given. Requires names without fault.
std::vector<size_t> axis_positions(const Mesh& mesh, std::span<const std::string> names);

/// The replica groups of a collective over the whole mesh, or what is wrong with its
/// axis_index_groups: each rank must be named exactly once, no list may be empty, and `sizes` must
/// be met. Requires axis names without fault.
std::variant<std::vector<Group>, TypeFault> replica_groups(const Mesh& mesh,
                                                           const Attributes& attributes,
                                                           GroupSizes sizes);

/// A group with members both inside and outside a set of devices.
struct CutGroup {
  LogicalId inside;
  LogicalId outside;
};

/// Those groups that lie within the devices for which `inside` (by logical id) is true, or a group
/// that they cut.
std::variant<std::vector<Group>, CutGroup> groups_within(std::vector<Group> groups,
                                                         const std::vector<bool>& inside);

}  // namespace orrery
