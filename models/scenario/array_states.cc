#include "models/scenario/array_states.h"

#include <map>
#include <set>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "models/program/groups.h"
#include "models/scenario/syntax.h"

namespace orrery {

namespace {

std::set<std::string> axes_of(const PartitionSpec& spec) {
  std::set<std::string> axes;
  for (const std::vector<std::string>& dim : spec.dims)
    axes.insert(dim.begin(), dim.end());
  return axes;
}

/// The names in the list at `key`. Adds those to `used`, which must not have them.
std::vector<std::string> read_axes(Fields& fields, std::string_view key, const Mesh* mesh,
                                   std::set<std::string>& used, Diagnostics& diagnostics) {
  const std::optional<DocumentNode> node = fields.optional(key);
  if (!node)
    return {};
  const std::vector<std::string> names =
      read_names(*node, "an axis name", diagnostics).value_or(std::vector<std::string>());
  if (mesh == nullptr)
    return {};
  for (const std::string& name : names) {
    if (!mesh->axis(name))
      diagnostics.add(node->origin(), unknown_axis(*mesh, name));
    else if (!used.insert(name).second)
      diagnostics.add(node->origin(),
                      fmt::format("expected each axis in one place of the array's spec and states, "
                                  "got {} again",
                                  in_quotes(name)));
  }
  return names;
}

}  // namespace

std::optional<ArrayStates> read_states_beside(Fields& fields, const Mesh* mesh,
                                              const PartitionSpec& spec, Diagnostics& diagnostics) {
  const size_t before = diagnostics.size();
  std::set<std::string> used = axes_of(spec);
  ArrayStates states;
  states.unreduced = read_axes(fields, "unreduced", mesh, used, diagnostics);
  states.reduced = read_axes(fields, "reduced", mesh, used, diagnostics);
  return diagnostics.size() == before ? std::optional(std::move(states)) : std::nullopt;
}

std::optional<ArrayStates> read_array_states(Fields& fields, const Mesh* mesh,
                                             const PartitionSpec* spec, Diagnostics& diagnostics) {
  if (spec != nullptr) {
    if (const auto varying = fields.optional("varying")) {
      diagnostics.add(
          varying->key_origin(),
          "expected no \"varying\" with \"shape\": the array varies over the axes of its "
          "\"spec\"");
      return std::nullopt;
    }
    return read_states_beside(fields, mesh, *spec, diagnostics);
  }
  const size_t before = diagnostics.size();
  std::set<std::string> used;
  ArrayStates states;
  if (fields.optional("varying"))
    states.varying = read_axes(fields, "varying", mesh, used, diagnostics);
  states.unreduced = read_axes(fields, "unreduced", mesh, used, diagnostics);
  states.reduced = read_axes(fields, "reduced", mesh, used, diagnostics);
  return diagnostics.size() == before ? std::optional(std::move(states)) : std::nullopt;
}

AxisStates axis_states(const Mesh& mesh, const PartitionSpec& spec, const ArrayStates& given,
                       AxisState others) {
  AxisStates states(mesh.axes().size(), others);
  const auto set = [&](const std::vector<std::string>& names, AxisState state) {
    for (const size_t axis : axis_positions(mesh, names))
      states[axis] = state;
  };
  for (const std::vector<std::string>& axes : spec.dims)
    set(axes, AxisState::Varying);
  if (given.varying)
    set(*given.varying, AxisState::Varying);
  set(given.unreduced, AxisState::Unreduced);
  set(given.reduced, AxisState::Reduced);
  return states;
}

AxisStates axis_states(const Mesh& mesh, const Array& array) {
  const bool all_vary = array.per_device && !array.states.varying;
  return axis_states(mesh, array.spec, array.states,
                     all_vary ? AxisState::Varying : AxisState::Invarying);
}

std::optional<std::string> unequal_copies(const Mesh& mesh, const Array& array) {
  const auto* given = std::get_if<PerDeviceInit>(&array.init);
  if (given == nullptr)
    return std::nullopt;
  const AxisStates states = axis_states(mesh, array);
  std::vector<size_t> differing;  // the axes along which copies may differ
  for (size_t axis = 0; axis < states.size(); ++axis)
    if (states[axis] == AxisState::Varying || states[axis] == AxisState::Unreduced)
      differing.push_back(axis);
  std::map<int64_t, size_t> first;  // of the devices at the same index over these
  for (size_t i = 0; i < given->tensors.size(); ++i) {
    const auto device = [&](size_t k) { return array.on ? (*array.on)[k] : LogicalId(k); };
    const auto [found, added] = first.emplace(mesh.index(device(i), differing), i);
    if (added || same_bits(given->tensors[found->second], given->tensors[i]))
      continue;
    return fmt::format(
        "expected the same elements on devices {} and {}, which differ only along axes over which "
        "the array does not vary",
        device(found->second).index(), device(i).index());
  }
  return std::nullopt;
}

}  // namespace orrery
