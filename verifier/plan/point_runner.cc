#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/callable.h"
#include "models/base/diagnostics.h"
#include "models/scenario/quantity_text.h"
#include "verifier/plan/planner.h"

namespace orrery {
namespace {

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

}  // namespace

std::optional<Bytes> most_memory(const PointFigures& figures, const PlanConstraints& constraints) {
  if (!figures.capacity || !constraints.peak_memory)
    return figures.capacity ? figures.capacity : constraints.peak_memory;
  return std::min(*figures.capacity, *constraints.peak_memory);
}

std::vector<PointTask> tasks_of(const Plan& plan) {
  std::vector<PointTask> tasks;
  for (std::vector<TemplateValue>& values : plan.points()) {
    std::string id = point_id(plan, values);
    tasks.push_back({std::move(id), std::move(values)});
  }
  for (const PlanCase& each : plan.cases())
    tasks.push_back({each.id, each.values, true});
  return tasks;
}

std::string unit_of(const Plan& plan, const PointTask& task) {
  const std::string values = point_id(plan, task.values);
  return fmt::format(
      "{}{}{}{}", values, task.id == values ? "" : fmt::format(" ({})", task.id),
      task.always_timed ? ", always timed" : "",
      task.improvement ? fmt::format(", improvement {}", static_cast<int>(*task.improvement)) : "");
}

PointRunner::PointRunner(const Plan& plan, const PlanOptions& options)
    : plan_(plan), options_(options), first_currency_(first_currency(plan)) {}

std::vector<PlanPoint> PointRunner::run(const std::vector<PointTask>& tasks, bool tells_progress) {
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

RunOptions PointRunner::run_options() const {
  RunOptions run;
  run.seed = options_.seed;
  run.limits = options_.limits;
  run.shared = shared_work(shared_.get());
  return run;
}

PlanPoint PointRunner::known_or_new(const PointTask& task, const RunOptions& run) const {
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

PlanPoint PointRunner::point(const PointTask& task, const RunOptions& run) const {
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

void PointRunner::check_currency(const PlanTerms& terms) const {
  if (terms.price && first_currency_ && terms.price->currency != *first_currency_)
    throw InputError(
        plan_.file(),
        {{{},
          fmt::format("expected a price in \"{}\", as the first point has it, got one in \"{}\"",
                      *first_currency_, terms.price->currency)}});
}

void PointRunner::judge(const PointTask& task, const RunOptions& run, PlanPoint& made) const {
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
  const bool always = task.always_timed;
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

void PointRunner::refuse(PlanPoint& point, std::string because) {
  point.status = PointStatus::Refused;
  point.because = std::move(because);
  point.figures.reset();
  point.devices = 0;
  point.beyond = 0;
}

void PointRunner::does_not_fit(PlanPoint& point, double beyond, std::string because) {
  if (point.status == PointStatus::DoesNotFit)
    return;
  point.status = PointStatus::DoesNotFit;
  point.beyond = beyond;
  point.because = std::move(because);
}

void PointRunner::check_devices(PlanPoint& point) {
  const std::optional<int64_t>& most = point.terms.constraints.devices;
  if (most && point.devices > *most)
    does_not_fit(
        point, excess(point.devices, static_cast<double>(*most)),
        more_than(fmt::format("devices: {}", point.devices), std::to_string(point.devices - *most),
                  fmt::format("the {} allowed", *most)));
}

void PointRunner::check_memory(const PointFigures& figures, PlanPoint& point) {
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

void PointRunner::check_makespan(Duration makespan, PlanPoint& point) {
  const std::optional<Duration>& most = point.terms.constraints.makespan;
  if (most && makespan > *most)
    does_not_fit(point,
                 excess(static_cast<double>(makespan.count()), static_cast<double>(most->count())),
                 more_than(PlanAxis::Makespan, makespan, *most, "allowed"));
}

void refuse_plan(const Plan& plan, size_t points, const PlanPoint& first) {
  throw InputError(plan.file(),
                   {{{},
                     fmt::format("expected a point that can be timed, got none of {}; the first is "
                                 "refused: {}",
                                 points, first.because)}});
}

}  // namespace orrery
