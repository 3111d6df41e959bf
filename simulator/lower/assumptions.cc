#include "simulator/lower/assumptions.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/program/rules.h"
#include "models/scenario/quantity_text.h"

namespace orrery {

std::vector<std::string> missing_figures(const DeviceFigures& device,
                                         std::span<const Collective> collectives, bool copies) {
  const auto in_switch = [](const Collective& collective) {
    return collective.schedule->extent().switch_nodes > 0;
  };
  const bool reduces =
      std::any_of(collectives.begin(), collectives.end(), [&](const Collective& collective) {
        return collective.members.size() > 1 && !in_switch(collective) &&
               rules(collective.kind).form.combine != Combine::None;
      });
  std::vector<std::string> labels;
  if (!device.launch)
    labels.emplace_back("launch: 0 (not given)");
  if (!device.reduce_rate && reduces)
    labels.emplace_back("reduce_rate: infinite (not given)");
  if (!device.copy_rate && copies)
    labels.emplace_back("copy_rate: infinite (not given)");
  if (std::any_of(collectives.begin(), collectives.end(), in_switch))
    labels.emplace_back("in-switch reduction: as fast as the switch's links (not given)");
  return labels;
}

std::vector<std::string> transport_labels(const std::optional<TransportBuffers>& transport,
                                          std::span<const Collective> collectives) {
  if (std::none_of(collectives.begin(), collectives.end(),
                   [](const Collective& collective) { return collective.members.size() > 1; }))
    return {};
  if (!transport)
    return {"transport buffers: not counted (no memory.transport given)"};
  const DataShare share = data_share(transport->protocol);
  const std::string slot = quantity_text(transport->slot);
  std::vector<std::string> labels;
  if (share.data == share.wire) {
    labels.push_back(fmt::format("transport: {}, messages are cut to slots of {}",
                                 key_of(transport->protocol), slot));
  } else {
    labels.push_back(
        fmt::format("transport: {}, messages are cut to the {} of data in a slot of {}",
                    key_of(transport->protocol), size_text(transport->largest_message()),
                    size_text(transport->slot)));
    labels.push_back(
        fmt::format("transport: links carry data at {}/{} of their rate, the rest is flags ({}, "
                    "NCCL); its lower latency is not modelled",
                    share.data, share.wire, key_of(transport->protocol)));
  }
  labels.emplace_back(
      "transport: a message waits for slots of its own collective, not for those that others hold");
  return labels;
}

std::vector<std::string> fitted_figures(const Cluster& cluster) {
  std::vector<std::string> labels;
  for (const FigureSource& figure : cluster.sources)
    if (figure.label == "calibrated" || figure.label == "extrapolated")
      labels.push_back(
          fmt::format("{}: {} ({}, {})", figure.figure, figure.label, figure.source, figure.date));
  return labels;
}

}  // namespace orrery
