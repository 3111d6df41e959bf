#pragma once

// A fabric is the hardware: devices and switches joined by directed links.
//
// A Cluster is a Fabric, a set of figures that all its devices share, and a transport, which says
// how a communication library passes messages over the fabric (transport.h). A figure that nobody
// gave is absent. It has no default here: the code that needs it says in the report what was
// assumed. Each figure may have a FigureSource, so that a report can tell a data sheet's number
// from a fitted one. The usual fabrics are built by topologies.cc. catalog/ has files of real
// machines, which are built into the binary; models/scenario/cluster_json.h reads them. Routes,
// demand and shares of bandwidth are no part of this folder: they are in simulator/network.

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/array/dtype.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/fabric/topology.h"
#include "models/fabric/transport.h"
#include "models/program/core_types.h"

namespace orrery {

/// Says which of several equal ways a message takes: that of its destination's number, or that of
/// a hash of its ends and its channel.
struct Ways {
  bool hashed = false;
  uint64_t seed = 0;  // of the hash
  friend bool operator==(const Ways&, const Ways&) = default;
};

/// In a Fabric the devices are vertices 0..devices-1, and the switches follow. Its topology says
/// how they are joined. A Fabric is immutable, and copies share what they hold.
class Fabric {
 public:
  /// Makes a fabric of a list of links, in which no switch reduces. Requires that every link joins
  /// two different vertices of the fabric.
  Fabric(uint32_t devices, std::vector<std::string> switches, std::vector<Link> links,
         Ways ways = {});
  explicit Fabric(std::shared_ptr<const Topology> topology, Ways ways = {});

  const Topology& topology() const { return *topology_; }
  const std::shared_ptr<const Topology>& shared_topology() const { return topology_; }
  const Ways& ways() const { return ways_; }

  uint32_t devices() const { return topology_->devices(); }
  uint32_t switches() const { return topology_->switches(); }
  uint32_t vertices() const { return devices() + switches(); }
  bool is_device(VertexId id) const { return id.index() < devices(); }
  /// Requires a switch.
  std::string switch_name(VertexId id) const {
    return topology_->switch_name(id.index() - devices());
  }
  std::vector<std::string> switch_names() const;

  uint32_t count_links() const { return topology_->links(); }
  Link link(LinkId id) const { return changed_ ? (*changed_)[id.index()] : topology_->link(id); }
  LinkFigures figures(LinkId id) const {
    if (!changed_)
      return topology_->figures(id);
    return {(*changed_)[id.index()].bandwidth, (*changed_)[id.index()].latency};
  }
  bool is_network(LinkId id) const { return topology_->is_network(id); }
  /// Returns the figures of a route's links together.
  RouteFigures figures_of(const Route& route) const {
    return changed_ ? figures_along(*this, route) : topology_->figures_of(route);
  }
  /// Makes a list of all links.
  std::vector<Link> links() const;

  /// Returns the switches that reduce and multicast (NVLink SHARP), ascending. They fold the data
  /// that several devices send, and send copies of the data of one.
  std::span<const VertexId> reducing_switches() const { return reducing_switches_; }
  /// Returns the same fabric, but these switches reduce and multicast.
  Fabric with_reduction(std::vector<VertexId> switches) const;

  /// Returns the same fabric with other figures of its links, whose bandwidths are in parts of 1 /
  /// `rate_parts` bytes per second. Links may be cut. Requires each link, with the same ends.
  Fabric with_links(std::vector<Link> links, int64_t rate_parts) const;

  /// Bandwidths are whole numbers of 1 / rate_parts() bytes per second. rate_parts() is 1 at first,
  /// and 3 if a fault divides a bandwidth by 3. So a divided bandwidth stays exact.
  int64_t rate_parts() const { return rate_parts_; }

  /// Returns whether links have other figures than those of the topology.
  bool has_changes() const { return changed_ != nullptr; }
  /// Returns whether some link is cut.
  bool has_cuts() const { return has_cuts_; }
  /// Returns the number that decides between equal ways, or nothing if the destination does.
  std::optional<uint64_t> way_number(VertexId from, VertexId to, uint32_t channel) const {
    return ways_.hashed ? std::optional(hashed_number(from, to, channel)) : std::nullopt;
  }

  /// Returns the lowest link that is not cut and leads from `from` straight to `to`. Takes a binary
  /// search among the links out of `from`, or no search where the topology has a rule. Where a link
  /// is cut and devices do not forward, it looks at all links out of `from`.
  std::optional<LinkId> direct_link(VertexId from, VertexId to) const;

  /// Returns the links that are not cut and lead from `from` straight to `to`, in id order.
  std::vector<LinkId> links_between(VertexId from, VertexId to) const;

  /// Returns the vertices at the end of a link from `from` that is not cut, each once, in id order.
  std::vector<VertexId> neighbours(VertexId from) const;

  /// Returns whether each of the vertices is known to have a route to each other one, over links
  /// that are not cut. It is not known where devices do not forward and a link is cut.
  bool reach_each_other(std::span<const VertexId> vertices) const;

  /// Returns "device 3" or "switch "s0"", say.
  std::string vertex_text(VertexId id) const;
  /// Returns "device 3 -> switch "s0"", say.
  std::string link_text(LinkId id) const;

 private:
  struct Graph;
  uint64_t hashed_number(VertexId from, VertexId to, uint32_t channel) const;
  std::shared_ptr<const Topology> topology_;
  Ways ways_;
  std::vector<VertexId> reducing_switches_;
  int64_t rate_parts_ = 1;
  bool has_cuts_ = false;
  std::shared_ptr<const std::vector<Link>> changed_;  // all links, if their figures are other ones
  std::shared_ptr<const Graph> graph_;  // where a search says which vertices reach each other
};

/// A Share is a ratio of at most 1.
struct Share {
  int64_t part = 1;
  int64_t whole = 1;
  friend bool operator==(const Share&, const Share&) = default;
};

/// This range has the least and the most of a size of the ops to whose measured times figures were
/// fitted.
struct SizeRange {
  int64_t least = 1;
  int64_t most = 1;
  friend bool operator==(const SizeRange&, const SizeRange&) = default;
};

/// The ranges of the sizes that kProductSizes or kAttentionSizes name. A size that is absent is not
/// known to have a bound.
using CalibratedSizes = std::map<std::string, SizeRange, std::less<>>;
inline constexpr std::array<std::string_view, 3> kProductSizes = {"m", "n", "k"};
inline constexpr std::array<std::string_view, 5> kAttentionSizes = {"batch", "sequence", "heads",
                                                                    "kv_heads", "head"};

/// How much of a peak rate of flops attention reaches: share * s / (s + half_keys), where s is the
/// number of keys.
struct AttentionEfficiency {
  Share share;
  int64_t half_keys = 0;           // the s with which half of the share is reached
  std::optional<Duration> launch;  // in place of the device's
  CalibratedSizes calibrated = {};
  friend bool operator==(const AttentionEfficiency&, const AttentionEfficiency&) = default;
};

/// How much of a peak rate of flops kernels reach. A product of matrices whose results sum up k
/// products each reaches share * k / (k + half_depth) * s / (s + half_side). Here s is the square
/// root of the number of results, rounded down. Other ops reach the share, and so does attention
/// that has no figures of its own.
struct FlopsEfficiency {
  Share share;
  int64_t half_depth = 0;          // the k with which half of the share is reached
  int64_t half_side = 0;           // the s with which half of the share is reached
  std::optional<Duration> launch;  // of a product, in place of the device's
  std::optional<AttentionEfficiency> attention = {};
  CalibratedSizes calibrated = {};  // of products
  friend bool operator==(const FlopsEfficiency&, const FlopsEfficiency&) = default;
};

/// The figures of a device's cores of one type, each of one core. A figure that is absent
/// is the device's.
struct CoreFigures {
  struct Space {
    std::optional<Bytes> size;
    std::optional<BytesPerSecond> bandwidth;
    friend bool operator==(const Space&, const Space&) = default;
  };
  std::optional<int64_t> cores;
  std::optional<int64_t> subcores;        // of vector cores, per core
  std::map<Dtype, FlopsPerSecond> flops;  // peak dense rate per dtype
  std::optional<Duration> launch;         // of an mpmd_map
  std::map<CoreSpace, Space> spaces;
  friend bool operator==(const CoreFigures&, const CoreFigures&) = default;
};

/// The figures of a device. One that was not given is absent, and a report says so.
struct DeviceFigures {
  std::optional<Bytes> memory;
  std::optional<BytesPerSecond> memory_bandwidth;
  std::map<Dtype, FlopsPerSecond> flops;  // peak dense rate per dtype
  std::optional<Duration> launch;         // per local op and per collective entry; 0 when absent
  std::optional<BytesPerSecond> reduce_rate;  // of a receiving step; infinite when absent
  std::optional<BytesPerSecond> copy_rate;    // for copies inside a device; infinite when absent
  std::map<Dtype, FlopsEfficiency> efficiency = {};  // per dtype of `flops`; all of it when absent
  Share memory_share = {};                           // of memory_bandwidth, which local ops reach
  std::map<CoreType, CoreFigures> cores = {};        // empty: nothing is known of them
  friend bool operator==(const DeviceFigures&, const DeviceFigures&) = default;
};

/// Labels of figures. Reports name calibrated, extrapolated, assumed and overridden figures, and
/// all that say what connections take, where they are counted.
inline constexpr std::string_view kCalibrated = "calibrated";           // fitted to measurements
inline constexpr std::string_view kExtrapolated = "extrapolated";       // from another machine's
inline constexpr std::string_view kDataSheet = "data sheet";            // what the vendor states
inline constexpr std::string_view kMeasured = "measured";               // read off a machine
inline constexpr std::string_view kLibraryDefault = "library default";  // what its code or log says
inline constexpr std::string_view kAssumed = "assumed";                 // no source is known
inline constexpr std::string_view kOverridden = "overridden";           // by the command line

/// A FigureSource says where a figure of a cluster comes from.
struct FigureSource {
  std::string figure;  // "latency", "flops/bf16", "transport/ll/launch"
  std::string label;   // one of those above, or any other text
  std::string source;
  std::string date;
  friend bool operator==(const FigureSource&, const FigureSource&) = default;
};

/// A Cluster is a fabric with equal devices.
struct Cluster {
  std::string name;
  Fabric fabric;
  DeviceFigures device;
  std::vector<FigureSource> sources = {};  // sorted by figure
  std::optional<TransportFigures> transport = {};
};

/// Returns a ring with links in both directions. Two devices have one link each way.
Fabric ring_fabric(uint32_t devices, LinkFigures link);
/// Returns a ring without the links between its ends.
Fabric line_fabric(uint32_t devices, LinkFigures link);
/// Returns a fabric with one link each way between each pair of devices.
Fabric fully_connected_fabric(uint32_t devices, LinkFigures link);
/// Returns a fabric of one non-blocking switch, called "switch". A route has two links.
Fabric switch_fabric(uint32_t devices, LinkFigures link);

/// A CatalogFile is a machine of the hardware catalog, which is built into the binary: a node of
/// GPUs, or the largest TPU slice. catalog() has them in name order. The JSON has a source and a
/// date for each figure. Its form is the scenario's inline `cluster`, where a figure is an object:
/// {"value": "450 GB/s", "label": "data sheet", "source": "...", "date": "2026-01-31"}.
struct CatalogFile {
  std::string_view name;
  std::string_view json;
};
std::span<const CatalogFile> catalog();

}  // namespace orrery
