#include "tools/calibrate/free_figure.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "models/scenario/quantity_text.h"

namespace orrery {
namespace {

class Finder {
 public:
  explicit Finder(Cluster cluster) : cluster_(std::move(cluster)) {}

  std::vector<FreeFigure> find() {
    bandwidth();
    optional(
        "copy_rate", [](Cluster & of) -> auto& { return of.device.copy_rate; });
    if (!cluster_.transport)
      return std::move(figures_);
    const TransportFigures& transport = *cluster_.transport;
    for (size_t p = 0; p < transport.protocols.size(); ++p)
      protocol(p);
    for (const auto& [op, time] : transport.host_launch)
      add("transport/host_launch/" + op, time,
          [op = op](Cluster& of) -> Duration& { return of.transport->host_launch.at(op); });
    return std::move(figures_);
  }

 private:
  /// That of all links, if it is one.
  void bandwidth() {
    const std::span<const Link> links = cluster_.fabric.links();
    if (links.empty() || std::any_of(links.begin(), links.end(), [&](const Link& link) {
          return link.bandwidth != links.front().bandwidth;
        }))
      return;
    const int64_t given = links.front().bandwidth.count();
    const FigureSource* const source = source_of("bandwidth");
    const bool from_data_sheet = source != nullptr && source->label == kDataSheet;
    figures_.push_back(
        {"bandwidth", given, from_data_sheet ? std::optional(given) : std::nullopt,
         source != nullptr,
         [](Cluster& in, int64_t count) {
           std::vector<Link> faster(in.fabric.links().begin(), in.fabric.links().end());
           for (Link& link : faster)
             link.bandwidth = BytesPerSecond(count);
           in.fabric = in.fabric.with_links(std::move(faster), in.fabric.rate_parts());
         },
         [](int64_t count) { return quantity_text(BytesPerSecond(count)); }});
  }

  void protocol(size_t p) {
    const auto member = [&](std::string_view key, auto figure) {
      optional(
          "transport/" + cluster_.transport->protocols[p].name + "/" + std::string(key),
          [ p, figure ](Cluster & of) -> auto& { return of.transport->protocols[p].*figure; });
    };
    member("channel_bytes", &ProtocolFigures::channel_bytes);
    member("launch", &ProtocolFigures::launch);
    member("channel_launch", &ProtocolFigures::channel_launch);
    member("peer_launch", &ProtocolFigures::peer_launch);
    member("overhead", &ProtocolFigures::overhead);
    member("latency", &ProtocolFigures::latency);
    member("channel_rate", &ProtocolFigures::channel_rate);
    member("reduce_rate", &ProtocolFigures::reduce_rate);
    member("store_rate", &ProtocolFigures::store_rate);
    member("forward_rate", &ProtocolFigures::forward_rate);
    member("forward_reduce_rate", &ProtocolFigures::forward_reduce_rate);
    member("copy_rate", &ProtocolFigures::copy_rate);
  }

  /// Null if the cluster tells none.
  const FigureSource* source_of(std::string_view figure) const {
    const auto found =
        std::find_if(cluster_.sources.begin(), cluster_.sources.end(),
                     [&](const FigureSource& source) { return source.figure == figure; });
    return found == cluster_.sources.end() ? nullptr : &*found;
  }

  /// A figure that `of` finds in a cluster as an optional one.
  template <class Of>
  void optional(std::string name, Of of) {
    if (of(cluster_))
      add(
          std::move(name), *of(cluster_), [of](Cluster & in) -> auto& { return *of(in); });
  }

  template <class Amount, class Of>
  void add(std::string name, Amount amount, Of of) {
    const FigureSource* const source = source_of(name);
    const bool fixed =
        source != nullptr && (source->label == kDataSheet || source->label == kMeasured);
    if (fixed || amount.count() <= 0)
      return;
    figures_.push_back({std::move(name), amount.count(), std::nullopt, source != nullptr,
                        [of](Cluster& in, int64_t count) { of(in) = Amount(count); },
                        [](int64_t count) { return quantity_text(Amount(count)); }});
  }

  Cluster cluster_;
  std::vector<FreeFigure> figures_;
};

}  // namespace

std::vector<FreeFigure> free_figures(const Cluster& cluster) {
  return Finder(cluster).find();
}

int64_t three_digits(double value) {
  constexpr double kLeast = 1;
  const double unit = std::pow(10.0, std::floor(std::log10(std::max(value, kLeast))) - 2);
  const double step = std::max(unit, kLeast);
  return std::max<int64_t>(1, std::llround(value / step) * std::llround(step));
}

}  // namespace orrery
