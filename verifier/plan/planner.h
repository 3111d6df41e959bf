#pragma once

// The planner answers a plan (models/scenario/plan.h): it times each point that can fit, and says
// which are best, why the others do not fit, and what would change that.
//  1. A point's devices are counted, then its memory, then its time (point.h). A point that breaks
//     a constraint is not taken further. A point that is no scenario, or whose program
//     hangs, is refused.
//  2. The points that fit are compared by the figures that the plan minimizes.
//  3. The best point and each case are timed again on better hardware (Improvement,
//  cluster_json.h).
//  4. If a case does not fit, or nothing does, the planner looks for the smallest change of one
//     number that would make it fit.
// The report does not depend on the number of threads.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/cluster_json.h"
#include "models/scenario/plan.h"
#include "models/scenario/size_limits.h"
#include "verifier/plan/point.h"

namespace orrery {

struct PlanPoint;

/// A PlanStore keeps points that were worked out, so that no process works them out again. A unit
/// is a point on the plan's cluster or on a better one; its text names it within the plan.
class PlanStore {
 public:
  PlanStore() = default;
  PlanStore(const PlanStore&) = delete;
  PlanStore& operator=(const PlanStore&) = delete;
  virtual ~PlanStore() = default;

  // Several threads call these at the same time.

  /// Returns what add() was given: the point's status and figures. Nothing if it is not there.
  virtual std::optional<PlanPoint> find(const std::string& unit) = 0;
  virtual void add(const std::string& unit, const PlanPoint& point) = 0;
};

struct PlanOptions {
  unsigned jobs = 1;  // threads
  uint64_t seed = 0;  // of jitter
  Limits limits = {};
  /// If it is given, it is told how many points of how many are done, by one thread at a time.
  std::function<void(uint64_t done, uint64_t all)> progress = {};
  PlanStore* store = nullptr;  // if it is given, what it has is not worked out again
};

enum class PointStatus : uint8_t { Fits, DoesNotFit, Refused };

struct PlanPoint {
  std::string id;  // of a case, or "tp=4,dp=2"
  std::vector<TemplateValue> values;
  PlanTerms terms;
  PointStatus status = PointStatus::Refused;
  std::string because;                  // why it does not fit, or is refused; else ""
  std::optional<PointFigures> figures;  // absent if it is refused, or has too many devices
  uint32_t devices = 0;                 // 0 if it is refused
  /// How far it is beyond the constraint that it breaks: 0.1 if it needs a tenth more.
  double beyond = 0;

  /// Returns null if it was not timed.
  const PointTimes* times() const { return figures && figures->times ? &*figures->times : nullptr; }
};

/// A point on hardware that is better in one way.
struct WhatIfResult {
  Improvement improvement;
  PlanPoint point;  // with more memory: the point that is then best
};
struct WhatIf {
  size_t point = 0;  // index among the report's points
  std::vector<WhatIfResult> results;
};

/// A change of one number of a point that does not fit, with which it would fit.
struct PlanChange {
  size_t point = 0;  // index among the report's points
  size_t name = 0;   // index among the plan's names
  TemplateValue from;
  TemplateValue to;
};

struct PlanReport {
  std::vector<PlanPoint> points;  // those of the sweep in its order, then the cases
  size_t swept = 0;               // how many are of the sweep
  std::optional<size_t> best;
  std::optional<size_t> fewest_devices;
  /// Those that fit and that no other point beats: better in one figure and no worse in the others.
  /// Among points that are equal in these figures, the one that compares best is there.
  std::vector<size_t> front;
  std::optional<size_t> nearest;  // if nothing fits: the point that is least beyond
  std::vector<PlanChange> changes;
  std::vector<WhatIf> what_if;
  /// Patterns of the plan's kinds that match no argument of any point whose figures are known.
  std::vector<std::string> unmatched;
  // These count points of the sweep: those that were timed, those that cannot fit, and so were not,
  // and those that are refused.
  uint64_t timed = 0;
  uint64_t pruned = 0;
  uint64_t refused = 0;
};

/// Returns the figure of a point that has times by which points are compared, for display: less is
/// better. Makespan and cost are those of a unit of work, if the plan says the work.
double figure_of(const PlanPoint& point, PlanAxis axis);

/// Returns the work per second of a point on all its devices, for display. It is absent if the plan
/// says no work, or the point was not timed or takes no time.
std::optional<double> work_per_second(const PlanPoint& point);

/// Returns the cost of a unit of work, or of a run, for display. It is absent without a price, and
/// if the point was not timed.
std::optional<double> cost_of(const PlanPoint& point);

/// Returns the memory that a point may take: that of a device, or less if it is constrained.
std::optional<Bytes> most_memory(const PointFigures& figures, const PlanConstraints& constraints);

/// A PointTask is a point that is to be worked out.
struct PointTask {
  std::string id;
  std::vector<TemplateValue> values;
  bool always_timed = false;  // also if it cannot fit
  std::optional<Improvement> improvement = {};
};

/// Returns the points of the sweep, in its order, and then the cases.
std::vector<PointTask> tasks_of(const Plan& plan);

/// Returns the name of the unit: the values, the id of a case, and what else the point's figures
/// depend on.
std::string unit_of(const Plan& plan, const PointTask& task);

/// A PointRunner works out the points of a plan, in several threads.
class PointRunner {
 public:
  PointRunner(const Plan& plan, const PlanOptions& options);

  /// Returns the points of the tasks.
  std::vector<PlanPoint> run(const std::vector<PointTask>& tasks, bool tells_progress = false);
  PlanPoint run_one(const PointTask& task) { return run({task}).front(); }

 private:
  RunOptions run_options() const;
  PlanPoint known_or_new(const PointTask& task, const RunOptions& run) const;
  PlanPoint point(const PointTask& task, const RunOptions& run) const;
  /// Refuses a price that cannot be compared with that of the first point.
  void check_currency(const PlanTerms& terms) const;
  void judge(const PointTask& task, const RunOptions& run, PlanPoint& made) const;
  static void refuse(PlanPoint& point, std::string because);
  static void does_not_fit(PlanPoint& point, double beyond, std::string because);
  static void check_devices(PlanPoint& point);
  static void check_memory(const PointFigures& figures, PlanPoint& point);
  static void check_makespan(Duration makespan, PlanPoint& point);

  const Plan& plan_;
  const PlanOptions& options_;
  const std::optional<std::string> first_currency_;
  const std::shared_ptr<SharedWork> shared_ = shared_work();  // by the threads
};

/// A PointOrder compares points that have times, by the plan's figures in their order, then by the
/// others.
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

/// Throws InputError since all points of the sweep are refused. `first` is the first of them.
[[noreturn]] void refuse_plan(const Plan& plan, size_t points, const PlanPoint& first);

/// Times the plan. Throws InputError if the plan is wrong, or if all points of
/// the sweep are refused.
PlanReport answer(const Plan& plan, const PlanOptions& options = {});

/// A PlanPart is one of `of` parts of a plan's points and cases. Part 1 has the first of them, and
/// each `of`-th after it.
struct PlanPart {
  uint64_t part = 1;
  uint64_t of = 1;
};

struct PartDone {
  uint64_t points = 0;      // of the part
  uint64_t were_there = 0;  // of these: those that the store had before
};

/// Works out the points of a part that the store does not have. Requires a store.
PartDone work_out(const Plan& plan, const PlanPart& part, const PlanOptions& options);

/// Returns the points and cases that the store does not have, by id. Requires a store.
std::vector<std::string> missing_points(const Plan& plan, PlanStore& store);

/// A Largest is the largest value of a name with which a point fits.
struct Largest {
  TemplateValue value;
  PlanPoint point;  // the best one with that value
};

/// A LargestSearch answers which value of a name is the largest with which a point fits.
struct LargestSearch {
  std::optional<Largest> largest;  // empty: nothing fits with any value
  /// The point with the next larger value that comes nearest to what is allowed; if nothing fits,
  /// the nearest of those that were tried.
  std::optional<PlanPoint> does_not_fit;
  uint64_t points = 0;   // of the plan
  uint64_t tried = 0;    // of these
  uint64_t refused = 0;  // of those that were tried
  /// Why values were tried from the largest down: a constrained figure that was seen to fall. It is
  /// "" if all were found by bisection.
  std::string falls;
};

/// Finds the largest of the name's values, which must be whole numbers, with which a point fits.
/// For each combination of the other names' values it bisects: with a larger value, a point has no
/// less memory, time and devices, as far as these are constrained. Points that are refused are
/// passed over. Where a figure is seen to fall, values are tried from the largest down. All points
/// with the value that is found, and with the next larger one, are worked out. Throws InputError if
/// the plan is wrong, or if all points are refused.
LargestSearch largest_that_fits(const Plan& plan, size_t name, const PlanOptions& options = {});

}  // namespace orrery
