#include "models/scenario/in_switch_reader.h"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "models/scenario/fields.h"

namespace orrery {
namespace {

VertexId switch_at(const Fabric& fabric, size_t index) {
  return VertexId(fabric.devices() + index);
}

std::vector<VertexId> all_switches(DocumentNode node, const Fabric& fabric,
                                   Diagnostics& diagnostics) {
  if (fabric.switches().empty())
    diagnostics.add(node.key_origin(), fmt::format("\"{}\" belongs to a cluster that has switches",
                                                   kInSwitchReduction));
  std::vector<VertexId> all;
  for (size_t s = 0; s < fabric.switches().size(); ++s)
    all.push_back(switch_at(fabric, s));
  return all;
}

std::vector<VertexId> named_switches(DocumentNode list, const Fabric& fabric,
                                     Diagnostics& diagnostics) {
  const std::vector<std::string_view> names(fabric.switches().begin(), fabric.switches().end());
  std::vector<VertexId> named;
  for (const DocumentNode item : list) {
    const std::optional<std::string> name = read_text(item, "a switch's name", diagnostics);
    if (!name)
      continue;
    const auto found = std::find(names.begin(), names.end(), *name);
    if (found == names.end()) {
      diagnostics.add(item.origin(), fmt::format("expected a switch of the cluster, got {}{}",
                                                 in_quotes(*name), did_you_mean(*name, names)));
      continue;
    }
    const VertexId id = switch_at(fabric, static_cast<size_t>(found - names.begin()));
    if (std::find(named.begin(), named.end(), id) != named.end())
      diagnostics.add(item.origin(), fmt::format("switch {} is named twice", in_quotes(*name)));
    else
      named.push_back(id);
  }
  return named;
}

}  // namespace

std::vector<VertexId> read_reducing_switches(DocumentNode node, const Fabric* fabric,
                                             FigureReader& figures, Diagnostics& diagnostics) {
  const std::optional<DocumentNode> value = figures.value(node, std::string(kInSwitchReduction));
  if (!value)
    return {};
  const DocumentNode::Kind kind = value->kind();
  if (kind != DocumentNode::Kind::List && kind != DocumentNode::Kind::Boolean) {
    expected(*value, "true, false or a list of switch names", diagnostics);
    return {};
  }
  if (fabric == nullptr)
    return {};
  if (kind == DocumentNode::Kind::List)
    return named_switches(*value, *fabric, diagnostics);
  return value->boolean() ? all_switches(node, *fabric, diagnostics) : std::vector<VertexId>();
}

}  // namespace orrery
