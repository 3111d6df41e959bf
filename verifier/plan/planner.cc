#include "verifier/plan/planner.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/callable.h"
#include "models/base/diagnostics.h"
#include "models/scenario/quantity_text.h"

namespace orrery {
namespace {

/// Says what is done with points that cannot fit.
enum class Time : uint8_t { IfItMayFit, Always };

/// A PointTask is a point that is to be worked out.
struct PointTask {
  std::string id;
  std::vector<TemplateValue> values;
  Time time = Time::IfItMayFit;
  std::optional<Improvement> improvement = {};
};

/// Returns the points of the sweep, in its order, and then the cases.
std::vector<PointTask> tasks_of(const Plan& plan) {
  std::vector<PointTask> tasks;
  for (std::vector<TemplateValue>& values : plan.points()) {
    std::string id = point_id(plan, values);
    tasks.push_back({std::move(id), std::move(values)});
  }
  for (const PlanCase& each : plan.cases())
    tasks.push_back({each.id, each.values, Time::Always});
  return tasks;
}

/// Returns the name of the unit: the values, the id of a case, and what else the point's figures
/// depend on.
std::string unit_of(const Plan& plan, const PointTask& task) {
  const std::string values = point_id(plan, task.values);
  return fmt::format(
      "{}{}{}{}", values, task.id == values ? "" : fmt::format(" ({})", task.id),
      task.time == Time::Always ? ", always timed" : "",
      task.improvement ? fmt::format(", improvement {}", static_cast<int>(*task.improvement)) : "");
}

double excess(double got, double most) {
  return most > 0 ? got / most - 1 : got;
}

/// Returns an order of so many tasks in which neighbours lie far apart. Points that differ little
/// need the same collectives, so threads that took them at the same time would wait for each other.
std::vector<size_t> scattered(size_t tasks) {
  size_t stride = std::max<size_t>(1, tasks * 5 / 8);
  while (std::gcd(stride, tasks) != 1)
    ++stride;
  std::vector<size_t> order(tasks);
  for (size_t i = 0; i < tasks; ++i)
    order[i] = i * stride % tasks;
  return order;
}

std::string more_than(std::string_view what, std::string_view more, std::string_view most) {
  return fmt::format("{}, {} more than {}", what, more, most);
}

std::string rounded_text(Bytes size) {
  return size_text(size);
}
std::string rounded_text(Duration time) {
  return time_text(time);
}

/// Says by how much a figure is more than what is allowed. Both are exact if they would be rounded
/// to one text.
template <class Amount>
std::string more_than(PlanAxis axis, Amount got, Amount most, std::string_view by_whom) {
  const bool is_exact = rounded_text(got) == rounded_text(most);
  const auto text = [&](Amount amount) {
    return is_exact ? quantity_text(amount) : rounded_text(amount);
  };
  return more_than(fmt::format("{}: {}", key_of(axis), text(got)), rounded_text(got - most),
                   fmt::format("the {} {}", text(most), by_whom));
}

/// Returns the currency of the first point that has terms, if these have a price.
std::optional<std::string> first_currency(const Plan& plan) {
  for (const std::vector<TemplateValue>& values : plan.points()) {
    try {
      const PlanTerms terms = plan.terms(values);
      return terms.price ? std::optional(terms.price->currency) : std::nullopt;
    } catch (const InputError&) {
      continue;  // the point is refused where it is worked out
    }
  }
  return std::nullopt;
}

/// Returns the memory that a point may take: that of a device, or less if it is constrained.
std::optional<Bytes> most_memory(const PointFigures& figures, const PlanConstraints& constraints) {
  if (!figures.capacity || !constraints.peak_memory)
    return figures.capacity ? figures.capacity : constraints.peak_memory;
  return std::min(*figures.capacity, *constraints.peak_memory);
}

/// Works out the points of a plan, in several threads.
class PointRunner {
 public:
  PointRunner(const Plan& plan, const PlanOptions& options)
      : plan_(plan), options_(options), first_currency_(first_currency(plan)) {}

  /// Returns the points of the tasks.
  std::vector<PlanPoint> run(const std::vector<PointTask>& tasks, bool tells_progress = false) {
    std::vector<PlanPoint> points(tasks.size());
    const std::vector<size_t> order = scattered(tasks.size());
    std::atomic<size_t> next = 0;
    std::mutex mutex;
    uint64_t done = 0;
    std::exception_ptr failure;
    const auto work = [&] {
      RunOptions run = run_options();
      for (size_t i = next++; i < tasks.size(); i = next++) {
        const size_t t = order[i];
        std::exception_ptr error;
        try {
          points[t] = known_or_new(tasks[t], run);
        } catch (...) {
          error = std::current_exception();
        }
        const std::lock_guard lock(mutex);
        if (error && !failure) {
          failure = error;
          next = tasks.size();
        }
        if (tells_progress && options_.progress)
          options_.progress(++done, tasks.size());
      }
    };
    run_in_threads(static_cast<unsigned>(std::min<size_t>(options_.jobs, tasks.size())), work);
    if (failure)
      std::rethrow_exception(failure);
    return points;
  }

  PlanPoint run_one(const PointTask& task) { return run({task}).front(); }

 private:
  RunOptions run_options() const {
    RunOptions run;
    run.seed = options_.seed;
    run.limits = options_.limits;
    run.shared = shared_work(shared_.get());
    return run;
  }

  PlanPoint known_or_new(const PointTask& task, const RunOptions& run) const {
    if (options_.store == nullptr)
      return point(task, run);
    const std::string unit = unit_of(plan_, task);
    std::optional<PlanPoint> known = options_.store->find(unit);
    if (!known) {
      PlanPoint made = point(task, run);
      options_.store->add(unit, made);
      return made;
    }
    known->id = task.id;
    known->values = task.values;
    if (known->status != PointStatus::Refused)
      known->terms = plan_.terms(task.values);
    return *std::move(known);
  }

  PlanPoint point(const PointTask& task, const RunOptions& run) const {
    PlanPoint made;
    made.id = task.id;
    made.values = task.values;
    try {
      made.terms = plan_.terms(task.values);
      check_currency(made.terms);
      judge(task, run, made);
    } catch (const InputError& error) {
      const std::string text = error.what();
      refuse(made, text.substr(0, text.find('\n')));
    } catch (const std::bad_alloc&) {
      refuse(made, "it needs more memory than there is");
    }
    return made;
  }

  /// Refuses a price that cannot be compared with that of the first point.
  void check_currency(const PlanTerms& terms) const {
    if (terms.price && first_currency_ && terms.price->currency != *first_currency_)
      throw InputError(
          plan_.file(),
          {{{},
            fmt::format("expected a price in \"{}\", as the first point has it, got one in \"{}\"",
                        *first_currency_, terms.price->currency)}});
  }

  void judge(const PointTask& task, const RunOptions& run, PlanPoint& made) const {
    auto scenario = std::make_shared<Scenario>(plan_.scenario(task.values));
    if (task.improvement) {
      std::optional<Cluster> cluster =
          improved(scenario->cluster, *task.improvement, options_.limits);
      if (!cluster)
        throw InputError(plan_.file(), {{{}, "the cluster's figures cannot be improved"}});
      scenario->cluster = std::move(*cluster);
    }
    made.devices = scenario->program.mesh.devices();
    made.status = PointStatus::Fits;
    check_devices(made);
    const bool always = task.time == Time::Always;
    if (made.status == PointStatus::DoesNotFit && !always)
      return;
    made.figures = figures_of(scenario, plan_.kinds(), run, [&](const PointFigures& figures) {
      check_memory(figures, made);
      return made.status == PointStatus::Fits || always;
    });
    if (!made.figures->hangs.empty()) {
      refuse(made, made.figures->hangs);
    } else if (const PointTimes* const times = made.times()) {
      check_makespan(times->makespan, made);
    }
  }

  static void refuse(PlanPoint& point, std::string because) {
    point.status = PointStatus::Refused;
    point.because = std::move(because);
    point.figures.reset();
    point.devices = 0;
    point.beyond = 0;
  }

  static void does_not_fit(PlanPoint& point, double beyond, std::string because) {
    if (point.status == PointStatus::DoesNotFit)
      return;
    point.status = PointStatus::DoesNotFit;
    point.beyond = beyond;
    point.because = std::move(because);
  }

  static void check_devices(PlanPoint& point) {
    const std::optional<int64_t>& most = point.terms.constraints.devices;
    if (most && point.devices > *most)
      does_not_fit(
          point, excess(point.devices, static_cast<double>(*most)),
          more_than(fmt::format("devices: {}", point.devices),
                    std::to_string(point.devices - *most), fmt::format("the {} allowed", *most)));
  }

  static void check_memory(const PointFigures& figures, PlanPoint& point) {
    const std::optional<Bytes>& allowed = point.terms.constraints.peak_memory;
    const bool of_device = figures.capacity && (!allowed || *figures.capacity < *allowed);
    const std::optional<Bytes> most = most_memory(figures, point.terms.constraints);
    if (most && figures.peak > *most)
      does_not_fit(
          point,
          excess(static_cast<double>(figures.peak.count()), static_cast<double>(most->count())),
          more_than(PlanAxis::PeakMemory, figures.peak, *most,
                    of_device ? "of a device" : "allowed"));
  }

  static void check_makespan(Duration makespan, PlanPoint& point) {
    const std::optional<Duration>& most = point.terms.constraints.makespan;
    if (most && makespan > *most)
      does_not_fit(
          point, excess(static_cast<double>(makespan.count()), static_cast<double>(most->count())),
          more_than(PlanAxis::Makespan, makespan, *most, "allowed"));
  }

  const Plan& plan_;
  const PlanOptions& options_;
  const std::optional<std::string> first_currency_;
  const std::shared_ptr<SharedWork> shared_ = shared_work();  // by the threads
};

/// Compares points that have times, by the plan's figures in their order, then by the others.
class PointOrder {
 public:
  PointOrder(const Plan& plan, const std::vector<PlanPoint>& points)
      : points_(points), minimized_(plan.minimize()), axes_(plan.minimize()) {
    for (const PlanAxis axis : {PlanAxis::Makespan, PlanAxis::Devices, PlanAxis::PeakMemory})
      axes_.push_back(axis);
  }

  bool is_better(size_t a, size_t b) const { return is_less(a, b, axes_); }

  /// Returns the best point, of equal ones the first. Requires that there is one.
  size_t best() const {
    size_t best = 0;
    for (size_t p = 1; p < points_.size(); ++p)
      if (is_better(p, best))
        best = p;
    return best;
  }

  bool has_fewer_devices(size_t a, size_t b) const {
    if (points_[a].devices != points_[b].devices)
      return points_[a].devices < points_[b].devices;
    return is_better(a, b);
  }

  /// Returns the points that no other one dominates, each set of figures once, sorted by them.
  std::vector<size_t> front(std::vector<size_t> of) const {
    std::stable_sort(of.begin(), of.end(), [&](size_t a, size_t b) { return is_better(a, b); });
    std::vector<size_t> front;
    for (const size_t point : of)
      if (std::none_of(front.begin(), front.end(),
                       [&](size_t other) { return is_nowhere_worse(other, point); }))
        front.push_back(point);
    return front;
  }

 private:
  bool is_less(size_t a, size_t b, const std::vector<PlanAxis>& axes) const {
    for (const PlanAxis axis : axes) {
      const double of_a = figure_of(points_[a], axis);
      const double of_b = figure_of(points_[b], axis);
      if (of_a != of_b)
        return of_a < of_b;
    }
    return false;
  }

  bool is_nowhere_worse(size_t a, size_t b) const {
    return std::all_of(minimized_.begin(), minimized_.end(), [&](PlanAxis axis) {
      return figure_of(points_[a], axis) <= figure_of(points_[b], axis);
    });
  }

  const std::vector<PlanPoint>& points_;
  const std::vector<PlanAxis>& minimized_;
  std::vector<PlanAxis> axes_;
};

/// Throws InputError since all points of the sweep are refused.
[[noreturn]] void refuse_plan(const Plan& plan, size_t points, const PlanPoint& first) {
  throw InputError(plan.file(),
                   {{{},
                     fmt::format("expected a point that can be timed, got none of {}; the first is "
                                 "refused: {}",
                                 points, first.because)}});
}

/// Answers a plan.
class Planner {
 public:
  Planner(const Plan& plan, const PlanOptions& options) : plan_(plan), runner_(plan, options) {}

  PlanReport report() {
    const std::vector<PointTask> tasks = tasks_of(plan_);
    report_.swept = tasks.size() - plan_.cases().size();
    report_.points = runner_.run(tasks, true);
    count();
    find_unmatched();
    compare();
    find_changes();
    ask_what_if();
    return std::move(report_);
  }

 private:
  void count() {
    for (size_t p = 0; p < report_.swept; ++p) {
      const PlanPoint& point = report_.points[p];
      ++(point.status == PointStatus::Refused ? report_.refused
         : point.times() != nullptr           ? report_.timed
                                              : report_.pruned);
    }
    if (report_.refused == report_.swept)
      refuse_plan(plan_, report_.swept, report_.points.front());
  }

  void find_unmatched() {
    bool is_first = true;
    for (const PlanPoint& point : report_.points) {
      if (!point.figures)
        continue;
      const std::vector<std::string>& of_point = point.figures->unmatched;
      if (std::exchange(is_first, false))
        report_.unmatched = of_point;
      else
        std::erase_if(report_.unmatched, [&](const std::string& pattern) {
          return std::ranges::find(of_point, pattern) == of_point.end();
        });
    }
  }

  void compare() {
    std::vector<size_t> fitting;
    for (size_t p = 0; p < report_.swept; ++p)
      if (report_.points[p].status == PointStatus::Fits)
        fitting.push_back(p);
    const PointOrder order(plan_, report_.points);
    if (!fitting.empty()) {
      report_.front = order.front(fitting);
      report_.best = report_.front.front();
      report_.fewest_devices =
          *std::min_element(fitting.begin(), fitting.end(),
                            [&](size_t a, size_t b) { return order.has_fewer_devices(a, b); });
      return;
    }
    for (size_t p = 0; p < report_.swept; ++p)
      if (report_.points[p].status == PointStatus::DoesNotFit &&
          (!report_.nearest || report_.points[p].beyond < report_.points[*report_.nearest].beyond))
        report_.nearest = p;
  }

  void find_changes() {
    if (report_.nearest)
      find_change(*report_.nearest);
    for (size_t p = report_.swept; p < report_.points.size(); ++p)
      if (report_.points[p].status == PointStatus::DoesNotFit)
        find_change(p);
  }

  /// Halves and doubles each number of the point, up to an eighth and eight times, and keeps the
  /// first change with which the point fits.
  void find_change(size_t of) {
    const PlanPoint& point = report_.points[of];
    for (const int64_t factor : {2, 4, 8})
      for (size_t name = 0; name < plan_.names().size(); ++name) {
        const auto* number = std::get_if<int64_t>(&point.values[name].is);
        if (number == nullptr || *number <= 0 || *number > (int64_t{1} << 40))
          continue;
        for (const bool halves : {true, false}) {
          if (halves && *number % factor != 0)
            continue;
          const int64_t other = halves ? *number / factor : *number * factor;
          PointTask task{point.id, point.values};
          task.values[name] = {other};
          if (!is_admitted(task.values) || runner_.run_one(task).status != PointStatus::Fits)
            continue;
          report_.changes.push_back({of, name, point.values[name], task.values[name]});
          return;
        }
      }
  }

  /// Returns whether the values meet "where". A formula without a value admits none.
  bool is_admitted(const std::vector<TemplateValue>& values) const {
    try {
      return plan_.admits(values);
    } catch (const InputError&) {
      return false;
    }
  }

  void ask_what_if() {
    std::vector<size_t> asked;
    if (report_.best)
      asked.push_back(*report_.best);
    for (size_t p = report_.swept; p < report_.points.size(); ++p)
      if (report_.points[p].times() != nullptr)
        asked.push_back(p);
    std::vector<PointTask> tasks;
    for (const size_t p : asked)
      for (const Improvement improvement : kImprovements)
        tasks.push_back(
            {report_.points[p].id, report_.points[p].values, Time::Always, improvement});
    std::vector<PlanPoint> points = runner_.run(tasks);
    auto next = points.begin();
    for (const size_t p : asked) {
      WhatIf& what_if = report_.what_if.emplace_back();
      what_if.point = p;
      for (const Improvement improvement : kImprovements)
        what_if.results.push_back({improvement, std::move(*next++)});
      if (p == report_.best)
        use_more_memory(what_if.results.back().point);
    }
  }

  /// Replaces the best point by a better one that fits into more memory, if there is one.
  void use_more_memory(PlanPoint& best) {
    std::vector<PointTask> tasks;
    for (size_t p = 0; p < report_.swept; ++p) {
      const PlanPoint& point = report_.points[p];
      if (point.status == PointStatus::DoesNotFit && point.figures && point.times() == nullptr &&
          point.figures->capacity && point.beyond <= 0.25)
        tasks.push_back({point.id, point.values, Time::IfItMayFit, Improvement::MoreMemory});
    }
    std::vector<PlanPoint> points = runner_.run(tasks);
    std::erase_if(points, [](const PlanPoint& p) { return p.status != PointStatus::Fits; });
    points.insert(points.begin(), std::move(best));  // it stays if others are only as good
    best = std::move(points[PointOrder(plan_, points).best()]);
  }

  const Plan& plan_;
  PointRunner runner_;
  PlanReport report_;
};

/// Finds the largest value of a name with which a point fits. Points that differ in this name alone
/// make a series, in the order of its values. In each round every series says which point it wants
/// to know next, so that the points of a round are worked out at the same time.
class LargestFinder {
 public:
  LargestFinder(const Plan& plan, size_t name, const PlanOptions& options)
      : plan_(plan), name_(name), runner_(plan, options), points_(plan.points()) {
    std::map<std::string, size_t> series_of;  // by the other names' values
    for (size_t p = 0; p < points_.size(); ++p) {
      std::vector<TemplateValue> others = points_[p];
      others[name] = {int64_t{0}};
      const auto [known, added] = series_of.try_emplace(point_id(plan, others), series_.size());
      if (added)
        series_.emplace_back();
      series_[known->second].points.push_back(p);
    }
    for (Series& series : series_) {
      std::ranges::sort(series.points, {}, [&](size_t p) { return number(p); });
      for (size_t at = 0; at < series.points.size(); ++at)
        series.untried.insert(series.untried.end(), at);
    }
  }

  LargestSearch search() {
    found_.points = points_.size();
    do {
      while (try_next()) {
      }
    } while (try_larger());
    if (!best_)
      return nothing_fits();
    std::vector<PlanPoint> fitting = runner_.run(tasks_with(*best_));
    std::erase_if(fitting, [](const PlanPoint& p) { return p.status != PointStatus::Fits; });
    const size_t best = PointOrder(plan_, fitting).best();
    found_.largest = Largest{fitting[best].values[name_], std::move(fitting[best])};
    return std::move(found_);
  }

 private:
  /// A Seen is what is known of a point that is not refused: whether it fits, and the share that it
  /// takes of what each constraint allows.
  struct Seen {
    bool fits = false;
    std::array<std::optional<double>, 3> shares = {};
  };

  struct Series {
    std::vector<size_t> points;   // by value
    std::set<size_t> untried;     // indices of `points`
    std::map<size_t, Seen> seen;  // the others, without those that are refused
    bool falls = false;           // a share falls where the value grows
  };

  int64_t number(size_t point) const { return std::get<int64_t>(points_[point][name_].is); }

  /// Returns the index from which on values are larger than the best one.
  size_t first_larger(const Series& series) const {
    if (!best_)
      return 0;
    const auto at =
        std::ranges::upper_bound(series.points, *best_, {}, [&](size_t p) { return number(p); });
    return static_cast<size_t>(at - series.points.begin());
  }

  /// Returns the index of the point that the series wants to know next; nothing if it knows its
  /// largest that fits, or that this is not above the best. The largest value comes first. If it
  /// does not fit, the least one is next, and if that does not either, its neighbour, which tells
  /// whether the figures grow.
  std::optional<size_t> next(const Series& series) const {
    size_t first = first_larger(series);
    size_t end = series.points.size();  // the least that does not fit, above those that do
    size_t after_end = end;
    bool is_known = false;
    bool has_fitting = false;
    for (auto seen = series.seen.rbegin(); seen != series.seen.rend(); ++seen) {
      has_fitting = seen->second.fits;
      if (!has_fitting && seen->first < first)
        break;  // it does not bound what is above the best
      is_known = true;
      if (has_fitting) {
        first = std::max(first, seen->first + 1);
        break;
      }
      after_end = std::exchange(end, seen->first);
    }
    if (series.falls)
      end = series.points.size();
    else if (!has_fitting)
      end = after_end;
    const auto begin = series.untried.lower_bound(first);
    const auto stop = series.untried.lower_bound(end);
    if (begin == series.untried.end() || *begin >= end)
      return std::nullopt;
    if (series.falls || !is_known)
      return *std::prev(stop);
    if (!has_fitting)
      return *begin;
    const size_t middle = first + (end - first) / 2;
    const auto above = series.untried.lower_bound(middle);
    if (above == begin)
      return *above;
    const size_t below = *std::prev(above);
    return above != stop && *above - middle <= middle - below ? *above : below;
  }

  /// Works out the points that the series want to know. Returns whether there was one.
  bool try_next() {
    std::vector<std::pair<size_t, size_t>> wanted;
    for (size_t s = 0; s < series_.size(); ++s)
      if (const std::optional<size_t> at = next(series_[s]))
        wanted.emplace_back(s, *at);
    work_out(wanted);
    return !wanted.empty();
  }

  /// Works out the points with larger values than the best one, up to the first value with which
  /// one is not refused. Returns whether one of them fits, which a series did not expect.
  bool try_larger() {
    if (!best_)
      return false;
    found_.does_not_fit.reset();
    std::map<int64_t, std::vector<std::pair<size_t, size_t>>> larger;
    for (size_t s = 0; s < series_.size(); ++s)
      for (size_t at = first_larger(series_[s]); at < series_[s].points.size(); ++at)
        larger[number(series_[s].points[at])].emplace_back(s, at);
    const int64_t before = *best_;
    for (const auto& [value, all] : larger) {
      std::vector<std::pair<size_t, size_t>> wanted;
      bool is_legal = false;
      for (const auto& [s, at] : all) {
        if (series_[s].untried.contains(at))
          wanted.emplace_back(s, at);
        is_legal |= series_[s].seen.contains(at);
      }
      work_out(wanted);
      if (*best_ != before)
        return true;
      for (const auto& [s, at] : wanted)
        is_legal |= series_[s].seen.contains(at);
      if (!is_legal)
        continue;
      keep_nearest(runner_.run(tasks_with(value)));
      break;
    }
    return false;
  }

  void work_out(const std::vector<std::pair<size_t, size_t>>& wanted) {
    std::vector<PointTask> tasks;
    for (const auto& [s, at] : wanted)
      tasks.push_back(task(series_[s].points[at]));
    const std::vector<PlanPoint> points = runner_.run(tasks);
    for (size_t i = 0; i < wanted.size(); ++i)
      add(series_[wanted[i].first], wanted[i].second, points[i]);
  }

  void add(Series& series, size_t at, const PlanPoint& point) {
    ++found_.tried;
    series.untried.erase(at);
    if (point.status == PointStatus::Refused) {
      ++found_.refused;
      if (series.points[at] == 0)
        first_refused_ = point;
      return;
    }
    const auto now =
        series.seen.emplace(at, Seen{point.status == PointStatus::Fits, shares(point)}).first;
    if (now != series.seen.begin())
      compare(series, *std::prev(now), *now);
    if (const auto after = std::next(now); after != series.seen.end())
      compare(series, *now, *after);
    if (now->second.fits)
      best_ = std::max(best_.value_or(number(series.points[at])), number(series.points[at]));
    else if (!best_)
      keep_nearest({point});
  }

  static constexpr std::array kConstrained = {PlanAxis::Devices, PlanAxis::PeakMemory,
                                              PlanAxis::Makespan};

  /// Returns the shares of what kConstrained allow.
  static std::array<std::optional<double>, 3> shares(const PlanPoint& point) {
    const auto share = [](auto got, auto most) {
      return most > 0 ? static_cast<double>(got) / static_cast<double>(most)
                      : static_cast<double>(got);
    };
    const PlanConstraints& allowed = point.terms.constraints;
    std::array<std::optional<double>, 3> shares;
    if (allowed.devices)
      shares[0] = share(int64_t{point.devices}, *allowed.devices);
    if (point.figures)
      if (const std::optional<Bytes> most = most_memory(*point.figures, allowed))
        shares[1] = share(point.figures->peak.count(), most->count());
    if (const PointTimes* const times = point.times(); times != nullptr && allowed.makespan)
      shares[2] = share(times->makespan.count(), allowed.makespan->count());
    return shares;
  }

  void compare(Series& series, const std::pair<const size_t, Seen>& less,
               const std::pair<const size_t, Seen>& more) {
    for (size_t i = 0; i < kConstrained.size(); ++i) {
      const std::optional<double>& of_less = less.second.shares[i];
      const std::optional<double>& of_more = more.second.shares[i];
      if (!of_less || !of_more || *of_less <= *of_more)
        continue;
      series.falls = true;
      if (found_.falls.empty())
        found_.falls =
            fmt::format("{} takes {:.4g} % of what is allowed with {}, and {:.4g} % with {}",
                        key_of(kConstrained[i]), 100 * *of_less, id(series.points[less.first]),
                        100 * *of_more, id(series.points[more.first]));
    }
  }

  void keep_nearest(const std::vector<PlanPoint>& points) {
    for (const PlanPoint& point : points)
      if (point.status == PointStatus::DoesNotFit &&
          (!found_.does_not_fit || point.beyond < found_.does_not_fit->beyond))
        found_.does_not_fit = point;
  }

  LargestSearch nothing_fits() {
    if (found_.refused == found_.points)
      refuse_plan(plan_, points_.size(), first_refused_);
    return std::move(found_);
  }

  std::string id(size_t point) const { return point_id(plan_, points_[point]); }

  PointTask task(size_t point) const { return {id(point), points_[point]}; }

  std::vector<PointTask> tasks_with(int64_t value) const {
    std::vector<PointTask> tasks;
    for (size_t p = 0; p < points_.size(); ++p)
      if (number(p) == value)
        tasks.push_back(task(p));
    return tasks;
  }

  const Plan& plan_;
  const size_t name_;
  PointRunner runner_;
  const std::vector<std::vector<TemplateValue>> points_;
  std::vector<Series> series_;
  std::optional<int64_t> best_;
  PlanPoint first_refused_;
  LargestSearch found_;
};

}  // namespace

double figure_of(const PlanPoint& point, PlanAxis axis) {
  const double seconds = static_cast<double>(point.times()->makespan.count()) /
                         static_cast<double>(kPicosecondsPerSecond);
  const double work = point.terms.work ? static_cast<double>(point.terms.work->amount) : 1;
  switch (axis) {
    case PlanAxis::Makespan:
      return seconds / work;
    case PlanAxis::Devices:
      return point.devices;
    case PlanAxis::PeakMemory:
      return static_cast<double>(point.figures->peak.count());
    case PlanAxis::Cost:
      break;
  }
  constexpr double kMicros = 1e6;
  constexpr double kHour = 3600;
  return point.terms.price ? static_cast<double>(point.terms.price->micros_per_device_hour) /
                                 kMicros * point.devices * seconds / kHour / work
                           : 0;
}

std::optional<double> work_per_second(const PlanPoint& point) {
  const PointTimes* const times = point.times();
  if (!point.terms.work || times == nullptr || times->makespan == Duration())
    return std::nullopt;
  return 1 / figure_of(point, PlanAxis::Makespan);
}

std::optional<double> cost_of(const PlanPoint& point) {
  return point.terms.price && point.times() != nullptr
             ? std::optional(figure_of(point, PlanAxis::Cost))
             : std::nullopt;
}

PlanReport answer(const Plan& plan, const PlanOptions& options) {
  return Planner(plan, options).report();
}

PartDone work_out(const Plan& plan, const PlanPart& part, const PlanOptions& options) {
  std::vector<PointTask> tasks = tasks_of(plan);
  uint64_t number = 0;
  std::erase_if(tasks, [&](const PointTask&) { return number++ % part.of != part.part - 1; });
  PartDone done{tasks.size()};
  for (const PointTask& task : tasks)
    done.were_there += options.store->find(unit_of(plan, task)) ? 1 : 0;
  PointRunner(plan, options).run(tasks, true);
  return done;
}

std::vector<std::string> missing_points(const Plan& plan, PlanStore& store) {
  std::vector<std::string> missing;
  for (const PointTask& task : tasks_of(plan))
    if (!store.find(unit_of(plan, task)))
      missing.push_back(task.id);
  return missing;
}

LargestSearch largest_that_fits(const Plan& plan, size_t name, const PlanOptions& options) {
  return LargestFinder(plan, name, options).search();
}

}  // namespace orrery
