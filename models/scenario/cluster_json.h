#pragma once

// A cluster is read from JSON, written, and read again with one figure set anew. The files of the
// catalog have the same form. Clusters by name, of many nodes or slices, are in named_cluster.cc.

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

/// This key states which switches reduce and multicast.
inline constexpr std::string_view kInSwitchReduction = "in_switch_reduction";

struct ClusterReading {
  Cluster cluster;
  bool from_catalog = false;
};

/// Reads "cluster": a catalog entry's name, {"catalog": its name, "nodes": 64, ...}, or a
/// description. Returns nothing if an error was added.
std::optional<ClusterReading> read_cluster(DocumentNode node, const Limits& limits,
                                           Diagnostics& diagnostics);

/// The figures of the NIC that each device has in a cluster of many nodes.
struct NicFigures {
  std::optional<int64_t> bandwidth;  // B/s
  std::optional<int64_t> latency;    // ps, to the first switch
  /// The figures that protocols have over the network, and further protocols. If the node has the
  /// protocol too, only those under "network" count.
  std::optional<TransportFigures> transport;
  std::vector<FigureSource> sources;  // of "bandwidth", "latency", "transport/.."
};

/// Says which dimensions of a slice of a TPU wrap.
enum class Slices : uint8_t {
  None,       // there are no slices
  Cubes,      // all wrap if each is a multiple of 4, since optical switches join cubes of 4x4x4
  WholeAxes,  // those that are as long as the pod's
};

/// A description is a cluster's object, or a file of the catalog. `nic` and `slices` count where a
/// name refers to it: they tell which larger clusters and which slices there are.
struct ClusterDescription {
  Cluster cluster;
  NicFigures nic;
  Slices slices = Slices::None;
};

/// Reads a description. The result is empty if an error was added. Requires an object.
std::optional<ClusterDescription> read_description(DocumentNode node, const Limits& limits,
                                                   Diagnostics& diagnostics);

/// Returns the catalog's cluster of that name: an entry, "h100-sxm-8", or a slice of a TPU,
/// "tpu-v5p 4x4x8". The result is empty if there is none.
std::optional<Cluster> catalog_cluster(std::string_view name);

/// Returns what is wrong with the slice in such a name. The result is empty if there is none, or if
/// the catalog has no such entry.
std::string slice_error(std::string_view name);

/// Returns the name of a cluster whose file gives it none: "ring of 8".
std::string default_cluster_name(std::string_view topology, int64_t devices);

/// Returns the cluster as an object. A topology by rule is stated by its word or its keys, and a
/// list of links as a list.
JsonText cluster_text(const Cluster& cluster);

/// Returns the number of a device or the name of a switch.
JsonText vertex_text(const Fabric& fabric, VertexId id);

struct FigureSetting {
  std::vector<std::string> place;  // keys in a cluster's file: {"flops", "bf16"}
  std::string value;               // "2 us"; a number for "slots", "channels" and "pieces"
  FigureSource source;             // in place of the figure's own; errors begin with its `figure`
};

/// Returns the cluster with its figure set and all else as before. The result is empty if an error
/// was added. Errors have no position, since the user has no text in which they stand. A bandwidth
/// or a latency can only be set if the topology is a word, or a list of equal links. Requires that
/// `place` names a figure that this cluster has or could have.
std::optional<Cluster> with_figure(const Cluster& cluster, const FigureSetting& setting,
                                   const Limits& limits, Diagnostics& diagnostics);

/// Ways in which a cluster may be better. Each leaves all other figures as they are.
enum class Improvement : uint8_t {
  FasterLinks,   // twice the bandwidth of links, and twice the transport's rates
  FasterFlops,   // twice the peak rates
  FasterMemory,  // twice that of the devices' memory, with the rates of copies and reductions
  NoLatency,     // of links and of the transport's protocols
  NoLaunch,      // of the devices and of the transport's protocols
  MoreMemory,    // a quarter more
};
inline constexpr Improvement kImprovements[] = {Improvement::FasterLinks,  Improvement::FasterFlops,
                                                Improvement::FasterMemory, Improvement::NoLatency,
                                                Improvement::NoLaunch,     Improvement::MoreMemory};

/// Returns the better cluster. The result is empty if a figure would exceed what is allowed.
std::optional<Cluster> improved(const Cluster& cluster, Improvement how, const Limits& limits);

}  // namespace orrery
