#include "tools/calibrate/fit.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <nlopt.h>

#include "models/base/check.h"
#include "models/base/diagnostics.h"
#include "models/scenario/quantity_text.h"
#include "models/scenario/topology_json.h"
#include "tools/calibrate/residuals.h"

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
  /// Adds the bandwidth of the links, if all have the same. That of a topology with keys of its own
  /// stands there, and is kept.
  void bandwidth() {
    const Topology& topology = cluster_.fabric.topology();
    if (!topology.is_searched() && !has_word(topology))
      return;
    const std::vector<Link> links = cluster_.fabric.links();
    if (links.empty() || std::any_of(links.begin(), links.end(), [&](const Link& link) {
          return link.bandwidth != links.front().bandwidth;
        }))
      return;
    const int64_t given = links.front().bandwidth.count();
    const FigureSource* const source = source_of("bandwidth");
    const bool from_data_sheet = source != nullptr && source->label == kDataSheet;
    figures_.push_back({"bandwidth", given, from_data_sheet ? std::optional(given) : std::nullopt,
                        source != nullptr,
                        [](Cluster& in, int64_t count) {
                          std::vector<Link> faster = in.fabric.links();
                          for (Link& link : faster)
                            link.bandwidth = BytesPerSecond(count);
                          in.fabric =
                              in.fabric.with_links(std::move(faster), in.fabric.rate_parts());
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
    const auto of_network = [&](std::string_view key, auto figure) {
      optional(
          "transport/" + cluster_.transport->protocols[p].name + "/network/" + std::string(key),
          [ p,
            figure ](Cluster & of) -> auto& { return of.transport->protocols[p].network.*figure; });
    };
    of_network("overhead", &NetworkFigures::overhead);
    of_network("latency", &NetworkFigures::latency);
    of_network("channel_rate", &NetworkFigures::channel_rate);
  }

  /// Returns the source of a figure; null if the cluster states none.
  const FigureSource* source_of(std::string_view figure) const {
    const auto found =
        std::find_if(cluster_.sources.begin(), cluster_.sources.end(),
                     [&](const FigureSource& source) { return source.figure == figure; });
    return found == cluster_.sources.end() ? nullptr : &*found;
  }

  /// Adds a figure that the cluster may lack. `of` finds it in a cluster.
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

constexpr double kWidestFactor = 100;
/// Returns |error|, except near 0, where the square makes the objective smooth at its minimum.
double smooth(double error) {
  constexpr double kNear = 0.01;
  return std::sqrt(error * error + kNear * kNear);
}

/// This is the objective as a function of the free figures. Each is given by the logarithm of its
/// ratio to its start.
class Objective {
 public:
  Objective(const Cluster& start, std::span<const MeasuredCall> calls, const Limits& limits,
            std::vector<FreeFigure> free)
      : cluster_(start), calls_(calls), limits_(limits), free_(std::move(free)) {
    for (const FreeFigure& figure : free_) {
      concerns_.emplace_back();
      for (const MeasuredCall& call : calls_)
        concerns_.back().push_back(may_concern(figure, call));
    }
  }

  const std::vector<FreeFigure>& free() const { return free_; }

  /// These return the least and the largest logarithm of a figure's ratio to its start.
  static double least_log() { return -std::log(kWidestFactor); }
  double most_log(size_t f) const {
    const FreeFigure& figure = free_[f];
    return figure.most
               ? std::log(static_cast<double>(*figure.most) / static_cast<double>(figure.start))
               : std::log(kWidestFactor);
  }

  /// Returns the times of all calls. Only those that a changed figure may concern are worked out.
  const std::vector<CallTime>& times(std::span<const double> logs) {
    std::vector<bool> stale(calls_.size(), times_.empty());
    for (size_t f = 0; f < free_.size(); ++f) {
      const int64_t now = value(f, logs[f]);
      for (size_t c = 0; !times_.empty() && c < calls_.size() && values_[f] != now; ++c)
        stale[c] = stale[c] || concerns_[f][c];
      free_[f].set(cluster_, now);
    }
    values_.resize(free_.size());
    for (size_t f = 0; f < free_.size(); ++f)
      values_[f] = value(f, logs[f]);
    std::vector<MeasuredCall> changed;
    for (size_t c = 0; c < calls_.size(); ++c)
      if (stale[c])
        changed.push_back(calls_[c]);
    std::vector<CallTime> made = modelled_times(changed, cluster_, limits_);
    times_.resize(calls_.size());
    for (size_t c = 0, next = 0; c < calls_.size(); ++c)
      if (stale[c])
        times_[c] = std::move(made[next++]);
    return times_;
  }

  /// Returns the sum of
  ///  - the mean error;
  ///  - for each collective and size band, half of how far its errors lie on one side: those add up
  ///    in a program of many collectives, the others cancel;
  ///  - how far figures with a source are from it: a factor of e costs as much as an error of 1 %.
  ///    So a launch and a latency that the times hardly tell apart stay near theirs.
  double error(std::span<const double> logs) {
    constexpr double kWeightOfBias = 0.5;
    constexpr double kWeightOfSource = 0.01;
    const std::vector<CallTime>& modelled = times(logs);
    struct Sum {
      double errors = 0;
      double count = 0;
    };
    std::map<std::pair<NcclCollective, const SizeBand*>, Sum> bands;
    double sum = 0;
    for (size_t c = 0; c < calls_.size(); ++c) {
      Sum& of_band = bands[{calls_[c].call.collective, &band_of(calls_[c].size)}];
      for (const MeasuredTime& measured : calls_[c].times) {
        const double error =
            std::log(static_cast<double>(modelled_as(measured, modelled[c]).count()) /
                     static_cast<double>(measured.time.count()));
        sum += smooth(error);
        of_band.errors += error;
        ++of_band.count;
      }
    }
    double count = 0;
    for (const auto& [band, of_band] : bands) {
      sum += kWeightOfBias * of_band.count * smooth(of_band.errors / of_band.count);
      count += of_band.count;
    }
    double far = 0;
    for (size_t f = 0; f < free_.size(); ++f)
      far += free_[f].has_source ? logs[f] * logs[f] : 0;
    return sum / count + kWeightOfSource * far;
  }

  int64_t value(size_t f, double log) const {
    return std::max<int64_t>(1, std::llround(static_cast<double>(free_[f].start) * std::exp(log)));
  }

  const Cluster& cluster() const { return cluster_; }

 private:
  /// Returns whether a time of the call may depend on the figure. Those of protocols and of
  /// host_launch serve some ops only.
  bool may_concern(const FreeFigure& figure, const MeasuredCall& call) const {
    constexpr std::string_view kOfTransport = "transport/";
    constexpr std::string_view kOfHost = "transport/host_launch/";
    if (figure.name.starts_with(kOfHost))
      return figure.name.substr(kOfHost.size()) == op_of(call);
    if (!figure.name.starts_with(kOfTransport))
      return true;
    const std::string protocol = figure.name.substr(kOfTransport.size());
    for (const ProtocolFigures& each : cluster_.transport->protocols)
      if (protocol.starts_with(each.name + "/") && may_carry_out(each, call, cluster_.transport))
        return true;
    return false;
  }

  Cluster cluster_;
  const std::span<const MeasuredCall> calls_;
  const Limits& limits_;
  std::vector<FreeFigure> free_;
  std::vector<std::vector<bool>> concerns_;  // per figure, per call
  std::vector<int64_t> values_;              // per figure: with which the times were worked out
  std::vector<CallTime> times_;              // per call; none before the first time
};

/// Returns the figures that change some time at a tenth or ten times their start. The search would
/// not hold the others.
std::vector<FreeFigure> felt(const Cluster& start, std::span<const MeasuredCall> calls,
                             const Limits& limits) {
  Objective objective(start, calls, limits, free_figures(start));
  const std::vector<FreeFigure>& all = objective.free();
  const std::vector<CallTime> at_start = objective.times(std::vector<double>(all.size(), 0.0));
  std::vector<FreeFigure> felt;
  for (size_t f = 0; f < all.size(); ++f) {
    bool changes = false;
    for (const double factor : {0.1, 10.0}) {
      std::vector<double> logs(all.size(), 0.0);
      logs[f] = std::log(factor);
      const std::vector<CallTime>& changed = objective.times(logs);
      for (size_t c = 0; c < calls.size() && !changes; ++c)
        changes = changed[c].out_of_place != at_start[c].out_of_place ||
                  changed[c].in_place != at_start[c].in_place;
    }
    if (changes)
      felt.push_back(all[f]);
  }
  return felt;
}

}  // namespace

bool is_of(const std::string& figure, const std::string& protocol) {
  return figure.starts_with("transport/" + protocol + "/");
}

const Nodes* nodes_of(const Cluster& cluster) {
  return dynamic_cast<const Nodes*>(&cluster.fabric.topology());
}

std::vector<FreeFigure> figures_of_fits(const Cluster& cluster) {
  return Finder(cluster).find();
}

std::vector<FreeFigure> free_figures(const Cluster& cluster) {
  std::vector<FreeFigure> figures = figures_of_fits(cluster);
  if (nodes_of(cluster) == nullptr)
    return figures;
  if (!cluster.transport)
    return {};
  std::erase_if(figures, [&](const FreeFigure& figure) {
    for (const ProtocolFigures& protocol : cluster.transport->protocols)
      if (is_of(figure.name, protocol.name))
        return !(protocol.spans_nodes == true || is_of(figure.name, protocol.name + "/network"));
    return true;
  });
  return figures;
}

#ifdef ORRERY_WITHOUT_NLOPT

void minimise(const std::function<double(std::span<const double>)>&, const SearchBounds&,
              std::vector<double>&, int) {
  throw InputError("calibrate",
                   {{{}, "this executable was built without NLopt, as static ones are"}});
}

#else

namespace {

/// This is the state of the callback of NLopt. No exception may pass through C, so it is kept and
/// the search stops.
struct SearchState {
  const std::function<double(std::span<const double>)>* error;
  nlopt_opt optimiser;
  std::exception_ptr failure;
};

double evaluate(unsigned count, const double* at, double* /*gradient*/, void* data) {
  SearchState& search = *static_cast<SearchState*>(data);
  try {
    return (*search.error)({at, count});
  } catch (...) {
    search.failure = std::current_exception();
    nlopt_force_stop(search.optimiser);
    return HUGE_VAL;
  }
}

/// Moves `at` to where the error is smaller.
void search(const std::function<double(std::span<const double>)>& error, const SearchBounds& bounds,
            std::vector<double>& at, nlopt_algorithm algorithm, int evaluations) {
  constexpr double kTolerance = 1e-5;  // in the mean error
  constexpr double kFirstStep = 0.5;   // in the logarithm
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> optimiser(
      nlopt_create(algorithm, static_cast<unsigned>(at.size())), &nlopt_destroy);
  SearchState state{&error, optimiser.get(), {}};
  nlopt_set_lower_bounds(optimiser.get(), bounds.least.data());
  nlopt_set_upper_bounds(optimiser.get(), bounds.most.data());
  nlopt_set_initial_step1(optimiser.get(), kFirstStep);
  nlopt_set_ftol_abs(optimiser.get(), kTolerance);
  nlopt_set_maxeval(optimiser.get(), evaluations);
  nlopt_set_min_objective(optimiser.get(), evaluate, &state);
  double least = 0;
  const nlopt_result result = nlopt_optimize(optimiser.get(), at.data(), &least);
  if (state.failure)
    std::rethrow_exception(state.failure);
  ORRERY_CHECK(result > 0 || result == NLOPT_ROUNDOFF_LIMITED, "a search that ends");
}

}  // namespace

// The first search is Powell's by quadratic models (NLopt's BOBYQA). It follows the valleys in
// which figures make up for each other, such as a launch and a latency. The second is Rowan's by
// subspaces (Sbplx), which copes with steps. On the A100's tables the two reach 0.064 in 560
// evaluations, Sbplx alone 0.068 in 600, BOBYQA alone 0.078.
void minimise(const std::function<double(std::span<const double>)>& error,
              const SearchBounds& bounds, std::vector<double>& at, int evaluations) {
  const int first = evaluations / 4;
  if (first > 2 * static_cast<int>(at.size()))  // a quadratic model needs that many
    search(error, bounds, at, NLOPT_LN_BOBYQA, first);
  search(error, bounds, at, NLOPT_LN_SBPLX, evaluations - first);
}

#endif

int64_t three_digits(double value) {
  constexpr double kLeast = 1;
  const double unit = std::pow(10.0, std::floor(std::log10(std::max(value, kLeast))) - 2);
  const double step = std::max(unit, kLeast);
  return std::max<int64_t>(1, std::llround(value / step) * std::llround(step));
}

Fit fit(const Cluster& start, std::span<const MeasuredCall> calls, const FitOptions& options) {
  ORRERY_CHECK(!calls.empty(), "calls to fit to");
  constexpr size_t kRowsThatFeel = 5;
  Objective objective(start, calls, options.limits,
                      felt(start, thinned(calls, kRowsThatFeel), options.limits));
  std::vector<double> logs(objective.free().size(), 0.0);
  SearchBounds bounds{std::vector<double>(logs.size(), Objective::least_log()), {}};
  for (size_t f = 0; f < logs.size(); ++f)
    bounds.most.push_back(objective.most_log(f));
  if (!logs.empty())
    minimise([&](std::span<const double> at) { return objective.error(at); }, bounds, logs,
             options.evaluations);
  Fit made{objective.cluster(), objective.free(), {}, {}};
  for (size_t f = 0; f < logs.size(); ++f) {
    made.at_bound.push_back(logs[f] <= Objective::least_log() || logs[f] >= objective.most_log(f));
    const int64_t value = objective.value(f, logs[f]);
    const bool moved = value != made.free[f].start;
    made.fitted.push_back(moved ? three_digits(static_cast<double>(value)) : value);
    made.free[f].set(made.cluster, made.fitted.back());
  }
  return made;
}

std::vector<MeasuredCall> thinned(std::span<const MeasuredCall> calls, size_t most) {
  std::map<size_t, std::vector<const MeasuredCall*>> tables;
  for (const MeasuredCall& call : calls)
    tables[call.table].push_back(&call);
  std::vector<MeasuredCall> kept;
  for (const auto& [table, rows] : tables) {
    const size_t count = std::min(most, rows.size());
    for (size_t k = 0; k < count; ++k)
      kept.push_back(*rows[count == 1 ? 0 : k * (rows.size() - 1) / (count - 1)]);
  }
  return kept;
}

}  // namespace orrery
