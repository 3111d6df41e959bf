#include "tools/report/plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/amount_text.h"
#include "tools/report/figures.h"
#include "tools/report/outline.h"

namespace orrery {
namespace {

std::string_view text_of(Improvement improvement) {
  switch (improvement) {
    case Improvement::FasterLinks:
      return "links twice as fast";
    case Improvement::FasterFlops:
      return "flops twice as fast";
    case Improvement::FasterMemory:
      return "memory bandwidth twice as fast";
    case Improvement::NoLatency:
      return "no latency";
    case Improvement::NoLaunch:
      return "no launch time";
    case Improvement::MoreMemory:
      break;
  }
  return "a quarter more memory";
}

/// Returns a number with so many significant digits, or grouped if it has four or more before the
/// point: "40,300", "1.23". A number has an exponent if a double does not hold all of its digits.
std::string rounded(double number, int digits = 3) {
  constexpr double kMostWhole = 9007199254740992;  // 2^53
  if (number >= 1000 && number < kMostWhole)
    return grouped(static_cast<uint64_t>(number + 0.5));
  return fmt::format("{:.{}g}", number, digits);
}

/// Returns the cost of a million units of work, or of a million runs: "0.0123 USD".
std::string cost_text(const PlanPoint& point) {
  constexpr double kMillion = 1e6;
  const double cost = cost_of(point).value_or(0) * kMillion;
  return fmt::format("{} {}", rounded(cost, 4), point.terms.price->currency);
}

/// Returns "-12.3 %", with two digits at least.
std::string change_text(double percent) {
  return percent <= -1 || percent >= 1 ? fmt::format("{:+.1f} %", percent)
                                       : fmt::format("{:+.2g} %", percent);
}

/// Returns whether the point was timed, and its program has something to do.
bool takes_time(const PlanPoint& point) {
  return point.times() != nullptr && point.times()->makespan > Duration();
}

/// Returns what most lines say of a point: its time, devices and memory.
std::string figures_text(const PlanPoint& point, const Style& style) {
  std::vector<std::string> texts;
  if (takes_time(point))
    texts.push_back(time_text(point.times()->makespan, style.ascii()));
  texts.push_back(counted(point.devices, "device"));
  if (point.figures)
    texts.push_back(point.figures->capacity
                        ? fmt::format("{} of {}", size_text(point.figures->peak),
                                      size_text(*point.figures->capacity))
                        : size_text(point.figures->peak));
  if (const auto rate = work_per_second(point))
    texts.push_back(fmt::format("{} {}/s, {} a device", rounded(*rate), point.terms.work->unit,
                                rounded(*rate / point.devices)));
  if (const PointTimes* const times = point.times(); times != nullptr && times->mfu)
    texts.push_back(fmt::format("MFU {}", share_text(*times->mfu)));
  if (cost_of(point))
    texts.push_back(fmt::format("{} a million {}", cost_text(point),
                                point.terms.work ? point.terms.work->unit : "runs"));
  return fmt::format("{}", fmt::join(texts, ", "));
}

class PlanOutline {
 public:
  PlanOutline(const Plan& plan, const PlanReport& report, const Style& style)
      : plan_(plan), report_(report), style_(style) {}

  Outline outline(const std::vector<size_t>& points) {
    outline_.title = plan_.name().empty() ? plan_.file() : plan_.name();
    begin("answer", "");
    add_counts();
    add_answers();
    add_cases();
    add_reasons();
    add_unmatched();
    if (report_.front.size() > 1 && points.empty())
      add_front();
    if (!points.empty()) {
      begin("table", "points");
      add_table(points);
    }
    if (const std::optional<size_t> shown = report_.best ? report_.best : report_.nearest)
      add_details(report_.points[*shown]);
    if (has([](const PlanPoint& p) { return takes_time(p); }))
      add_what_if();
    if (report_.best)
      add_assumptions(report_.points[*report_.best]);
    return std::move(outline_);
  }

 private:
  void add_counts() {
    size_t fit = 0;
    for (size_t p = 0; p < report_.swept; ++p)
      fit += report_.points[p].status == PointStatus::Fits ? 1 : 0;
    const size_t others = report_.swept - fit - report_.refused;
    std::string text =
        fmt::format("{}: {} {}, {} {} not", counted(to_int(report_.swept), "point"), fit,
                    fit == 1 ? "fits" : "fit", others, others == 1 ? "does" : "do");
    if (report_.pruned > 0)
      text += fmt::format(" ({} of them {} not timed)", report_.pruned,
                          report_.pruned == 1 ? "was" : "were");
    if (report_.refused > 0)
      text += fmt::format(", {} {} refused", report_.refused, report_.refused == 1 ? "is" : "are");
    items().emplace_back(Outline::Paragraph{std::move(text)});
  }

  void add_answers() {
    if (!report_.best) {
      items().emplace_back(Outline::Paragraph{style_.bad("nothing fits")});
      if (report_.nearest) {
        const PlanPoint& nearest = report_.points[*report_.nearest];
        add_line("nearest", fmt::format("{}: {}", style_.bold(nearest.id), nearest.because));
        add_change(*report_.nearest);
      }
      return;
    }
    add_line(plan_.minimize().front() == PlanAxis::Makespan
                 ? "fastest"
                 : fmt::format("least {}", orrery::key_of(plan_.minimize().front())),
             point_text(*report_.best));
    if (*report_.fewest_devices != *report_.best &&
        report_.points[*report_.fewest_devices].devices < report_.points[*report_.best].devices)
      add_line("fewest devices", point_text(*report_.fewest_devices));
  }

  void add_cases() {
    for (size_t p = report_.swept; p < report_.points.size(); ++p) {
      const PlanPoint& point = report_.points[p];
      add_line("case", point_text(p));
      if (point.status != PointStatus::Fits)
        add_line("",
                 style_.bad(fmt::format(
                     "{}: {}", point.status == PointStatus::Refused ? "refused" : "does not fit",
                     point.because)));
      if (point.status == PointStatus::DoesNotFit)
        add_change(p);
    }
  }

  /// Says with which change a point that does not fit would fit.
  void add_change(size_t of) {
    const auto change = std::ranges::find(report_.changes, of, &PlanChange::point);
    add_line(
        "", change == report_.changes.end()
                ? "it would not fit with any change of one number, to an eighth up to 8 times"
                : fmt::format("it would fit with {} = {} in the place of {}",
                              plan_.names()[change->name], shown(change->to), shown(change->from)));
  }

  /// Names patterns of "kinds" that are probably misspelt.
  void add_unmatched() {
    if (!report_.unmatched.empty())
      add_line("kinds", fmt::format("no argument of any point matches {}",
                                    fmt::join(report_.unmatched, ", ")));
  }

  /// Says why points do not fit: for each constraint the point that is least beyond it.
  void add_reasons() {
    struct Reason {
      size_t count = 0;
      size_t nearest = 0;
    };
    std::map<std::string, Reason> reasons;
    std::optional<size_t> refused;
    for (size_t p = 0; p < report_.swept; ++p) {
      const PlanPoint& point = report_.points[p];
      if (point.status == PointStatus::Refused && !refused)
        refused = p;
      if (point.status != PointStatus::DoesNotFit)
        continue;
      Reason& reason = reasons[point.because.substr(0, point.because.find(':'))];
      if (reason.count++ == 0 || point.beyond < report_.points[reason.nearest].beyond)
        reason.nearest = p;
    }
    for (const auto& [constraint, reason] : reasons)
      if (report_.best || reasons.size() > 1)
        add_line(
            "does not fit",
            fmt::format("{}, the nearest {}: {}", counted(to_int(reason.count), "point"),
                        report_.points[reason.nearest].id, report_.points[reason.nearest].because));
    if (refused)
      add_line("refused",
               fmt::format("{}, the first {}: {}",
                           counted(static_cast<int64_t>(report_.refused), "point"),
                           report_.points[*refused].id, report_.points[*refused].because));
  }

  void add_front() {
    std::vector<std::string_view> axes;
    for (const PlanAxis axis : plan_.minimize())
      axes.push_back(orrery::key_of(axis));
    begin("front", "front",
          fmt::format("no point is better in one of {} and no worse in the others; of equal points "
                      "one",
                      fmt::join(axes, ", ")));
    add_table(report_.front);
  }

  void add_table(const std::vector<size_t>& points) {
    const bool timed = has(takes_time);
    const bool works = has([](const PlanPoint& p) { return work_per_second(p).has_value(); });
    const bool costs = timed && has([](const PlanPoint& p) { return cost_of(p).has_value(); });
    const bool uses_flops = has([](const PlanPoint& p) { return p.times() && p.times()->mfu; });
    const bool has_reasons = std::any_of(points.begin(), points.end(), [&](size_t p) {
      return report_.points[p].status != PointStatus::Fits;
    });
    const std::string per_work = fmt::format("a million {}", works ? unit_of_work() : "runs");
    const std::vector<std::pair<std::string, bool>> columns = {
        {"point", true},     {"devices", true},   {"time", timed},
        {"compute", timed},  {"exposed", timed},  {"idle", timed},
        {"launch", timed},   {"peak", true},      {unit_of_work() + "/s", works},
        {"MFU", uses_flops}, {"HFU", uses_flops}, {per_work, costs},
        {"", has_reasons}};
    std::vector<Table::Align> align(columns.size(), Table::Align::Right);
    align.front() = Table::Align::Left;
    align.back() = Table::Align::Left;
    Table table(align);
    std::vector<std::string> head;
    for (const auto& [name, shown] : columns)
      head.push_back(name);
    table.row(head);
    for (const size_t p : points)
      table.row(cells(report_.points[p]));
    for (size_t c = 0; c < columns.size(); ++c)
      if (!columns[c].second)
        table.leave_out(c);
    items().emplace_back(std::move(table));
  }

  /// Returns all columns of a point's row.
  std::vector<std::string> cells(const PlanPoint& point) const {
    const PointTimes* const times = point.times();
    const auto time = [&](Duration of) {
      return times == nullptr ? std::string() : time_text(of, style_.ascii());
    };
    const auto share = [](const std::optional<double>& of) {
      return of ? share_text(*of) : std::string();
    };
    const PointTimes shown = times == nullptr ? PointTimes() : *times;
    const std::optional<double> rate = work_per_second(point);
    return {point.id,
            point.devices == 0 ? "" : std::to_string(point.devices),
            time(shown.makespan),
            time(shown.parts.compute),
            time(shown.parts.exposed),
            time(shown.parts.idle),
            time(shown.parts.launch),
            point.figures ? size_text(point.figures->peak) : "",
            rate ? rounded(*rate) : "",
            share(shown.mfu),
            share(shown.hfu),
            cost_of(point) ? cost_text(point) : "",
            point.status == PointStatus::Fits ? "" : point.because};
  }

  void add_details(const PlanPoint& point) {
    if (const PointTimes* const times = point.times(); takes_time(point)) {
      begin("time", "time of " + point.id);
      const TimeParts& parts = times->parts;
      for (const auto& [what, takes] :
           {std::pair("compute", parts.compute), std::pair("exposed communication", parts.exposed),
            std::pair("idle", parts.idle), std::pair("launch", parts.launch)})
        add_bar(what, time_text(takes, style_.ascii()), takes.count(), times->makespan.count());
    }
    if (point.figures && !point.figures->memory.empty()) {
      begin("kinds", "memory of " + point.id + " at its peak");
      for (const MemoryOfKind& memory : point.figures->memory)
        add_bar(memory.kind, size_text(memory.bytes), memory.bytes.count(),
                point.figures->peak.count());
    }
  }

  void add_what_if() {
    for (const WhatIf& what_if : report_.what_if) {
      const PlanPoint& before = report_.points[what_if.point];
      begin("what-if", "what if, for " + before.id);
      for (const WhatIfResult& result : what_if.results) {
        std::string said = "cannot be said: " + result.point.because;
        if (result.point.times() != nullptr && result.point.id != before.id) {
          said = fmt::format("{} fits: {}", result.point.id, other_text(before, result.point));
        } else if (result.point.times() != nullptr) {
          said = time_change(before, result.point);
          if (result.point.status != before.status && result.point.status == PointStatus::Fits)
            said += ", and it fits";
        }
        add_line(text_of(result.improvement), std::move(said));
      }
    }
  }

  /// Returns the time of the same work on other hardware.
  std::string time_change(const PlanPoint& before, const PlanPoint& now) const {
    const Duration from = before.times()->makespan;
    const Duration to = now.times()->makespan;
    const double share =
        static_cast<double>(to.count()) / static_cast<double>(std::max<int64_t>(from.count(), 1));
    return from == to ? "the same time"
                      : fmt::format("{}, {}", time_text(to, style_.ascii()),
                                    change_text((share - 1) * 100));
  }

  /// Returns the figures of another point, which may do other work on other devices.
  std::string other_text(const PlanPoint& before, const PlanPoint& now) const {
    const std::optional<double> from = work_per_second(before);
    const std::optional<double> to = work_per_second(now);
    std::string text =
        from && to
            ? fmt::format("{}, {} {}/s, {}", time_text(now.times()->makespan, style_.ascii()),
                          rounded(*to), unit_of_work(), change_text((*to / *from - 1) * 100))
            : time_change(before, now);
    if (now.devices != before.devices)
      text += fmt::format(", on {} instead of {}", counted(int64_t{now.devices}, "device"),
                          before.devices);
    return text;
  }

  void add_assumptions(const PlanPoint& point) {
    if (point.figures->labels.empty())
      return;
    begin("assumptions", "assumed of " + point.id);
    for (const std::string& label : point.figures->labels)
      items().emplace_back(Outline::Paragraph{label});
  }

  void begin(std::string id, std::string title, std::string note = "") {
    outline_.sections.push_back({std::move(id), std::move(title), std::move(note), {}});
  }

  std::vector<Outline::Item>& items() { return outline_.sections.back().items; }

  void add_line(std::string_view label, std::string said) {
    items().emplace_back(Outline::Line{std::string(label), std::move(said)});
  }

  void add_bar(std::string_view label, std::string amount, int64_t part, int64_t whole) {
    items().emplace_back(Outline::Bar{std::string(label), std::move(amount), part, whole});
  }

  std::string point_text(size_t p) const {
    const PlanPoint& point = report_.points[p];
    if (point.status == PointStatus::Refused)
      return style_.bold(point.id);
    return style_.bold(point.id) + "  " + figures_text(point, style_);
  }

  std::string unit_of_work() const {
    for (const PlanPoint& point : report_.points)
      if (point.status != PointStatus::Refused && point.terms.work)
        return point.terms.work->unit;
    return "";
  }

  template <class Wanted>
  bool has(Wanted wanted) const {
    return std::any_of(report_.points.begin(), report_.points.end(), wanted);
  }

  static int64_t to_int(size_t count) { return static_cast<int64_t>(count); }

  const Plan& plan_;
  const PlanReport& report_;
  const Style& style_;
  Outline outline_;
};

}  // namespace

Outline plan_outline(const Plan& plan, const PlanReport& report, const std::vector<size_t>& points,
                     const Style& style) {
  return PlanOutline(plan, report, style).outline(points);
}

std::string plan_text(const Plan& plan, const PlanReport& report, bool all_points,
                      const Style& style) {
  std::vector<size_t> points(all_points ? report.points.size() : 0);
  std::iota(points.begin(), points.end(), size_t{0});
  return outline_text(plan_outline(plan, report, points, style), style);
}

std::string largest_text(const Plan& plan, size_t name, const LargestSearch& search,
                         const Style& style) {
  std::string how = "from the largest value down, since " + search.falls;
  if (search.largest && !search.does_not_fit)
    how = fmt::format("the sweep has no larger value{}",
                      search.refused > 0 ? " that is not refused" : "");
  else if (search.falls.empty())
    how = fmt::format("by bisection, since no constrained figure was seen to fall where {} grows",
                      plan.names()[name]);
  how += fmt::format(": {} of {} {} tried", search.tried,
                     counted(static_cast<int64_t>(search.points), "point"),
                     search.tried == 1 ? "was" : "were");
  if (search.refused > 0)
    how +=
        fmt::format(", {} of them {} refused", search.refused, search.refused == 1 ? "is" : "are");
  std::string text;
  if (search.largest)
    text =
        fmt::format("largest {} that fits: {}\n  {}  {}\n", plan.names()[name],
                    style.bold(shown(search.largest->value)), style.bold(search.largest->point.id),
                    figures_text(search.largest->point, style));
  else
    text = style.bad(fmt::format("no value of {} {}", plan.names()[name],
                                 search.tried < search.points ? "was found that fits" : "fits")) +
           "\n";
  if (search.does_not_fit)
    text += fmt::format("  {}  does not fit: {}\n", search.does_not_fit->id,
                        search.does_not_fit->because);
  return text + fmt::format("  {}\n", how);
}

}  // namespace orrery
