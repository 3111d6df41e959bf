#include "models/mesh/partition_spec.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/check.h"
#include "models/base/diagnostics.h"

namespace orrery {

std::string_view name(ShardingStage stage) {
  constexpr std::string_view kNames[] = {"mesh", "spec", "sharding", "shape", "map", "hlo"};
  return kNames[static_cast<size_t>(stage)];
}

namespace {

/// Returns ", unreduced={'x', 'y'}", or "" for an empty set.
std::string set_text(std::string_view set, const std::set<std::string>& axes) {
  std::string text;
  for (const std::string& axis : axes)
    text += (text.empty() ? "" : ", ") + python_text(axis);
  return axes.empty() ? "" : fmt::format(", {}={{{}}}", set, text);
}

std::string entry_text(const PartitionSpec& spec, size_t dimension) {
  if (spec.unconstrained.contains(dimension))
    return "UNCONSTRAINED";
  const std::vector<std::string>& axes = spec.dims[dimension];
  if (axes.empty())
    return "None";
  return axes.size() == 1 ? python_text(axes[0]) : python_tuple(axes);
}

}  // namespace

std::string python_text(std::string_view name) {
  const bool has_single = name.find('\'') != std::string_view::npos;
  const bool has_double = name.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string text(1, quote);
  for (const char c : name) {
    if (c == quote || c == '\\')
      text += '\\';
    text += c;
  }
  return text + quote;
}

namespace {

std::string tuple_text(std::span<const std::string> items) {
  return fmt::format("({}{})", fmt::join(items, ", "), items.size() == 1 ? "," : "");
}

}  // namespace

std::string python_tuple(std::span<const std::string> names) {
  std::vector<std::string> items;
  for (const std::string& name : names)
    items.push_back(python_text(name));
  return tuple_text(items);
}

std::string python_tuple(std::span<const LogicalId> ids) {
  std::vector<std::string> items;
  for (const LogicalId id : ids)
    items.push_back(std::to_string(id.index()));
  return tuple_text(items);
}

std::string PartitionSpec::text() const {
  std::string entries;
  for (size_t d = 0; d < dims.size(); ++d)
    entries += (d > 0 ? ", " : "") + entry_text(*this, d);
  std::string sets = set_text("unreduced", unreduced) + set_text("reduced", reduced);
  if (entries.empty() && !sets.empty())
    sets.erase(0, 2);
  // Python writes a tuple of one with a comma.
  return fmt::format("P({}{}{})", entries, dims.size() == 1 && sets.empty() ? "," : "", sets);
}

PartitionSpec PartitionSpec::cotangent() const {
  PartitionSpec other = *this;
  std::swap(other.unreduced, other.reduced);
  return other;
}

void check_places(const PartitionSpec& spec) {
  std::set<std::string> used = spec.unreduced;
  std::set<std::string> entries;
  for (const std::vector<std::string>& axes : spec.dims)
    entries.insert(axes.begin(), axes.end());
  for (const std::set<std::string>& others : {spec.reduced, entries})
    for (const std::string& axis : others)
      if (const auto error = places_error(axis, used))
        throw ShardingError(ShardingStage::Spec, fmt::format("{}: {}", spec.text(), *error));
}

std::vector<std::pair<std::string, size_t>> array_mapping(const PartitionSpec& spec) {
  std::vector<std::pair<std::string, size_t>> mapping;
  for (size_t d = 0; d < spec.dims.size(); ++d)
    for (const std::string& axis : spec.dims[d])
      mapping.emplace_back(axis, d);
  return mapping;
}

PartitionSpec spec_of(std::span<const std::pair<std::string, size_t>> mapping) {
  PartitionSpec spec;
  for (const auto& [axis, dimension] : mapping) {
    spec.dims.resize(std::max(spec.dims.size(), dimension + 1));
    spec.dims[dimension].push_back(axis);
  }
  return spec;
}

namespace {

/// Returns "\"x\", \"y\"".
std::string quoted(std::span<const std::string> axes) {
  std::string text;
  for (const std::string& axis : axes)
    text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", axis);
  return text;
}

/// Returns whether the mesh has all axes, and their parts divide the extent.
bool fits(const Mesh& mesh, const std::vector<std::string>& axes, int64_t extent) {
  int64_t parts = 1;
  for (const std::string& name : axes) {
    const std::optional<size_t> axis = mesh.axis(name);
    if (!axis)
      return false;
    // More parts than 63 bits count divide no other extent than 0. An axis may be there twice.
    if (__builtin_mul_overflow(parts, mesh.axes()[*axis].size, &parts))
      return extent == 0;
  }
  return extent % parts == 0;
}

}  // namespace

PartitionSpec corrected(const PartitionSpec& spec, const Shape& shape, const Mesh& mesh) {
  PartitionSpec result;
  result.dims.resize(spec.dims.empty() ? 0 : shape.rank());
  bool cuts = false;
  for (size_t d = 0; d < std::min(spec.dims.size(), result.dims.size()); ++d) {
    if (!fits(mesh, spec.dims[d], shape[d]))
      continue;
    result.dims[d] = spec.dims[d];
    cuts = cuts || !spec.dims[d].empty();
  }
  return cuts ? result : PartitionSpec();
}

std::vector<std::string> corrections(const PartitionSpec& spec, const Shape& shape,
                                     const Mesh& mesh) {
  std::vector<std::string> sentences;
  for (size_t d = 0; d < spec.dims.size(); ++d) {
    const std::vector<std::string>& axes = spec.dims[d];
    if (axes.empty() || (d < shape.rank() && fits(mesh, axes, shape[d])))
      continue;
    std::string why;
    for (size_t i = 0; i < axes.size() && why.empty(); ++i)
      why = missing_axis_error(mesh, axes[i]).value_or("");
    if (d >= shape.rank())
      why = fmt::format("the array has rank {}", shape.rank());
    else if (why.empty())
      why = fmt::format("{} is not divisible by the size of {}", shape[d], quoted(axes));
    sentences.push_back(fmt::format("dimension {} is not cut, since {}", d, why));
  }
  return sentences;
}

std::optional<std::string> missing_axis_error(const Mesh& mesh, std::string_view axis) {
  if (mesh.axis(axis))
    return std::nullopt;
  std::string list;
  for (const Axis& known : mesh.axes())
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", known.name);
  return fmt::format("the mesh has no axis {}{}", in_quotes(axis),
                     list.empty() ? "" : "; it has " + list);
}

std::optional<std::string> repeated_axis_error(std::string_view axis, std::set<std::string>& used) {
  if (used.emplace(axis).second)
    return std::nullopt;
  return fmt::format("axis {} already cuts this array", in_quotes(axis));
}

std::optional<std::string> places_error(std::string_view axis, std::set<std::string>& used) {
  if (used.emplace(axis).second)
    return std::nullopt;
  return fmt::format("expected each axis in one place of the array's spec and states, got {} again",
                     in_quotes(axis));
}

std::optional<std::string> rank_error(size_t entries, size_t rank, std::string_view array) {
  if (entries <= rank)
    return std::nullopt;
  return fmt::format("expected at most one entry per dimension of {}, got {}", array, entries);
}

std::optional<std::string> divisible_error(const Mesh& mesh, std::span<const std::string> axes,
                                           size_t dimension, int64_t extent) {
  const int64_t parts = mesh.size(axis_positions(mesh, axes));
  if (extent % parts == 0)
    return std::nullopt;
  return fmt::format("expected dimension {} of extent {} to be divisible by {}, the size of {}",
                     dimension, extent, parts, quoted(axes));
}

Shape local_shape(const Mesh& mesh, const PartitionSpec& spec, const Shape& global) {
  ORRERY_CHECK(spec.dims.size() <= global.rank(),
               "a partition spec is no longer than its array's rank");
  std::vector<int64_t> dims(global.dims().begin(), global.dims().end());
  for (size_t d = 0; d < spec.dims.size(); ++d) {
    const int64_t parts = mesh.size(axis_positions(mesh, spec.dims[d]));
    ORRERY_CHECK(dims[d] % parts == 0, "a cut dimension is divisible by its parts");
    dims[d] /= parts;
  }
  return Shape(std::move(dims));
}

Shape global_shape(const Mesh& mesh, const PartitionSpec& spec, const Shape& local) {
  std::vector<int64_t> dims(local.dims().begin(), local.dims().end());
  for (size_t d = 0; d < spec.dims.size(); ++d)
    dims[d] = checked_multiply(dims[d], mesh.size(axis_positions(mesh, spec.dims[d])));
  return Shape(std::move(dims));
}

std::vector<int64_t> local_start(const Mesh& mesh, const PartitionSpec& spec, const Shape& global,
                                 LogicalId id) {
  const Shape local = local_shape(mesh, spec, global);
  std::vector<int64_t> start(global.rank(), 0);
  for (size_t d = 0; d < spec.dims.size(); ++d)
    start[d] = mesh.index(id, axis_positions(mesh, spec.dims[d])) * local[d];
  return start;
}

}  // namespace orrery
