#include "simulator/analyze/traffic.h"

#include <optional>

#include "simulator/network/paths.h"

namespace orrery {

namespace {

/// Adds up what a channel sends to one receiver after the other, so that its way is looked up once
/// for each.
void add_channel(const Collective& collective, Node node, Channel channel, Paths& paths,
                 Traffic& traffic, uint64_t& messages) {
  const Schedule& schedule = *collective.schedule;
  std::optional<Node> to;
  int64_t elements = 0;
  const auto add = [&] {
    if (!to)
      return;
    const VertexId from = collective.places[node.index()];
    for (const LinkId link : paths.between(from, collective.places[to->index()]).links)
      traffic.links[link.index()] += itemsize(collective.work) * elements;
  };
  const uint32_t steps = schedule.steps(node, channel);
  for (uint32_t i = 0; i < steps; ++i) {
    const Step step = schedule.step({node, channel, i});
    if (!step.to)
      continue;
    ++messages;
    if (to != *step.to) {
      add();
      to = *step.to;
      elements = 0;
    }
    elements = checked_add(elements, step.count());
  }
  add();
}

}  // namespace

Traffic traffic(const Lowered& lowered, const Fabric& fabric) {
  Paths paths(fabric);
  Traffic result;
  result.links.resize(fabric.links().size());
  for (const Collective& collective : lowered.collectives) {
    uint64_t& messages = result.messages.emplace_back(0);
    const Extent& extent = collective.schedule->extent();
    for (uint32_t n = 0; n < extent.nodes; ++n)
      for (uint32_t c = 0; c < extent.channels; ++c)
        add_channel(collective, Node(n), Channel(c), paths, result, messages);
  }
  return result;
}

}  // namespace orrery
