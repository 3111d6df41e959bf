#pragma once

// What times assume besides the figures that a cluster gives: the labels of a report.

#include <span>
#include <string>
#include <vector>

#include "models/fabric/fabric.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// The figures of collectives that the cluster lacks: "launch: 0 (not given)". `copies`: one of
/// them copies inside a device.
std::vector<std::string> missing_figures(const DeviceFigures& device,
                                         std::span<const Collective> collectives, bool copies);

/// The figures that were fitted to measurements or extended from others. Those that a maker states
/// or a tool reports need no label.
std::vector<std::string> fitted_figures(const Cluster& cluster);

}  // namespace orrery
