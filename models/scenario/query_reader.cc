#include "models/scenario/query_reader.h"

#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "models/program/value.h"

namespace orrery {

namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

/// Keeps the first error.
void refuse(std::optional<std::string>& kept, std::string message) {
  if (!kept)
    kept = std::move(message);
}

void read_axes(DocumentNode node, QueryMesh& mesh, Diagnostics& diagnostics) {
  if (!is_list(node, "a list of axes such as [\"x\", 4]", diagnostics))
    return;
  if (node.size() > static_cast<size_t>(kMostMeshAxes))
    diagnostics.add(node.origin(),
                    fmt::format("expected at most {} axes, got {}", kMostMeshAxes, node.size()));
  for (const DocumentNode axis : node) {
    if (axis.kind() != DocumentNode::Kind::List || axis.size() != 2) {
      expected(axis, "an axis such as [\"x\", 4]", diagnostics);
      continue;
    }
    const DocumentNode name = *axis.first();
    const auto size = read_integer(*name.next(), "an axis size", {kLeast, kMost}, diagnostics);
    if (name.kind() == DocumentNode::Kind::Null)
      refuse(mesh.error, fmt::format("expected a name for axis {}, got null", mesh.axes.size()));
    else if (name.kind() != DocumentNode::Kind::Text)
      expected(name, "an axis name", diagnostics);
    mesh.axes.push_back(
        {name.kind() == DocumentNode::Kind::Text ? name.text() : "", size.value_or(1)});
  }
}

void read_types(DocumentNode node, QueryMesh& mesh, Diagnostics& diagnostics) {
  if (!is_list(node, "a list of axis types", diagnostics))
    return;
  mesh.types.emplace();
  for (const DocumentNode item : node) {
    const auto word = read_text(item, "an axis type", diagnostics);
    const auto type = word == "auto"       ? AxisType::Auto
                      : word == "explicit" ? AxisType::Explicit
                                           : AxisType::Manual;
    mesh.types->push_back(type);
    if (word && type == AxisType::Manual && word != "manual")
      refuse(mesh.error,
             fmt::format("expected the type auto, explicit or manual for axis {}, got {}",
                         mesh.types->size() - 1, in_quotes(*word)));
  }
}

/// Reads an item of the list that is the entry of a dimension.
void read_entry_axis(DocumentNode axis, size_t dimension, QuerySpec& query,
                     Diagnostics& diagnostics) {
  if (axis.kind() == DocumentNode::Kind::Text)
    query.spec.dims[dimension].push_back(axis.text());
  else if (axis.kind() == DocumentNode::Kind::List)
    refuse(query.spec_error,
           fmt::format("dimension {}: expected axis names in the list, got a list", dimension));
  else if (axis.kind() == DocumentNode::Kind::Null)
    refuse(query.sharding_error,
           fmt::format("dimension {}: expected axes of the mesh in the list, got null", dimension));
  else
    expected(axis, "an axis name", diagnostics);
}

}  // namespace

DeviceMesh QueryMesh::made(const Limits& limits) const {
  if (error)
    throw ShardingError(ShardingStage::Mesh, *error);
  DeviceMesh mesh(axes, types, devices);
  if (mesh.axes().devices() > limits.devices)
    throw ShardingError(ShardingStage::Mesh,
                        beyond(limits, &Limits::devices, int64_t{mesh.axes().devices()}));
  return mesh;
}

void QuerySpec::check() const {
  if (spec_error)
    throw ShardingError(ShardingStage::Spec, *spec_error);
  check_places(spec);
  if (sharding_error)
    throw ShardingError(ShardingStage::Sharding, *sharding_error);
}

QueryMesh read_query_mesh(Fields& fields, Diagnostics& diagnostics) {
  QueryMesh mesh;
  if (const auto node = fields.required("mesh"))
    read_axes(*node, mesh, diagnostics);
  if (const auto node = fields.optional("device_order"))
    if (auto order = read_integers(*node, "a device", {kLeast, kMost}, diagnostics))
      mesh.devices.order = std::move(*order);
  if (const auto node = fields.optional("axis_types"))
    read_types(*node, mesh, diagnostics);
  return mesh;
}

QuerySpec read_query_spec(DocumentNode node, std::string_view what, Diagnostics& diagnostics) {
  QuerySpec query;
  if (!is_list(node, what, diagnostics))
    return query;
  const auto is_open = [](DocumentNode item) {
    return item.kind() == DocumentNode::Kind::Text && item.text() == "UNCONSTRAINED";
  };
  for (const DocumentNode entry : node) {
    const size_t dimension = query.spec.dims.size();
    query.spec.dims.emplace_back();
    // A list of one is its item.
    const bool alone = entry.kind() == DocumentNode::Kind::List && entry.size() == 1;
    if (is_open(alone ? *entry.first() : entry)) {
      query.spec.unconstrained.insert(dimension);
    } else if (entry.kind() == DocumentNode::Kind::List) {
      if (alone && entry.first()->kind() == DocumentNode::Kind::Null)
        continue;
      for (const DocumentNode axis : entry)
        read_entry_axis(axis, dimension, query, diagnostics);
    } else if (entry.kind() == DocumentNode::Kind::Text) {
      if (!entry.text().empty())
        query.spec.dims[dimension].push_back(entry.text());
    } else if (entry.kind() != DocumentNode::Kind::Null) {
      expected(entry, "null, an axis name or a list of them", diagnostics);
    }
  }
  return query;
}

std::optional<DocumentNode> read_query_set(Fields& fields, std::string_view key, QuerySpec& spec,
                                           Diagnostics& diagnostics) {
  const auto node = fields.optional(key);
  if (!node || !is_list(*node, "a list of axis names", diagnostics))
    return node;
  std::set<std::string>& set = key == "reduced" ? spec.spec.reduced : spec.spec.unreduced;
  for (const DocumentNode axis : *node) {
    if (axis.kind() == DocumentNode::Kind::Null)
      refuse(spec.spec_error, fmt::format("{}: expected axis names, got null", key));
    else if (const auto name = read_text(axis, "an axis name", diagnostics))
      set.insert(*name);
  }
  return node;
}

std::optional<Shape> read_query_shape(DocumentNode node, Diagnostics& diagnostics) {
  auto dims = read_integers(node, "an extent", {0, kMost}, diagnostics);
  if (dims && dims->size() > kMostDimensions) {
    diagnostics.add(node.origin(), fmt::format("expected at most {} dimensions, got {}",
                                               kMostDimensions, dims->size()));
    return std::nullopt;
  }
  return dims ? std::optional(Shape(std::move(*dims))) : std::nullopt;
}

std::string text_json(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string integers_json(std::span<const int64_t> numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

std::string names_json(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "" : ", ") + text_json(name);
  return "[" + text + "]";
}

std::string spec_json(const PartitionSpec& spec) {
  std::string text;
  for (const std::vector<std::string>& axes : spec.dims)
    text += (text.empty() ? "" : ", ") + (axes.empty()       ? "null"
                                          : axes.size() == 1 ? text_json(axes[0])
                                                             : names_json(axes));
  return "[" + text + "]";
}

void AnswerLine::add(std::string_view key, std::string_view json) {
  text_ += fmt::format("{}\"{}\": {}", text_.size() > 1 ? ", " : "", key, json);
}

namespace {

/// Returns the first error of the line, with its place.
std::string message_of(const InputError& error) {
  const Diagnostic& first = error.diagnostics().front();
  std::string place = first.origin.at ? fmt::format("column {}: ", first.origin.at->column) : "";
  if (!first.origin.pointer.empty())
    place += first.origin.pointer + ": ";
  return place + first.message;
}

}  // namespace

QueryAnswer answered(
    std::string_view line, const Limits& limits,
    FunctionRef<void(DocumentNode root, Diagnostics& diagnostics, AnswerLine& answer)> answer,
    FunctionRef<std::string(std::string_view stage, std::string_view message)> error_json) {
  AnswerLine made;
  try {
    Diagnostics diagnostics("");
    const Document document(line, diagnostics, limits, ControlCharacters::Refused, TextIs::Line);
    if (const auto root = document.root()) {
      if (is_object(*root, "a query, an object", diagnostics))
        answer(*root, diagnostics, made);
    }
    diagnostics.throw_if_any();
  } catch (const InputError& error) {
    AnswerLine refused;
    refused.add("error", error_json("query", message_of(error)));
    return {std::move(refused).finished(), false};
  } catch (const ShardingError& error) {
    made.add("error", error_json(name(error.stage()), error.what()));
  }
  return {std::move(made).finished(), true};
}

}  // namespace orrery
