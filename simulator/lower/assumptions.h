#pragma once

// This makes the labels of a report: what times assume besides the figures that a cluster gives,
// and which collectives lie outside of the range for which its transport was calibrated.

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/fabric/transport.h"
#include "models/scenario/scenario.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// Returns the figures of collectives that the cluster lacks: "launch: 0 (not given)". `copies` is
/// true if some collective copies inside a device at the device's rate.
std::vector<std::string> missing_figures(const DeviceFigures& device,
                                         std::span<const Collective> collectives, bool copies);

/// Returns how the messages of collectives of several ranks are passed, by each protocol that one
/// uses, and which figures the protocol lacks. There are no labels without such collectives.
std::vector<std::string> transport_labels(const std::optional<TransportFigures>& transport,
                                          std::span<const Collective> collectives);

/// Returns the figures that were fitted to measurements, extended from others, or overridden by the
/// command line. Figures of one source are in one label. A figure that a maker states or a tool
/// reports needs no label, nor does an efficiency that no op of the program depends on.
std::vector<std::string> fitted_figures(const Cluster& cluster, const Program& program);

/// Returns the figures by which connections of these kinds take memory, by label and source as
/// above. Those that the policy replaces are left out.
std::vector<std::string> connection_labels(const Cluster& cluster, const MemoryPolicy& policy,
                                           const std::set<ConnectionKind>& kinds);

/// Returns one label for each op with the ranks and sizes of its collectives that lie outside:
/// "transport: extrapolated to psum of 16 ranks, 1 GiB (calibrated for 2 to 8 ranks, 96 B to 384
/// MiB)". There are none if the transport does not say what it was calibrated for.
std::vector<std::string> extrapolated_labels(const TransportFigures& transport,
                                             std::span<const Collective> collectives);

/// Returns what is assumed of collectives over several nodes that are carried out by "ring", if
/// there are any: "nodes: psum by ring: one ring in rank order, so 1 of the 8 NICs of each node".
/// `choices` are those of the sites. A NIC is a link between a device and the fabric that is as
/// slow as the slowest such link, and a node is what faster links join. A ring gets no label if its
/// channels have orders of their own (Layout), or if its every rank sends to another node.
std::optional<std::string> nodes_label(const Fabric& fabric,
                                       std::span<const Collective> collectives,
                                       std::span<const Choice> choices);

/// Returns the larger of operand and result on a rank, as the collective moves them.
Bytes largest_tensor(const Collective& collective);

}  // namespace orrery
