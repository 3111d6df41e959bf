#include "tools/calibrate/fit.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <memory>
#include <utility>

#include <nlopt.h>

#include "models/base/check.h"

namespace orrery {
namespace {

constexpr double kWidestFactor = 100;
/// Below it an error counts by its square: the objective is smooth at its minimum.
constexpr double kSmooth = 0.01;

/// The mean error of the calls, by the logarithms of the free figures' factors on their start.
class Objective {
 public:
  Objective(const Cluster& start, std::span<const MeasuredCall> calls, const Limits& limits,
            std::vector<FreeFigure> free)
      : cluster_(start), calls_(calls), limits_(limits), free_(std::move(free)) {}

  const std::vector<FreeFigure>& free() const { return free_; }
  int evaluations() const { return evaluations_; }

  std::vector<CallTime> times(std::span<const double> logs) {
    for (size_t f = 0; f < free_.size(); ++f)
      free_[f].set(cluster_, value(f, logs[f]));
    ++evaluations_;
    return modelled_times(calls_, cluster_, limits_);
  }

  double error(std::span<const double> logs) {
    const std::vector<CallTime> modelled = times(logs);
    double sum = 0;
    size_t count = 0;
    for (size_t c = 0; c < calls_.size(); ++c) {
      for (const Duration measured : calls_[c].times) {
        const double error = std::log(static_cast<double>(modelled[c].time.count()) /
                                      static_cast<double>(measured.count()));
        sum += std::sqrt(error * error + kSmooth * kSmooth);
        ++count;
      }
    }
    return sum / static_cast<double>(count);
  }

  int64_t value(size_t f, double log) const {
    return std::max<int64_t>(1, std::llround(static_cast<double>(free_[f].start) * std::exp(log)));
  }

  /// Figures without any influence keep their start.
  void drop_idle() {
    const std::vector<double> start(free_.size(), 0.0);
    const std::vector<CallTime> at_start = times(start);
    std::vector<FreeFigure> felt;
    for (size_t f = 0; f < free_.size(); ++f) {
      bool changes = false;
      for (const double factor : {0.1, 10.0}) {
        std::vector<double> logs = start;
        logs[f] = std::log(factor);
        const std::vector<CallTime> changed = times(logs);
        for (size_t c = 0; c < calls_.size() && !changes; ++c)
          changes = changed[c].time != at_start[c].time;
      }
      if (changes)
        felt.push_back(free_[f]);
    }
    times(start);
    free_ = std::move(felt);
  }

  const Cluster& cluster() const { return cluster_; }

 private:
  Cluster cluster_;
  const std::span<const MeasuredCall> calls_;
  const Limits& limits_;
  std::vector<FreeFigure> free_;
  int evaluations_ = 0;
};

/// What NLopt calls. No exception may pass through C: it is kept, and the search stopped.
struct Search {
  Objective* objective;
  nlopt_opt optimiser;
  std::exception_ptr failure;
};

double evaluate(unsigned count, const double* logs, double* /*gradient*/, void* data) {
  Search& search = *static_cast<Search*>(data);
  try {
    return search.objective->error({logs, count});
  } catch (...) {
    search.failure = std::current_exception();
    nlopt_force_stop(search.optimiser);
    return HUGE_VAL;
  }
}

void minimise(nlopt_algorithm algorithm, Objective& objective, std::vector<double>& logs,
              double tolerance, double step, int evaluations) {
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> optimiser(
      nlopt_create(algorithm, static_cast<unsigned>(logs.size())), &nlopt_destroy);
  Search search{&objective, optimiser.get(), {}};
  const double widest = std::log(kWidestFactor);
  nlopt_set_lower_bounds1(optimiser.get(), -widest);
  nlopt_set_upper_bounds1(optimiser.get(), widest);
  nlopt_set_initial_step1(optimiser.get(), step);
  nlopt_set_ftol_abs(optimiser.get(), tolerance);
  nlopt_set_maxeval(optimiser.get(), evaluations);
  nlopt_set_min_objective(optimiser.get(), evaluate, &search);
  double least = 0;
  nlopt_optimize(optimiser.get(), logs.data(), &least);
  if (search.failure)
    std::rethrow_exception(search.failure);
}

}  // namespace

Fit fit(const Cluster& start, std::span<const MeasuredCall> calls, const FitOptions& options) {
  ORRERY_CHECK(!calls.empty(), "calls to fit to");
  Objective objective(start, calls, options.limits, free_figures(start));
  objective.drop_idle();
  std::vector<double> logs(objective.free().size(), 0.0);
  if (!logs.empty()) {
    nlopt_algorithm alg = NLOPT_LN_SBPLX;
    if (getenv("ALG")) { std::string a=getenv("ALG"); alg = a=="bobyqa"?NLOPT_LN_BOBYQA:a=="cobyla"?NLOPT_LN_COBYLA:a=="nm"?NLOPT_LN_NELDERMEAD:a=="praxis"?NLOPT_LN_PRAXIS:NLOPT_LN_SBPLX; }
    double st = getenv("STEP")?atof(getenv("STEP")):0.5;
    minimise(alg, objective, logs, 1e-5, st, options.evaluations);
    fprintf(stderr,"final %g after %d\n", objective.error(logs), objective.evaluations());
  }
  Fit made{objective.cluster(), objective.free(), {}, objective.evaluations()};
  for (size_t f = 0; f < logs.size(); ++f) {
    made.fitted.push_back(three_digits(static_cast<double>(objective.value(f, logs[f]))));
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
