#pragma once

// What times assume besides the figures that a cluster gives: the labels of a report.

#include <string>
#include <vector>

#include "models/fabric/fabric.h"

namespace orrery {

/// What a program's collectives do inside a device.
struct InsideDevices {
  bool reduces = false;
  bool copies = false;
};

/// The figures of a collective that the cluster lacks: "launch: 0 (not given)".
std::vector<std::string> missing_figures(const DeviceFigures& device, const InsideDevices& work);

/// The figures that were fitted to measurements or extended from others. Those that a maker states
/// or a tool reports need no label.
std::vector<std::string> fitted_figures(const Cluster& cluster);

}  // namespace orrery
