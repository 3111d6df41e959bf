#include "models/scenario/written_program.h"

#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/callable.h"
#include "models/program/did_you_mean.h"
#include "models/scenario/array_states.h"
#include "models/scenario/syntax.h"

namespace orrery {

namespace {

/// Goes back through the transforms.
class WrittenReader {
 public:
  WrittenReader(const Mesh& mesh, const Limits& limits, Diagnostics& diagnostics)
      : limits_(limits), diagnostics_(diagnostics), mesh_(mesh) {}

  void add_array(const ArrayReading& reading) {
    if (!reading.array)
      return;
    const Array& array = *reading.array;
    types_.emplace(reading.name, ValueType{array.dtype, local_shape(mesh_, array),
                                           axis_states(mesh_, array), false});
  }

  /// False after an error.
  bool undo(Transform& transform) {
    return std::visit(Overloaded{[&](BatchRequest& request) { return undo_batch(request); },
                                 [&](const auto& request) {
                                   for (const NamedAt& of : request.of) {
                                     types_.erase("ct_" + of.name);
                                     brought_.insert("ct_" + of.name);
                                   }
                                   return true;
                                 }},
                      transform);
  }

  Written take() { return {std::move(mesh_), std::move(types_)}; }

 private:
  bool undo_batch(BatchRequest& request) {
    const size_t before = diagnostics_.size();
    std::vector<std::string_view> arrays;
    for (const auto& [array, type] : types_)
      arrays.push_back(array);
    for (const auto& [name, dimension] : request.in_axes)
      if (diagnostics_.empty() && !types_.contains(name.name))
        diagnostics_.add(
            name.origin,
            fmt::format("expected the name of an array, got {}{}", in_quotes(name.name),
                        brought_.contains(name.name)
                            ? ", a cotangent, which a later transform brings with the batch in "
                              "it; leave it out, or batch after that transform"
                            : did_you_mean(name.name, arrays)));
    for (const auto& [name, dimension] : request.in_axes)
      if (const auto found = types_.find(name.name); found != types_.end() && dimension)
        undo_array(name, *dimension, found->second, request);
    if (!request.size && diagnostics_.size() == before)
      diagnostics_.add(request.origin,
                       "missing key \"size\" (or an array with the batch in \"in_axes\")");
    if (request.axis_name && request.size && diagnostics_.size() == before)
      undo_axis(request);
    return diagnostics_.size() == before;
  }

  /// Takes the dimension of the batch off an array.
  void undo_array(const NamedAt& name, int64_t dimension, ValueType& type, BatchRequest& request) {
    const auto rank = static_cast<int64_t>(type.shape.rank());
    if (dimension >= rank) {
      diagnostics_.add(name.origin,
                       fmt::format("expected a dimension of {}, {} on a device, got {}",
                                   in_quotes(name.name), text(type, mesh_), dimension));
      return;
    }
    const int64_t extent = type.shape[static_cast<size_t>(dimension)];
    if (!request.size)
      request.size = extent;
    if (extent != *request.size || extent == 0)
      diagnostics_.add(name.origin,
                       fmt::format("expected dimension {} of {} to be the size of the batch, {}, "
                                   "got {} on a device",
                                   dimension, in_quotes(name.name),
                                   extent == 0 ? "1 or more" : std::to_string(*request.size),
                                   text(type, mesh_)));
    else
      type.shape = type.shape.without(static_cast<size_t>(dimension));
  }

  /// Puts the axis back into the mesh: arrays with the batch vary along it.
  void undo_axis(const BatchRequest& request) {
    const auto& [name, origin] = *request.axis_name;
    if (mesh_.axis(name)) {
      std::vector<std::string_view> names;
      for (const Axis& axis : mesh_.axes())
        names.push_back(axis.name);
      diagnostics_.add(origin, fmt::format("expected a name that is no axis of the mesh ({}), "
                                           "which does not have that of the batch, got {}",
                                           fmt::join(names, ", "), in_quotes(name)));
      return;
    }
    int64_t devices = 0;
    if (__builtin_mul_overflow(int64_t{mesh_.devices()}, *request.size, &devices) ||
        devices > limits_.devices) {
      diagnostics_.add(origin, beyond(limits_, &Limits::devices,
                                      fmt::format("{} times {}", mesh_.devices(), *request.size)));
      return;
    }
    if (mesh_.axes().size() >= static_cast<size_t>(kMostMeshAxes)) {
      diagnostics_.add(origin,
                       fmt::format("expected at most {} axes with that of the batch, got {}",
                                   kMostMeshAxes, mesh_.axes().size() + 1));
      return;
    }
    std::vector<Axis> axes(mesh_.axes().begin(), mesh_.axes().end());
    axes.push_back({name, *request.size});
    mesh_ = Mesh(std::move(axes));
    for (auto& [array, type] : types_)
      type.axes.push_back(AxisState::Invarying);
    for (const auto& [array, dimension] : request.in_axes)
      if (const auto found = types_.find(array.name); found != types_.end() && dimension)
        found->second.axes.back() = AxisState::Varying;
  }

  const Limits& limits_;
  Diagnostics& diagnostics_;
  Mesh mesh_;
  std::map<std::string, ValueType> types_;
  std::set<std::string> brought_;  // by the transforms that come later
};

bool takes_an_axis(const std::vector<Transform>& transforms) {
  for (const Transform& transform : transforms)
    if (const auto* batch = std::get_if<BatchRequest>(&transform); batch && batch->axis_name)
      return true;
  return false;
}

}  // namespace

std::optional<Written> written_program(const Mesh& mesh, const std::vector<ArrayReading>& arrays,
                                       std::vector<Transform>& transforms, const Limits& limits,
                                       Diagnostics& diagnostics) {
  WrittenReader reader(mesh, limits, diagnostics);
  for (const ArrayReading& reading : arrays) {
    reader.add_array(reading);
    if (reading.array && reading.array->on && takes_an_axis(transforms)) {
      diagnostics.add(reading.origin,
                      fmt::format("expected an array on every device, for a batch in the place of "
                                  "a mesh axis, got {}",
                                  in_quotes(reading.name)));
      return std::nullopt;
    }
  }
  for (auto transform = transforms.rbegin(); transform != transforms.rend(); ++transform)
    if (!reader.undo(*transform))
      return std::nullopt;
  return reader.take();
}

}  // namespace orrery
