#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "models/scenario/quantity_text.h"
#include "verifier/plan/planner.h"

namespace orrery {
namespace {

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

LargestSearch largest_that_fits(const Plan& plan, size_t name, const PlanOptions& options) {
  return LargestFinder(plan, name, options).search();
}

}  // namespace orrery
