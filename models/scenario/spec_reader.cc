#include "models/scenario/spec_reader.h"

#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/scenario/fields.h"

namespace orrery {

namespace {

void read_axis(DocumentNode node, const Mesh* mesh, std::vector<std::string>& axes,
               std::set<std::string>& used, Diagnostics& diagnostics) {
  const std::optional<std::string> axis = read_text(node, "an axis name", diagnostics);
  if (!axis || mesh == nullptr)
    return;
  if (!mesh->axis(*axis)) {
    std::string list;
    for (const Axis& known : mesh->axes())
      list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", known.name);
    diagnostics.add(node.origin(), fmt::format("the mesh has no axis {}{}", in_quotes(*axis),
                                               list.empty() ? "" : "; it has " + list));
    return;
  }
  if (!used.insert(*axis).second) {
    diagnostics.add(node.origin(),
                    fmt::format("axis {} already cuts this array", in_quotes(*axis)));
    return;
  }
  axes.push_back(*axis);
}

}  // namespace

bool fits_rank(DocumentNode node, const Shape& shape, Diagnostics& diagnostics) {
  if (node.kind() != DocumentNode::Kind::List || node.size() <= shape.rank())
    return true;
  diagnostics.add(node.origin(),
                  fmt::format("expected at most one entry per dimension of {}, got {}",
                              shape.text(), node.size()));
  return false;
}

PartitionSpec read_spec(
    DocumentNode node, const Mesh* mesh, Diagnostics& diagnostics,
    FunctionRef<void(DocumentNode entry, size_t dimension, const std::vector<std::string>& axes)>
        visit) {
  PartitionSpec spec;
  if (!is_list(node, "a list with null, an axis name or a list of them per dimension", diagnostics))
    return spec;
  std::set<std::string> used;
  for (const DocumentNode entry : node) {
    std::vector<std::string> axes;
    if (entry.kind() == DocumentNode::Kind::Text) {
      read_axis(entry, mesh, axes, used, diagnostics);
    } else if (entry.kind() == DocumentNode::Kind::List) {
      for (const DocumentNode axis : entry)
        read_axis(axis, mesh, axes, used, diagnostics);
    } else if (entry.kind() != DocumentNode::Kind::Null) {
      expected(entry, "null, an axis name or a list of them", diagnostics);
    }
    visit(entry, spec.dims.size(), axes);
    spec.dims.push_back(std::move(axes));
  }
  // Trailing dimensions that are not cut say nothing.
  while (!spec.dims.empty() && spec.dims.back().empty())
    spec.dims.pop_back();
  return spec;
}

}  // namespace orrery
