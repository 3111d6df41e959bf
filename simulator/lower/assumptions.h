#pragma once

// What times assume besides the figures that a cluster gives, and which collectives lie outside of
// what its transport was calibrated for: the labels of a report.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/fabric/transport.h"
#include "models/scenario/scenario.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// The figures of collectives that the cluster lacks: "launch: 0 (not given)". `copies`: one of
/// them copies inside a device at the device's rate.
std::vector<std::string> missing_figures(const DeviceFigures& device,
                                         std::span<const Collective> collectives, bool copies);

/// How the messages of collectives of several ranks are passed, by each protocol that one uses, and
/// which figures it lacks. None without such collectives.
std::vector<std::string> transport_labels(const std::optional<TransportFigures>& transport,
                                          std::span<const Collective> collectives);

/// The figures that were fitted to measurements, extended from others, or overridden by the command
/// line; those of one source together. Those that a maker states or a tool reports need no label.
std::vector<std::string> fitted_figures(const Cluster& cluster);

/// For each op, one label with the ranks and sizes of its collectives that lie outside:
/// "transport: extrapolated to psum of 16 ranks, 1 GiB (calibrated for 2 to 8 ranks, 96 B to 384
/// MiB)". None where the transport does not say what it was calibrated for.
std::vector<std::string> extrapolated_labels(const TransportFigures& transport,
                                             std::span<const Collective> collectives);

/// The larger of operand and result on a rank, as the collective moves them.
Bytes largest_tensor(const Collective& collective);

}  // namespace orrery
