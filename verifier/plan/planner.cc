#include "verifier/plan/planner.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/base/diagnostics.h"

namespace orrery {
namespace {

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
        tasks.push_back({report_.points[p].id, report_.points[p].values, true, improvement});
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
        tasks.push_back({point.id, point.values, false, Improvement::MoreMemory});
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

}  // namespace orrery
