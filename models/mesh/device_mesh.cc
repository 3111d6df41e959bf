#include "models/mesh/device_mesh.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/check.h"
#include "models/base/diagnostics.h"
#include "models/mesh/partition_spec.h"

namespace orrery {

std::string_view name(AxisType type) {
  constexpr std::string_view kNames[] = {"Auto", "Explicit", "Manual"};
  return kNames[static_cast<size_t>(type)];
}

namespace {

[[noreturn]] void refuse(std::string message) {
  throw ShardingError(ShardingStage::Mesh, message);
}

std::vector<Axis> checked(std::vector<Axis> axes) {
  std::set<std::string_view> names;
  int64_t devices = 1;
  for (const Axis& axis : axes) {
    if (axis.name.empty() || axis.name == "UNCONSTRAINED")
      refuse(
          fmt::format("expected an axis name other than \"\" and \"UNCONSTRAINED\", which mean "
                      "something else in a spec, got {}",
                      in_quotes(axis.name)));
    if (!names.insert(axis.name).second)
      refuse(fmt::format("expected axes of different names, got {} twice", in_quotes(axis.name)));
    if (axis.size < 1)
      refuse(fmt::format("expected an axis of at least 1 device, got {} of {}",
                         in_quotes(axis.name), axis.size));
    if (__builtin_mul_overflow(devices, axis.size, &devices) ||
        devices > std::numeric_limits<uint32_t>::max())
      refuse("expected a mesh of less than 2^32 devices, got more");
  }
  return axes;
}

}  // namespace

DeviceMesh::DeviceMesh(std::vector<Axis> axes, std::optional<std::vector<AxisType>> types,
                       MeshDevices devices)
    : mesh_(checked(std::move(axes))),
      types_(std::move(types).value_or(std::vector(mesh_.axes().size(), AxisType::Auto))),
      abstract_(devices.abstract) {
  if (types_.size() != mesh_.axes().size())
    refuse(fmt::format("expected a type per axis, of which there are {}, got {}",
                       mesh_.axes().size(), types_.size()));
  if (!devices.order)
    return;
  if (abstract_)
    refuse("expected no devices of an abstract mesh, got an order of them");
  order_ = std::move(*devices.order);
  if (order_.size() != mesh_.devices())
    refuse(fmt::format("expected a device for each of the {} places in the mesh, got {}",
                       mesh_.devices(), order_.size()));
  std::vector<int64_t> sorted = order_;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    refuse(fmt::format("expected each device once, got device {} twice", *twice));
  if (order_ == sorted && order_.front() == 0 && order_.back() == int64_t{mesh_.devices()} - 1)
    order_.clear();
}

bool DeviceMesh::has(AxisType type) const {
  return std::find(types_.begin(), types_.end(), type) != types_.end();
}

int64_t DeviceMesh::device(LogicalId id) const {
  ORRERY_CHECK(!abstract_, "an abstract mesh is not asked for devices");
  return order_.empty() ? int64_t{id.index()} : order_[id.index()];
}

std::string DeviceMesh::types_text() const {
  std::string names;
  for (const AxisType type : types_)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name(type));
  return fmt::format("axis_types=({}{})", names, types_.size() == 1 ? "," : "");
}

std::string DeviceMesh::text() const {
  if (types_.empty())
    return abstract_ ? "AbstractMesh((), axis_types=())" : "Mesh()";
  std::string axes;
  for (const Axis& axis : mesh_.axes())
    axes += fmt::format("'{}': {}, ", axis.name, axis.size);  // the name as it is, unlike in repr
  return fmt::format("{}({}{})", abstract_ ? "AbstractMesh" : "Mesh", axes, types_text());
}

std::string DeviceMesh::repr() const {
  if (abstract_)
    return text();
  std::vector<std::string> names;
  std::string sizes;
  for (const Axis& axis : mesh_.axes()) {
    names.push_back(axis.name);
    sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", axis.size);
  }
  return fmt::format("Mesh(axis_sizes=({}{}), axis_names={}{})", sizes,
                     names.size() == 1 ? "," : "", python_tuple(names),
                     names.empty() ? "" : ", " + types_text());
}

bool same_devices(const DeviceMesh& a, const DeviceMesh& b) {
  return a.abstract_ == b.abstract_ && a.order_ == b.order_ &&
         (a.abstract_ || a.mesh_.devices() == b.mesh_.devices());
}

}  // namespace orrery
