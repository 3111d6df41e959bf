#include "models/scenario/placement.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "models/array/text.h"
#include "models/program/groups.h"
#include "models/scenario/fields.h"
#include "models/scenario/syntax.h"

namespace orrery {

namespace {

constexpr int64_t kLargestAxis = std::numeric_limits<int64_t>::max();

std::set<std::string> axes_of(const PartitionSpec& spec) {
  std::set<std::string> axes = spec.unreduced;
  for (const std::vector<std::string>& dim : spec.dims)
    axes.insert(dim.begin(), dim.end());
  return axes;
}

/// Reads the names in the list at `key`. Adds them to `used`, which must not have them yet.
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
    else if (const auto error = places_error(name, used))
      diagnostics.add(node->origin(), *error);
  }
  return names;
}

}  // namespace

std::optional<Mesh> read_mesh(DocumentNode node, std::optional<uint32_t> devices,
                              const Limits& limits, Diagnostics& diagnostics) {
  if (!is_object(node, "an object with the size of each axis", diagnostics))
    return std::nullopt;
  if (node.size() > static_cast<size_t>(kMostMeshAxes)) {
    diagnostics.add(node.origin(),
                    fmt::format("expected at most {} axes, got {}", kMostMeshAxes, node.size()));
    return std::nullopt;
  }
  const size_t before = diagnostics.size();
  std::vector<Axis> axes;
  int64_t product = 1;
  for (const DocumentNode member : node) {
    if (member.key().empty())
      diagnostics.add(member.key_origin(), "expected an axis name that is not empty");
    const auto size = read_integer(member, "an axis size", {1, kLargestAxis}, diagnostics);
    if (!size)
      continue;
    if (__builtin_mul_overflow(product, *size, &product))
      product = kLargestAxis;
    axes.push_back({member.key(), *size});
  }
  if (diagnostics.size() != before)
    return std::nullopt;
  const std::string count = product == kLargestAxis ? "2^63 or more" : std::to_string(product);
  if (devices && product > int64_t{*devices})
    diagnostics.add(node.origin(),
                    fmt::format("expected a mesh of at most {} devices, the cluster's, got {}",
                                *devices, count));
  else if (product > limits.devices)
    diagnostics.add(node.origin(), beyond(limits, &Limits::devices, count));
  if (diagnostics.size() != before)
    return std::nullopt;
  return Mesh(std::move(axes));
}

Shape local_shape(const Mesh& mesh, const Array& array) {
  return array.per_device ? array.global : local_shape(mesh, array.spec, array.global);
}

std::optional<std::vector<LogicalId>> read_devices(DocumentNode node, const Mesh& mesh,
                                                   Diagnostics& diagnostics) {
  const size_t before = diagnostics.size();
  if (node.kind() == DocumentNode::Kind::List) {
    std::set<int64_t> seen;
    for (const DocumentNode item : node) {
      const auto id = read_integer(item, "a device", {0, int64_t{mesh.devices()} - 1}, diagnostics);
      if (!id)
        return std::nullopt;
      if (!seen.insert(*id).second) {
        diagnostics.add(item.origin(), fmt::format("device {} is named twice", *id));
        return std::nullopt;
      }
    }
    std::vector<LogicalId> devices;
    for (const int64_t id : seen)
      devices.emplace_back(static_cast<size_t>(id));
    return devices;
  }
  if (!is_object(node, "an object with a place or an interval per axis, or a list of devices",
                 diagnostics))
    return std::nullopt;
  std::vector<Interval> box;
  for (const Axis& axis : mesh.axes())
    box.push_back({0, axis.size});
  Fields fields(node, diagnostics);
  for (size_t i = 0; i < box.size(); ++i) {
    const Axis& axis = mesh.axes()[i];
    const std::optional<DocumentNode> place = fields.optional(axis.name);
    if (!place)
      continue;
    if (place->kind() == DocumentNode::Kind::List) {
      const auto ends = read_integers(*place, "a place", {0, axis.size}, diagnostics);
      if (ends && (ends->size() != 2 || (*ends)[0] >= (*ends)[1]))
        diagnostics.add(place->origin(), "expected an interval such as [0, 2], without its end");
      else if (ends)
        box[i] = {(*ends)[0], (*ends)[1]};
    } else if (const auto at = read_integer(*place, "a place", {0, axis.size - 1}, diagnostics)) {
      box[i] = {*at, *at + 1};
    }
  }
  fields.finish();
  if (diagnostics.size() != before)
    return std::nullopt;
  return devices_in(mesh, box);
}

std::optional<ArrayStates> read_states_beside(Fields& fields, const Mesh* mesh,
                                              const PartitionSpec& spec, Diagnostics& diagnostics) {
  const size_t before = diagnostics.size();
  std::set<std::string> used = axes_of(spec);
  ArrayStates states;
  states.unreduced.assign(spec.unreduced.begin(), spec.unreduced.end());
  for (std::string& axis : read_axes(fields, "unreduced", mesh, used, diagnostics))
    states.unreduced.push_back(std::move(axis));
  states.reduced = read_axes(fields, "reduced", mesh, used, diagnostics);
  return diagnostics.size() == before ? std::optional(std::move(states)) : std::nullopt;
}

void refuse_varying(Fields& fields, std::string_view key, Diagnostics& diagnostics) {
  if (const auto varying = fields.optional("varying"))
    diagnostics.add(
        varying->key_origin(),
        fmt::format("expected no \"varying\" with \"{}\": the array varies over the axes of its "
                    "\"{}\"",
                    key, key == "shape" ? "spec" : key));
}

std::optional<ArrayStates> read_states_alone(Fields& fields, const Mesh* mesh,
                                             Diagnostics& diagnostics) {
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
  const bool all_vary = array.per_device && !array.joined && !array.states.varying;
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
  std::map<int64_t, size_t> first;  // the first device at each index over these
  for (size_t i = 0; i < given->tensors.size(); ++i) {
    const auto device = [&](size_t k) { return array.on ? (*array.on)[k] : LogicalId(k); };
    const auto [found, added] = first.emplace(mesh.index(device(i), differing), i);
    if (added)
      continue;
    const Tensor& one = given->tensors[found->second];
    const Tensor& other = given->tensors[i];
    if (const auto element = differing_element(one, other))
      return fmt::format(
          "expected the same elements on devices {} and {}, which differ only along axes over "
          "which the array does not vary, got {} in element {}",
          device(found->second).index(), device(i).index(), differing_text(one, other, *element),
          *element);
  }
  return std::nullopt;
}

}  // namespace orrery
