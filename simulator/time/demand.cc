#include "simulator/time/demand.h"

#include <algorithm>
#include <compare>

namespace orrery {
namespace {

/// The most that a chain may ask of a link.
struct Peak {
  LinkId link;
  VertexId device;
  StreamId stream;
  Channel channel;
  BytesPerSecond rate;
  friend constexpr auto operator<=>(const Peak&, const Peak&) = default;

  bool same_chain(const Peak& other) const {
    return link == other.link && device == other.device && stream == other.stream &&
           channel == other.channel;
  }
};

void add_peaks(const Collective& collective, Paths& paths, std::vector<Peak>& peaks) {
  const Extent& extent = collective.schedule->extent();
  for (uint32_t n = 0; n < extent.nodes; ++n) {
    for (uint32_t c = 0; c < extent.channels; ++c) {
      for (const Node to : collective.schedule->receivers(Node(n), Channel(c))) {
        const VertexId from = collective.places[n];
        const Path& path = paths.between(from, collective.places[to.index()]);
        for (const LinkId link : path.links)
          peaks.push_back({link, from, collective.stream, Channel(c), path.peak(extent.peak_rate)});
      }
    }
  }
}

}  // namespace

std::vector<Demand> demands(const Lowered& lowered, const Fabric& fabric, Paths& paths) {
  std::vector<Peak> peaks;
  for (const Collective& collective : lowered.collectives)
    add_peaks(collective, paths, peaks);
  std::sort(peaks.begin(), peaks.end());
  std::vector<Demand> result(fabric.links().size());
  for (size_t i = 0; i < peaks.size(); ++i) {
    // A chain's greatest peak is its last.
    if (i + 1 < peaks.size() && peaks[i + 1].same_chain(peaks[i]))
      continue;
    Demand& demand = result[peaks[i].link.index()];
    demand.peak += peaks[i].rate.count();
    ++demand.chains;
  }
  return result;
}

}  // namespace orrery
