#include "models/scenario/transform_reader.h"

#include <array>
#include <limits>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/callable.h"
#include "models/base/diagnostics.h"
#include "models/scenario/fields.h"
#include "models/scenario/placement.h"

namespace orrery {

namespace {

/// Reads a list of names, or one name, each with its place.
std::vector<NamedAt> read_named(DocumentNode node, std::string_view what,
                                Diagnostics& diagnostics) {
  std::vector<NamedAt> named;
  const auto add = [&](DocumentNode item) {
    if (auto name = read_text(item, what, diagnostics))
      named.push_back({std::move(*name), item.origin()});
  };
  if (node.kind() != DocumentNode::Kind::List) {
    add(node);
    return named;
  }
  std::set<std::string> seen;
  for (const DocumentNode item : node) {
    add(item);
    if (!named.empty() && !seen.insert(named.back().name).second)
      diagnostics.add(item.origin(),
                      fmt::format("expected each name once, got {}", in_quotes(named.back().name)));
  }
  if (node.size() == 0)
    diagnostics.add(node.origin(), fmt::format("expected {} or more, got none", what));
  return named;
}

/// Reads the request of a transform that makes cotangents.
template <class Request>
Request read_cotangents(DocumentNode node, Fields& fields, Diagnostics& diagnostics) {
  Request request;
  request.origin = node.origin();
  if (const auto of = fields.required("of"))
    request.of = read_named(*of, "an id", diagnostics);
  if (const auto arguments = fields.required("with_respect_to"))
    request.with_respect_to = read_named(*arguments, "the name of an array", diagnostics);
  return request;
}

/// Each iteration ahead has a body of its own at the end of the loop.
constexpr int64_t kMostPrefetched = 64;

constexpr const char* kCotangents = "an object with \"of\" and \"with_respect_to\"";

Transform read_transpose(DocumentNode node, Diagnostics& diagnostics) {
  if (!is_object(node, kCotangents, diagnostics))
    return TransposeRequest();
  Fields fields(node, diagnostics);
  auto request = read_cotangents<TransposeRequest>(node, fields, diagnostics);
  fields.finish();
  return request;
}

Transform read_vjp(DocumentNode node, Diagnostics& diagnostics) {
  if (!is_object(node, kCotangents, diagnostics))
    return VjpRequest();
  Fields fields(node, diagnostics);
  auto request = read_cotangents<VjpRequest>(node, fields, diagnostics);
  if (const auto recompute = fields.optional("recompute")) {
    if (recompute->kind() == DocumentNode::Kind::Text && recompute->text() == "all")
      request.recompute_all = true;
    else if (recompute->kind() != DocumentNode::Kind::List || recompute->size() > 0)
      request.recompute = read_named(*recompute, "an id", diagnostics);
  }
  if (const auto overlap = fields.optional("overlap"))
    request.overlap = read_boolean(*overlap, diagnostics).value_or(false);
  if (const auto prefetch = fields.optional("prefetch"))
    request.prefetch =
        read_integer(*prefetch, "a number of iterations", {0, kMostPrefetched}, diagnostics)
            .value_or(0);
  if (const auto keep = fields.optional("keep_loops"))
    request.keep_loops = read_boolean(*keep, diagnostics).value_or(false);
  fields.finish();
  return request;
}

/// Reads an object such as {"x": 0, "y": null}.
std::vector<BatchAxis> read_batch_axes(DocumentNode node, Diagnostics& diagnostics) {
  std::vector<BatchAxis> axes;
  if (!is_object(node, "an object with a dimension or null for each name", diagnostics))
    return axes;
  for (const DocumentNode member : node) {
    BatchAxis axis{{member.key(), member.origin()}, std::nullopt};
    if (member.kind() != DocumentNode::Kind::Null)
      axis.dimension = read_integer(member, "a dimension or null",
                                    {0, std::numeric_limits<int64_t>::max()}, diagnostics);
    axes.push_back(std::move(axis));
  }
  return axes;
}

Transform read_batch(DocumentNode node, Diagnostics& diagnostics) {
  BatchRequest request;
  request.origin = node.origin();
  if (!is_object(node, "an object with \"size\", \"axis_name\", \"in_axes\", \"out_axes\"",
                 diagnostics))
    return request;
  Fields fields(node, diagnostics);
  if (const auto size = fields.optional("size"))
    request.size = read_integer(*size, "the size of the batch",
                                {1, std::numeric_limits<int64_t>::max()}, diagnostics);
  if (const auto axis = fields.optional("axis_name"))
    if (auto name = read_text(*axis, "an axis name", diagnostics)) {
      if (name->empty())
        diagnostics.add(axis->origin(), "expected an axis name that is not empty");
      request.axis_name = {std::move(*name), axis->origin()};
    }
  if (const auto axes = fields.optional("in_axes"))
    request.in_axes = read_batch_axes(*axes, diagnostics);
  if (const auto axes = fields.optional("out_axes"))
    request.out_axes = read_batch_axes(*axes, diagnostics);
  fields.finish();
  return request;
}

/// It goes back through the transforms, from the mesh and the arrays after all of them.
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

  /// Undoes one transform. Returns false after an error.
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

  /// Puts the axis back into the mesh. Arrays with the batch vary along it.
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

std::optional<std::vector<Transform>> read_transforms(DocumentNode node, Diagnostics& diagnostics) {
  const size_t before = diagnostics.size();
  std::vector<Transform> transforms;
  const auto read_one = [&](DocumentNode item) {
    constexpr const char* kOne = "an object with \"batch\", \"transpose\" or \"vjp\"";
    if (!is_object(item, kOne, diagnostics))
      return;
    using Reader = Transform (*)(DocumentNode, Diagnostics&);
    constexpr std::array<std::pair<const char*, Reader>, 3> kReaders = {
        {{"batch", read_batch}, {"transpose", read_transpose}, {"vjp", read_vjp}}};
    Fields fields(item, diagnostics);
    std::vector<std::pair<DocumentNode, Reader>> given;
    for (const auto& [key, reader] : kReaders)
      if (const auto transform = fields.optional(key))
        given.emplace_back(*transform, reader);
    fields.finish();
    if (given.size() == 1)
      transforms.push_back(given.front().second(given.front().first, diagnostics));
    else
      diagnostics.add(item.origin(),
                      fmt::format("expected {}, got {}", kOne, given.empty() ? "none" : "several"));
  };
  if (node.kind() == DocumentNode::Kind::List) {
    for (const DocumentNode item : node)
      read_one(item);
  } else {
    read_one(node);
  }
  return diagnostics.size() == before ? std::optional(std::move(transforms)) : std::nullopt;
}

std::map<std::string, Origin> brought_arrays(const std::vector<Transform>& transforms) {
  std::map<std::string, Origin> names;
  for (const Transform& transform : transforms)
    std::visit(Overloaded{[](const BatchRequest&) {},
                          [&](const auto& request) {
                            for (const NamedAt& of : request.of)
                              names.emplace("ct_" + of.name, of.origin);
                          }},
               transform);
  return names;
}

Program transformed(Program program, Checks checks, const std::vector<Transform>& transforms,
                    Diagnostics& diagnostics) {
  for (const Transform& transform : transforms) {
    program = std::visit(Overloaded{[&](const BatchRequest& request) {
                                      return batch(program, checks, request, diagnostics);
                                    },
                                    [&](const TransposeRequest& request) {
                                      return transpose(program, checks, request, diagnostics);
                                    },
                                    [&](const VjpRequest& request) {
                                      return vjp(program, checks, request, diagnostics);
                                    }},
                         transform);
    if (!diagnostics.empty())
      break;
  }
  return program;
}

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
