#pragma once

// The hardware: devices and switches joined by directed links, and the figures of one device.
//
// A Cluster is a Fabric, a set of figures that all its devices share, and a transport: how a
// communication library passes messages over the fabric (transport.h). A figure that nobody gave is
// absent, not a default; whoever needs it says in the report what was assumed. Each figure may have
// a FigureSource, so that a report can tell a data sheet's number from a fitted one.
// topologies.cc builds the usual fabrics. catalog/ has files of real machines, which are built into
// the binary; models/scenario/cluster_json.h reads them. Routes, demand and shares of bandwidth are
// no part of this folder: they are in simulator/network.

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
#include "models/fabric/transport.h"

namespace orrery {

/// A directed link. Opposite directions are two links.
struct Link {
  VertexId from;
  VertexId to;
  BytesPerSecond bandwidth;  // > 0, in parts of 1 / Fabric::rate_parts()
  Duration latency;          // >= 0, of this link alone
  bool cut = false;          // no route uses it
  friend bool operator==(const Link&, const Link&) = default;
};

/// Devices are vertices 0..devices-1, switches follow. It is held as a Boost graph, and immutable.
class Fabric {
 public:
  /// Requires that every link joins two different vertices of the fabric. No switch reduces.
  Fabric(uint32_t devices, std::vector<std::string> switches, std::vector<Link> links);
  ~Fabric();
  Fabric(Fabric&&) noexcept;
  Fabric& operator=(Fabric&&) noexcept;
  Fabric(const Fabric&);
  Fabric& operator=(const Fabric&);

  uint32_t devices() const { return devices_; }
  std::span<const std::string> switches() const { return switches_; }
  std::span<const Link> links() const { return links_; }
  const Link& link(LinkId id) const { return links_[id.index()]; }

  /// The switches that reduce and multicast (NVLink SHARP), ascending: they fold what several
  /// devices send, and send copies of what one sends.
  std::span<const VertexId> reducing_switches() const { return reducing_switches_; }
  /// The same fabric where these switches reduce and multicast.
  Fabric with_reduction(std::vector<VertexId> switches) const;

  /// The same vertices with other links, whose bandwidths have these parts.
  Fabric with_links(std::vector<Link> links, int64_t rate_parts) const;

  /// Bandwidths are whole numbers of this part of a byte per second: 1 as given, and 3 if a
  /// fault divides one by 3. So a divided bandwidth stays exact.
  int64_t rate_parts() const { return rate_parts_; }

  /// The lowest of the links that are not cut and lead from `from` straight to `to`. A binary
  /// search among the links out of `from`.
  std::optional<LinkId> direct_link(VertexId from, VertexId to) const;

  /// The links that are not cut and lead from `from` straight to `to`, in id order.
  std::vector<LinkId> links_between(VertexId from, VertexId to) const;

  /// The vertices at the end of a link from `from` that is not cut, each once, in id order.
  std::vector<VertexId> neighbours(VertexId from) const;

  /// "device 3", or "switch "s0"".
  std::string vertex_text(VertexId id) const;
  /// "device 3 -> switch "s0"".
  std::string link_text(LinkId id) const;

 private:
  struct Graph;
  uint32_t devices_;
  std::vector<std::string> switches_;
  std::vector<Link> links_;
  std::vector<VertexId> reducing_switches_;
  int64_t rate_parts_ = 1;
  std::unique_ptr<Graph> graph_;
};

/// The figures of a device. One that was not given is absent, and a report names it as assumed.
struct DeviceFigures {
  std::optional<Bytes> memory;
  std::optional<BytesPerSecond> memory_bandwidth;
  std::map<Dtype, FlopsPerSecond> flops;  // peak dense rate per dtype
  std::optional<Duration> launch;         // per local op and per collective entry; 0 when absent
  std::optional<BytesPerSecond> reduce_rate;  // a receiving step's; infinite when absent
  std::optional<BytesPerSecond> copy_rate;    // for copies inside it; infinite when absent
  friend bool operator==(const DeviceFigures&, const DeviceFigures&) = default;
};

/// Labels of figures. Reports name those that are calibrated, extrapolated or overridden.
inline constexpr std::string_view kCalibrated = "calibrated";      // fitted to measurements
inline constexpr std::string_view kExtrapolated = "extrapolated";  // from another machine's
inline constexpr std::string_view kDataSheet = "data sheet";       // what the vendor states
inline constexpr std::string_view kMeasured = "measured";          // read off a machine
inline constexpr std::string_view kOverridden = "overridden";      // by the command line

/// Where a figure of a cluster comes from.
struct FigureSource {
  std::string figure;  // "latency", "flops/bf16", "transport/ll/launch"
  std::string label;   // one of those above, or any other text
  std::string source;
  std::string date;
  friend bool operator==(const FigureSource&, const FigureSource&) = default;
};

/// A fabric with equal devices.
struct Cluster {
  std::string name;
  Fabric fabric;
  DeviceFigures device;
  std::vector<FigureSource> sources = {};  // sorted by figure
  std::optional<TransportFigures> transport = {};
};

/// The figures of each directed link of a fabric below.
struct LinkFigures {
  BytesPerSecond bandwidth;
  Duration latency;
};
/// Links in both directions around the ring; two devices have one link each way.
Fabric ring_fabric(uint32_t devices, LinkFigures link);
/// One link each way between each pair of devices.
Fabric fully_connected_fabric(uint32_t devices, LinkFigures link);
/// One non-blocking switch, called "switch": a route has two links.
Fabric switch_fabric(uint32_t devices, LinkFigures link);

/// The hardware catalog, in name order: JSON with a source and a date for each figure, built into
/// the binary. Its form is the scenario's inline `cluster`, where a figure is an object:
/// {"value": "450 GB/s", "label": "data sheet", "source": "...", "date": "2026-01-31"}.
struct CatalogFile {
  std::string_view name;
  std::string_view json;
};
std::span<const CatalogFile> catalog();

}  // namespace orrery
