// The answers to a plan as a page.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/amount_text.h"
#include "tools/report/json_writer.h"
#include "tools/report/laws.h"
#include "tools/report/outline.h"
#include "tools/report/plan.h"

namespace orrery {
namespace {

constexpr double kPicoseconds = 1e12;  // of a second
constexpr double kMillion = 1e6;
// A page stays under 5 MB with these.
constexpr size_t kPointsShown = 4000;
constexpr size_t kFrontShown = 400;
constexpr size_t kBytesOfIds = 600'000;  // of the points that are shown; each is there twice
constexpr size_t kValuesShown = 40;
constexpr size_t kColumnsOfValue = 200;

/// Returns the points that the page shows, in the order of the report: all, or the front, the cases
/// and those that fit best.
std::vector<size_t> points_shown(const Plan& plan, const PlanReport& report) {
  std::vector<size_t> points(report.points.size());
  std::iota(points.begin(), points.end(), size_t{0});
  size_t bytes = 0;
  for (const PlanPoint& point : report.points)
    bytes += point.id.size() + point.because.size();
  if (points.size() <= kPointsShown && bytes <= kBytesOfIds)
    return points;
  const std::set<size_t> front(report.front.begin(), report.front.end());
  const auto rank = [&](size_t p) {
    const PlanPoint& point = report.points[p];
    const bool first = front.contains(p) || p >= report.swept;
    return std::pair(first                               ? 0
                     : point.status == PointStatus::Fits ? 1
                                                         : 2,
                     point.times() != nullptr ? figure_of(point, plan.minimize().front()) : 0.0);
  };
  std::stable_sort(points.begin(), points.end(),
                   [&](size_t a, size_t b) { return rank(a) < rank(b); });
  size_t kept = 0;
  for (bytes = 0; kept < std::min(points.size(), kPointsShown); ++kept) {
    const PlanPoint& point = report.points[points[kept]];
    bytes += point.id.size() + point.because.size();
    if (bytes > kBytesOfIds)
      break;
  }
  points.resize(kept);
  std::sort(points.begin(), points.end());
  return points;
}

std::string question(const Plan& plan) {
  std::string html = fmt::format("<p class=\"dim\">{}</p>\n", html_text(plan.file()));
  Table table({Table::Align::Left, Table::Align::Left});
  table.row({"name", "values"});
  for (size_t n = 0; n < plan.names().size(); ++n) {
    std::vector<std::string> values;
    for (const TemplateValue& value : plan.sweep()[n]) {
      if (values.size() == kValuesShown) {
        values.push_back(fmt::format("and {} more", plan.sweep()[n].size() - kValuesShown));
        break;
      }
      values.push_back(shortened(shown(value), kColumnsOfValue, kPageStyle));
    }
    table.row({plan.names()[n], fmt::format("{}", fmt::join(values, ", "))});
  }
  std::vector<std::string_view> axes;
  for (const PlanAxis axis : plan.minimize())
    axes.push_back(key_of(axis));
  html += table.html();
  Table keys({Table::Align::Left, Table::Align::Left});
  keys.row({"key", "what the plan says"});
  bool has_keys = false;
  for (const std::string_view key : {"where", "constraints", "work", "price", "cases", "kinds"})
    if (const std::optional<std::string> said = plan.said(key)) {
      keys.row({std::string(key), key == "where" ? std::string(plan.where()) : *said});
      has_keys = true;
    }
  if (has_keys)
    html += keys.html();
  return html + fmt::format(
                    "<p>Points are compared by {}: less is better, and the first decides which is "
                    "best.</p>\n",
                    fmt::join(axes, ", "));
}

/// Returns the chart of the points that were timed.
std::string front_chart(const PlanReport& report, const std::vector<size_t>& shown) {
  struct Group {
    std::string_view name;
    std::string_view colour;
    std::string_view shape;
    int radius = 4;
    std::vector<size_t> points = {};
  };
  std::vector<Group> groups = {{"front", "good", "rectRot", 7},
                               {"fits", "compute", "circle", 4},
                               {"does not fit", "bad", "crossRot", 5},
                               {"cases", "launch", "triangle", 6}};
  const std::set<size_t> front(report.front.begin(), report.front.end());
  for (const size_t p : shown) {
    const PlanPoint& point = report.points[p];
    if (point.times() == nullptr)
      continue;
    const size_t group = p >= report.swept                   ? 3
                         : front.contains(p)                 ? 0
                         : point.status == PointStatus::Fits ? 1
                                                             : 2;
    groups[group].points.push_back(p);
  }
  std::erase_if(groups, [](const Group& group) { return group.points.empty(); });
  if (groups.empty())
    return "<p>No point was timed.</p>\n";
  // Where nothing takes time, the front is of devices and memory.
  const bool timed = std::ranges::any_of(report.points, [](const PlanPoint& point) {
    return point.times() != nullptr && point.times()->makespan > Duration();
  });
  const std::optional<PlanWork>& work = report.points[groups[0].points[0]].terms.work;
  std::string data;
  JsonWriter json(data);
  json.object([&] {
    json.key("of").value(!timed ? std::string("peak memory of a device")
                         : work ? fmt::format("time of a million {}", work->unit)
                                : std::string("time of a run"));
    json.key("scale").value(timed ? "time" : "bytes");
    json.key("groups").array([&] {
      for (const Group& group : groups)
        json.object([&] {
          json.key("name").value(group.name);
          json.key("colour").value(group.colour);
          json.key("shape").value(group.shape);
          json.key("radius").value(group.radius);
          json.key("points").array([&] {
            for (const size_t p : group.points) {
              const PlanPoint& point = report.points[p];
              json.object([&] {
                json.key("id").value(point.id);
                if (timed)
                  json.key("y").value(figure_of(point, PlanAxis::Makespan) * kPicoseconds *
                                      (work ? kMillion : 1));
                else
                  json.key("y").value(point.figures->peak.count());
                json.key("time").value(point.times()->makespan.count());
                json.key("devices").value(point.devices);
                json.key("peak").value(point.figures->peak.count());
              });
            }
          });
        });
    });
  });
  return chart_html("front", "time of each point against devices or memory", data);
}

}  // namespace

std::string plan_html(const Plan& plan, const PlanReport& report, const Report* shown) {
  HtmlPage page(plan.name().empty() ? plan.file() : plan.name());
  const std::optional<size_t> of = report.best ? report.best : report.nearest;
  const std::vector<size_t> points = points_shown(plan, report);
  const Outline outline = plan_outline(plan, report, points, kPageStyle);
  const std::vector<size_t> front(
      report.front.begin(),
      report.front.begin() + static_cast<ptrdiff_t>(std::min(report.front.size(), kFrontShown)));
  page.section("question", "Question", question(plan));
  page.section("answer", "Answer",
               html_of(outline, "answer") + html_of(outline, "time") + html_of(outline, "kinds"));
  std::string of_front = front_chart(report, points);
  if (!front.empty())
    of_front +=
        "<p class=\"dim\">No point is better in one of these figures and no worse in the "
        "others; of equal points one:</p>\n" +
        html_of(plan_outline(plan, report, front, kPageStyle), "table", Titles::LeftOut);
  if (front.size() < report.front.size())
    of_front += fmt::format("<p>and {} more</p>\n", report.front.size() - front.size());
  page.section("front", "Front", of_front);
  if (shown != nullptr)
    add_run(page, *shown, report.points[*of].terms.constraints.peak_memory);
  else
    add_no_run(page, report.best ? "The best point was not run."
                                 : "Nothing fits, and no point is near enough to be run.");
  const std::string what_if = html_of(outline, "what-if");
  page.section("what-if", "What if",
               what_if.empty() ? "<p>No point that takes time was asked about.</p>\n" : what_if);
  std::string table = html_of(outline, "table", Titles::LeftOut);
  if (points.size() < report.points.size())
    table += fmt::format(
        "<p>These are {} of {} points: the front, the cases, and those that fit best. "
        "<code>--format csv</code> has all.</p>\n",
        points.size(), report.points.size());
  page.section("table", "Table", table);
  add_assumptions(page, of && report.points[*of].figures ? report.points[*of].figures->labels
                                                         : std::vector<std::string>());
  if (shown != nullptr)
    add_accuracy(page, *shown->scenario);
  else
    page.section("accuracy", "Accuracy", "<p>No cluster was used.</p>\n");
  return page.text();
}

}  // namespace orrery
