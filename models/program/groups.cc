#include "models/program/groups.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/diagnostics.h"

namespace orrery {

std::string unknown_axis(const Mesh& mesh, std::string_view name) {
  std::vector<std::string_view> axes;
  for (const Axis& axis : mesh.axes())
    axes.push_back(axis.name);
  return fmt::format("expected an axis of the mesh ({}), got \"{}\"{}", fmt::join(axes, ", "), name,
                     did_you_mean(name, axes));
}

std::optional<std::string> axes_error(const Mesh& mesh, std::span<const std::string> names) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (!mesh.axis(names[i]))
      return unknown_axis(mesh, names[i]);
    const auto before = names.first(i);
    if (std::find(before.begin(), before.end(), names[i]) != before.end())
      return fmt::format("expected each axis once, got \"{}\" twice", names[i]);
  }
  return std::nullopt;
}

namespace {

std::optional<std::string> split_error(const std::vector<std::vector<int64_t>>& lists, int64_t size,
                                       GroupSizes sizes) {
  std::vector<bool> named(static_cast<size_t>(size), false);
  int64_t total = 0;
  for (const std::vector<int64_t>& ranks : lists) {
    if (ranks.empty())
      return "expected groups of at least one rank, got an empty one";
    if (sizes == GroupSizes::Equal && ranks.size() != lists[0].size())
      return fmt::format("expected groups of one size, got {} and {}", lists[0].size(),
                         ranks.size());
    for (const int64_t rank : ranks) {
      if (rank < 0 || rank >= size)
        return fmt::format("expected ranks from 0 to {}, got {}", size - 1, rank);
      if (named[static_cast<size_t>(rank)])
        return fmt::format("expected each rank in one group, got rank {} twice", rank);
      named[static_cast<size_t>(rank)] = true;
      ++total;
    }
  }
  if (total < size)
    return fmt::format("expected each of the {} ranks in a group, got none with rank {}", size,
                       std::find(named.begin(), named.end(), false) - named.begin());
  return std::nullopt;
}

}  // namespace

std::optional<TypeError> groups_error(const Mesh& mesh, const Attributes& attributes,
                                      GroupSizes sizes) {
  if (!attributes.has("axis_index_groups"))
    return std::nullopt;
  const std::vector<size_t> axes = axis_positions(mesh, attributes.names("axis_name"));
  const auto error = split_error(attributes.lists("axis_index_groups"), mesh.size(axes), sizes);
  return error ? std::optional(TypeError{"axis_index_groups", *error}) : std::nullopt;
}

int64_t group_size(const Mesh& mesh, const Attributes& attributes) {
  if (attributes.has("axis_index_groups"))
    return static_cast<int64_t>(attributes.lists("axis_index_groups").front().size());
  return mesh.size(axis_positions(mesh, attributes.names("axis_name")));
}

std::vector<Group> replica_groups(const Mesh& mesh, const Attributes& attributes,
                                  std::span<const LogicalId> devices) {
  std::span<const std::vector<int64_t>> lists;
  if (attributes.has("axis_index_groups"))
    lists = attributes.lists("axis_index_groups");
  return groups_of(mesh, axis_positions(mesh, attributes.names("axis_name")), lists, devices);
}

}  // namespace orrery
