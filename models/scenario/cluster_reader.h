#pragma once

// Reads a scenario's "cluster": the name of a catalog entry, or devices, topology and figures. The
// catalog's own files have the same form.

#include <optional>
#include <string_view>

#include "models/base/diagnostics.h"
#include "models/fabric/fabric.h"
#include "models/scenario/document.h"
#include "models/scenario/size_limits.h"

namespace orrery {

struct ClusterReading {
  Cluster cluster;
  bool from_catalog = false;
};

/// Empty where an error was added.
std::optional<ClusterReading> read_cluster(DocumentNode node, const Limits& limits,
                                           Diagnostics& diagnostics);

/// The catalog's cluster of that name; empty where it has none.
std::optional<Cluster> catalog_cluster(std::string_view name);

/// How a cluster that its file does not name is called: "ring of 8".
std::string default_cluster_name(std::string_view topology, int64_t devices);

}  // namespace orrery
