#include "models/scenario/devices_reader.h"

#include <set>

#include <fmt/format.h>

#include "models/scenario/fields.h"

namespace orrery {

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

}  // namespace orrery
