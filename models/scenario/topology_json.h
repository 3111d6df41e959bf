#pragma once

// The topologies by rule as JSON: {"fat_tree": {...}, "ways": "hashed"}, {"nodes": 64, ...}.
// docs/scenario.md, "Topologies", has their keys. Lists of links are read by the cluster's reader,
// since their switches and figures stand in the cluster.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/callable.h"
#include "models/base/diagnostics.h"
#include "models/fabric/fabric.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"
#include "models/scenario/figure_reader.h"
#include "models/scenario/json_text.h"
#include "models/scenario/size_limits.h"

namespace orrery {

/// The bandwidths that a link may have.
inline constexpr QuantityRange kBandwidths = {.least = 1, .most = kMostBandwidth};

/// Figures of links, which a topology's own figures replace, and what their sources call them.
struct GivenLinkFigures {
  std::optional<int64_t> bandwidth;  // B/s
  std::optional<int64_t> latency;    // ps
  std::string bandwidth_called = "bandwidth";
  std::string latency_called = "latency";
};

/// Reads "ways" and "seed" of a topology's object. If `spread` is null, messages cannot be spread;
/// otherwise it is set to the word that asks for it.
Ways read_ways(Fields& fields, std::optional<DocumentNode>* spread, Diagnostics& diagnostics);

/// Reads a topology by rule. The result is empty if an error was added. Requires an object.
std::optional<Fabric> read_topology(DocumentNode node, const GivenLinkFigures& figures,
                                    FigureReader& reader, const Limits& limits,
                                    Diagnostics& diagnostics);

/// Returns a topology by rule as an object that states the figures of all its links, and its name.
/// `figure` puts a figure's source beside it.
JsonText topology_text(
    const Fabric& fabric,
    FunctionRef<JsonText(const std::string& called, const std::string& value)> figure);
std::string_view topology_name(const Topology& topology);

/// Returns whether a word alone names the topology, beside the figures of its links: "ring".
bool has_word(const Topology& topology);

/// Returns the switches in the nodes of the topology "nodes", and none of another one.
std::vector<VertexId> switches_inside(const Fabric& fabric);

}  // namespace orrery
