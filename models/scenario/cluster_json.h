#pragma once

// A cluster as JSON: read, written, and read again with one figure set anew. The catalog's own
// files have the same form.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/fabric/fabric.h"
#include "models/scenario/document.h"
#include "models/scenario/json_text.h"
#include "models/scenario/size_limits.h"

namespace orrery {

/// The key for the switches that reduce and multicast.
inline constexpr std::string_view kInSwitchReduction = "in_switch_reduction";

struct ClusterReading {
  Cluster cluster;
  bool from_catalog = false;
};

/// Reads "cluster": the name of a catalog entry, or an object. Empty if an error was added.
std::optional<ClusterReading> read_cluster(DocumentNode node, const Limits& limits,
                                           Diagnostics& diagnostics);

/// The catalog's cluster of that name; empty if it has none.
std::optional<Cluster> catalog_cluster(std::string_view name);

/// The name of a cluster whose file gives it none: "ring of 8".
std::string default_cluster_name(std::string_view topology, int64_t devices);

/// The cluster as an object: the topology by its name if the fabric is that one, else a list of
/// links.
JsonText cluster_text(const Cluster& cluster);

/// A device by its number, a switch by its name.
JsonText vertex_text(const Fabric& fabric, VertexId id);

struct FigureSetting {
  std::vector<std::string> place;  // keys in a cluster's file: {"flops", "bf16"}
  std::string value;               // "2 us"; a number for "slots", "channels" and "pieces"
  FigureSource source;             // in place of the figure's own; errors begin with its `figure`
};

/// The cluster with its figure set, all else as before; empty if an error was added. Errors have
/// no position, since there is no text that the user knows. Links have to be equal for their
/// bandwidth and latency. Requires that `place` names a figure of this cluster, or one that it
/// could have.
std::optional<Cluster> with_figure(const Cluster& cluster, const FigureSetting& setting,
                                   const Limits& limits, Diagnostics& diagnostics);

}  // namespace orrery
