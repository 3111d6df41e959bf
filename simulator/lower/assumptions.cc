#include "simulator/lower/assumptions.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/program/rules.h"

namespace orrery {

std::vector<std::string> missing_figures(const DeviceFigures& device,
                                         std::span<const Collective> collectives, bool copies) {
  const bool reduces =
      std::any_of(collectives.begin(), collectives.end(), [](const Collective& collective) {
        return collective.members.size() > 1 &&
               rules(collective.kind).form.combine != Combine::None;
      });
  std::vector<std::string> labels;
  if (!device.launch)
    labels.emplace_back("launch: 0 (not given)");
  if (!device.reduce_rate && reduces)
    labels.emplace_back("reduce_rate: infinite (not given)");
  if (!device.copy_rate && copies)
    labels.emplace_back("copy_rate: infinite (not given)");
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
