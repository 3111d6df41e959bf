#include "tools/calibrate/calibration.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/scenario/document.h"
#include "models/scenario/figure_reader.h"

namespace orrery {
namespace {

constexpr std::string_view kHostLaunch = "transport/host_launch/";

bool was_fitted(const FigureSource& source) {
  return source.label == kCalibrated || source.label == kExtrapolated;
}

/// This is the transport of NCCL in start.json, and the sources of its figures.
struct StartTransport {
  TransportFigures figures;
  std::vector<FigureSource> sources;
};

StartTransport start_transport() {
  const std::string_view text = start_files().front().json;
  Diagnostics diagnostics("start.json");
  const Document document(text, diagnostics);
  FigureReader figures(diagnostics);
  std::optional<TransportFigures> transport =
      read_transport(*document.root(), figures, diagnostics);
  diagnostics.throw_if_any();
  return {std::move(*transport), std::move(figures).sources()};
}

bool is_fitted_of_transport(const FigureSource& source) {
  return source.figure.starts_with("transport/") && was_fitted(source);
}

/// Returns whether the base has no source for the figure, or one that says that it was fitted.
bool fitted_or_absent(const std::string& figure, const Cluster& base) {
  const auto found =
      std::find_if(base.sources.begin(), base.sources.end(),
                   [&](const FigureSource& source) { return source.figure == figure; });
  return found == base.sources.end() || was_fitted(*found);
}

/// Returns whether the figure is one of messages between nodes.
bool is_of_network(const std::string& figure, const Cluster& cluster) {
  const std::vector<ProtocolFigures>& all = cluster.transport->protocols;
  return std::any_of(all.begin(), all.end(), [&](const ProtocolFigures& protocol) {
    return is_of(figure, protocol.name + "/network") ||
           (protocol.spans_nodes == true && is_of(figure, protocol.name));
  });
}

/// Replaces protocols with fitted figures by NCCL's, and adds the sources of NCCL's figures. Other
/// protocols stay, so that ops which they serve keep theirs, and so do figures of the network.
/// `sources` are those of the base.
void begin_anew(Cluster& cluster, const std::vector<FigureSource>& sources) {
  TransportFigures& transport = *cluster.transport;
  std::map<std::string, NetworkFigures> networks;
  for (const ProtocolFigures& protocol : transport.protocols)
    networks.emplace(protocol.name, protocol.network);
  std::erase_if(transport.protocols, [&](const ProtocolFigures& protocol) {
    return std::any_of(sources.begin(), sources.end(), [&](const FigureSource& source) {
      return was_fitted(source) && is_of(source.figure, protocol.name) &&
             !is_of_network(source.figure, cluster);
    });
  });
  for (const FigureSource& source : sources)
    if (was_fitted(source) && source.figure.starts_with(kHostLaunch))
      transport.host_launch.erase(source.figure.substr(kHostLaunch.size()));
  StartTransport start = start_transport();
  for (ProtocolFigures& protocol : start.figures.protocols) {
    if (protocol.spans_nodes == true ||
        std::any_of(transport.protocols.begin(), transport.protocols.end(),
                    [&](const ProtocolFigures& other) { return other.name == protocol.name; }))
      continue;
    protocol.network = networks[protocol.name];
    const auto is_its = [&](const FigureSource& of) {
      return is_of(of.figure, protocol.name) && !is_of(of.figure, protocol.name + "/network");
    };
    std::erase_if(cluster.sources, is_its);
    std::copy_if(start.sources.begin(), start.sources.end(), std::back_inserter(cluster.sources),
                 is_its);
    transport.protocols.push_back(std::move(protocol));
  }
}

/// Gives protocols NCCL's figures of the network, and adds NCCL's protocols that the cluster lacks.
/// Fitted figures of protocols that span nodes are NCCL's again. All others stay.
void begin_network_anew(Cluster& cluster) {
  TransportFigures& transport = *cluster.transport;
  const auto was_fitted_of = [&](const std::string& owner) {
    return std::any_of(cluster.sources.begin(), cluster.sources.end(), [&](const FigureSource& of) {
      return was_fitted(of) && is_of(of.figure, owner);
    });
  };
  const auto drop_sources = [&](const std::string& owner) {
    std::erase_if(cluster.sources, [&](const FigureSource& of) { return is_of(of.figure, owner); });
  };
  StartTransport start = start_transport();
  for (ProtocolFigures& protocol : start.figures.protocols) {
    const auto own =
        std::find_if(transport.protocols.begin(), transport.protocols.end(),
                     [&](const ProtocolFigures& other) { return other.name == protocol.name; });
    std::string owner = protocol.name;
    if (own == transport.protocols.end()) {
      transport.protocols.push_back(std::move(protocol));
    } else if (own->spans_nodes == true && was_fitted_of(own->name)) {
      protocol.algorithms = own->algorithms;
      protocol.ops = own->ops;
      protocol.spans_nodes = own->spans_nodes;
      *own = std::move(protocol);
    } else if (protocol.network != NetworkFigures() &&
               (own->network == NetworkFigures() || was_fitted_of(own->name + "/network"))) {
      own->network = protocol.network;
      owner += "/network";
    } else {
      continue;
    }
    drop_sources(owner);
    std::copy_if(start.sources.begin(), start.sources.end(), std::back_inserter(cluster.sources),
                 [&](const FigureSource& of) { return is_of(of.figure, owner); });
  }
}

Fabric without_latency(const Fabric& fabric) {
  std::vector<Link> links = fabric.links();
  for (Link& link : links)
    link.latency = Duration();
  return fabric.with_links(std::move(links), fabric.rate_parts());
}

/// Returns, per op, the least time per GPU, over the calls whose processes have several GPUs.
std::map<std::string, Duration, std::less<>> least_host_launch(
    std::span<const MeasuredCall> calls) {
  std::map<std::string, Duration, std::less<>> least;
  for (const MeasuredCall& call : calls) {
    if (call.gpus_of_process < 2)
      continue;
    for (const MeasuredTime& measured : call.times) {
      const Duration each(measured.time.count() / int64_t{call.gpus_of_process});
      const auto [found, first] = least.try_emplace(std::string(op_of(call)), each);
      if (!first)
        found->second = std::min(found->second, each);
    }
  }
  return least;
}

/// Returns the texts joined by commas, or their number if that is too long.
std::string listed(const std::set<std::string>& texts) {
  constexpr size_t kLongest = 300;
  std::string all = fmt::format("{}", fmt::join(texts, ", "));
  return all.size() <= kLongest ? all : fmt::format("{} tables", texts.size());
}

/// Returns the source of fitted figures: "nccl-tests all_gather, all_reduce on 2, 4, 8 ranks, NCCL
/// 2.19.3 (a.txt)".
std::string source_text(std::span<const NcclTable> tables, std::span<const MeasuredCall> calls,
                        const std::optional<std::string>& given) {
  std::set<std::string> collectives, versions, sources;
  std::set<uint32_t> ranks;
  for (const MeasuredCall& call : calls) {
    const NcclTable& table = tables[call.table];
    collectives.insert(std::string(name(table.collective)));
    ranks.insert(table.ranks);
    sources.insert(table.source.empty() ? table.file : table.source);
    if (table.nccl_version)
      versions.insert(*table.nccl_version);
  }
  return fmt::format(
      "nccl-tests {} on {} ranks, NCCL {} ({})", listed(collectives), fmt::join(ranks, ", "),
      versions.empty() ? "of unknown version" : listed(versions), given ? *given : listed(sources));
}

std::map<std::string, CalibratedRange, std::less<>> ranges_of(std::span<const MeasuredCall> calls) {
  std::map<std::string, CalibratedRange, std::less<>> ranges;
  for (const MeasuredCall& call : calls) {
    const uint32_t ranks = call.call.ranks;
    const auto [found, first] = ranges.try_emplace(
        std::string(op_of(call)), CalibratedRange{ranks, ranks, call.size, call.size});
    CalibratedRange& range = found->second;
    range.least_ranks = std::min(range.least_ranks, ranks);
    range.most_ranks = std::max(range.most_ranks, ranks);
    range.least = std::min(range.least, call.size);
    range.most = std::max(range.most, call.size);
  }
  return ranges;
}

/// Returns the range that has both.
CalibratedRange both(const CalibratedRange& a, const CalibratedRange& b) {
  return {std::min(a.least_ranks, b.least_ranks), std::max(a.most_ranks, b.most_ranks),
          std::min(a.least, b.least), std::max(a.most, b.most)};
}

/// Returns whether the protocol may carry out an op that was measured.
bool competes(const ProtocolFigures& protocol, std::span<const MeasuredCall> calls,
              const std::optional<TransportFigures>& transport) {
  return std::any_of(calls.begin(), calls.end(), [&](const MeasuredCall& call) {
    return may_carry_out(protocol, call, transport);
  });
}

bool is_kept(const FigureSource& source, const ProtocolFigures& protocol) {
  return (source.label == kDataSheet || source.label == kMeasured) &&
         is_of(source.figure, protocol.name);
}

/// Removes the protocols that compete for a measured op, have only fitted figures, and carry out no
/// call. At least one protocol stays. Returns the names of those removed.
std::vector<std::string> drop_unused(Cluster& cluster, std::span<const MeasuredCall> calls,
                                     std::span<const CallTime> modelled) {
  std::set<std::string> used;
  for (const CallTime& time : modelled)
    for (const Choice& choice : time.choices)
      used.insert(choice.protocol);
  const std::optional<TransportFigures> all = cluster.transport;
  std::vector<std::string> unused;
  std::vector<ProtocolFigures> stay;
  for (const ProtocolFigures& protocol : all->protocols) {
    const bool kept =
        std::any_of(cluster.sources.begin(), cluster.sources.end(),
                    [&](const FigureSource& source) { return is_kept(source, protocol); });
    const bool of_one_node = nodes_of(cluster) != nullptr && protocol.spans_nodes != true;
    if (used.contains(protocol.name) || kept || of_one_node || !competes(protocol, calls, all))
      stay.push_back(protocol);
    else
      unused.push_back(protocol.name);
  }
  if (stay.empty())
    return {};
  std::erase_if(cluster.sources, [&](const FigureSource& source) {
    return std::any_of(unused.begin(), unused.end(),
                       [&](const std::string& protocol) { return is_of(source.figure, protocol); });
  });
  cluster.transport->protocols = std::move(stay);
  return unused;
}

/// Returns whether the fit began with the base's own protocol of this name.
bool is_of_base(const ProtocolFigures& protocol, const Cluster& base) {
  if (!base.transport)
    return false;
  const std::vector<ProtocolFigures>& all = base.transport->protocols;
  return std::find(all.begin(), all.end(), protocol) != all.end();
}

class Calibrator {
 public:
  Calibrator(const Cluster& base, std::span<const NcclTable> tables,
             std::span<const MeasuredCall> calls, const CalibrationOptions& options)
      : tables_(tables), calls_(calls), options_(options), base_(base) {}

  Calibration run() {
    const Fit fit = fit_to(calls_);
    Calibration made{fit.cluster, {}, {}, {}, {}};
    made.cluster.name += " calibrated";
    const std::vector<CallTime> modelled = modelled_times(calls_, fit.cluster, options_.limits);
    made.residuals = residuals(calls_, modelled);
    made.unused = drop_unused(made.cluster, calls_, modelled);
    leave_out_ranks(made);
    label(fit, made);
    return made;
  }

 private:
  Fit fit_to(std::span<const MeasuredCall> calls) const {
    const std::vector<MeasuredCall> some = thinned(calls, options_.rows_of_table);
    return fit(calibration_start(base_, calls), some, {options_.evaluations, options_.limits});
  }

  std::vector<Residual> residuals_of(std::span<const MeasuredCall> calls,
                                     const Cluster& cluster) const {
    return residuals(calls, modelled_times(calls, cluster, options_.limits));
  }

  void leave_out_ranks(Calibration& made) {
    std::map<uint32_t, std::vector<MeasuredCall>> by_ranks;
    for (const MeasuredCall& call : calls_)
      by_ranks[call.call.ranks].push_back(call);
    if (!options_.leave_out_ranks || by_ranks.size() < 2)
      return;
    for (const auto& [ranks, left_out] : by_ranks) {
      std::vector<MeasuredCall> others;
      for (const MeasuredCall& call : calls_)
        if (call.call.ranks != ranks)
          others.push_back(call);
      const Fit fit = fit_to(others);
      std::vector<Residual> errors = residuals_of(left_out, fit.cluster);
      // The residuals must refer to the calls of the whole list, which outlive the copies.
      size_t at = 0;
      for (const MeasuredCall& call : calls_)
        if (call.call.ranks == ranks)
          for (size_t t = 0; t < call.times.size(); ++t)
            errors[at++].call = &call;
      made.left_out.push_back({ranks, std::move(errors)});
    }
  }

  void label(const Fit& fit, Calibration& made) const {
    std::string source =
        fmt::format("{}; mean error {}", source_text(tables_, calls_, options_.source),
                    percent(summary(made.residuals).mean));
    if (!made.left_out.empty()) {
      std::vector<Residual> all;
      for (const LeftOutRanks& fold : made.left_out)
        all.insert(all.end(), fold.residuals.begin(), fold.residuals.end());
      source += fmt::format(", {} on numbers of ranks left out", percent(summary(all).mean));
    }
    std::vector<FigureSource>& sources = made.cluster.sources;
    for (size_t f = 0; f < fit.free.size(); ++f) {
      const FreeFigure& figure = fit.free[f];
      const bool unused =
          std::any_of(made.unused.begin(), made.unused.end(),
                      [&](const std::string& protocol) { return is_of(figure.name, protocol); });
      if (unused)
        continue;
      made.figures.push_back(
          {figure.name, figure.text(figure.start), figure.text(fit.fitted[f]), fit.at_bound[f]});
      std::erase_if(sources, [&](const FigureSource& of) { return of.figure == figure.name; });
      sources.push_back({figure.name, std::string(kCalibrated),
                         fit.at_bound[f] ? source + "; at the bound of the search" : source,
                         options_.date});
    }
    label_unfitted(made.cluster);
    std::sort(sources.begin(), sources.end(),
              [](const FigureSource& a, const FigureSource& b) { return a.figure < b.figure; });
    std::map<std::string, CalibratedRange, std::less<>>& ranges =
        made.cluster.transport->calibrated;
    for (const auto& [op, range] : ranges_of(calls_))
      if (const auto [known, added] = ranges.try_emplace(op, range); !added)
        known->second = both(known->second, range);
  }

  /// Labels the figures of start.json that no time of the tables depends on.
  void label_unfitted(Cluster& cluster) const {
    const Cluster start = calibration_start(base_, calls_);
    for (const FreeFigure& figure : figures_of_fits(cluster)) {
      const auto named = [&](const FigureSource& of) { return of.figure == figure.name; };
      const auto owner = std::find_if(
          start.transport->protocols.begin(), start.transport->protocols.end(),
          [&](const ProtocolFigures& protocol) { return is_of(figure.name, protocol.name); });
      const bool from_start =
          owner != start.transport->protocols.end() && !is_of_base(*owner, base_);
      if (from_start && std::none_of(cluster.sources.begin(), cluster.sources.end(), named))
        cluster.sources.push_back({figure.name, std::string(kExtrapolated),
                                   "what a fit begins with: tools/calibrate/start.json",
                                   options_.date});
    }
  }

  const std::span<const NcclTable> tables_;
  const std::span<const MeasuredCall> calls_;
  const CalibrationOptions& options_;
  const Cluster& base_;
};

}  // namespace

Cluster calibration_start(const Cluster& base, std::span<const MeasuredCall> calls) {
  Cluster start = base;
  const bool begins_anew = !base.transport || std::any_of(base.sources.begin(), base.sources.end(),
                                                          is_fitted_of_transport);
  if (!start.transport)
    start.transport.emplace();
  if (nodes_of(base) != nullptr) {
    if (begins_anew) {
      begin_network_anew(start);
      std::erase_if(start.transport->calibrated, [&](const auto& each) {
        return each.second.most_ranks > nodes_of(base)->per_node();
      });
    }
    return start;
  }
  const auto fitted = [&](std::string_view figure) {
    return std::any_of(base.sources.begin(), base.sources.end(), [&](const FigureSource& source) {
      return source.figure == figure && was_fitted(source);
    });
  };
  if (fitted("latency"))
    start.fabric = without_latency(start.fabric);
  if (fitted("launch"))
    start.device.launch.reset();
  std::erase_if(start.sources, [&](const FigureSource& source) {
    return was_fitted(source) && !is_of_network(source.figure, start);
  });
  if (begins_anew)
    begin_anew(start, base.sources);
  start.transport->calibrated.clear();
  for (const auto& [op, time] : least_host_launch(calls)) {
    if (fitted_or_absent(std::string(kHostLaunch) + op, base))
      start.transport->host_launch.insert_or_assign(op, time);
  }
  return start;
}

Calibration calibrate(const Cluster& base, std::span<const NcclTable> tables,
                      std::span<const MeasuredCall> calls, const CalibrationOptions& options) {
  return Calibrator(base, tables, calls, options).run();
}

}  // namespace orrery
