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
constexpr size_t kPointsShown = 4000;  // so that a page stays under 5 MB

/// Returns the points that the page shows, in the order of the report: all, or the front, the cases
/// and those that fit best.
std::vector<size_t> points_shown(const Plan& plan, const PlanReport& report) {
  std::vector<size_t> points(report.points.size());
  std::iota(points.begin(), points.end(), size_t{0});
  if (points.size() <= kPointsShown)
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
  points.resize(kPointsShown);
  std::sort(points.begin(), points.end());
  return points;
}

std::string question(const Plan& plan) {
  std::string html = fmt::format("<p class=\"dim\">{}</p>\n", html_of(plan.file()));
  Table table({Table::Align::Left, Table::Align::Left});
  table.row({"name", "values"});
  for (size_t n = 0; n < plan.names().size(); ++n) {
    std::vector<std::string> values;
    for (const TemplateValue& value : plan.sweep()[n])
      values.push_back(shown(value));
    table.row({plan.names()[n], fmt::format("{}", fmt::join(values, ", "))});
  }
  std::vector<std::string_view> axes;
  for (const PlanAxis axis : plan.minimize())
    axes.push_back(key_of(axis));
  return html + table.html() +
         fmt::format(
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
  const std::optional<PlanWork>& work = report.points[groups[0].points[0]].terms.work;
  std::string data;
  JsonWriter json(data);
  json.object([&] {
    json.key("of").value(work ? fmt::format("time of a million {}", work->unit) : "time of a run");
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
                json.key("y").value(figure_of(point, PlanAxis::Makespan) * kPicoseconds *
                                    (work ? kMillion : 1));
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
  const std::vector<size_t> points = points_shown(plan, report);
  const Outline outline = plan_outline(plan, report, points, kPageStyle);
  const Outline of_front = plan_outline(plan, report, {}, kPageStyle);
  page.section("question", "Question", question(plan));
  page.section("answer", "Answer",
               html_of(outline, "answer") + html_of(outline, "time") + html_of(outline, "kinds"));
  page.section("front", "Front", front_chart(report, points) + html_of(of_front, "front"));
  if (shown != nullptr)
    add_run(page, *shown);
  page.section("what-if", "What if", html_of(outline, "what-if"));
  std::string table = html_of(outline, "table");
  if (points.size() < report.points.size())
    table += fmt::format(
        "<p>These are {} of {} points: the front, the cases, and those that fit best. "
        "<code>--format csv</code> has all.</p>\n",
        points.size(), report.points.size());
  page.section("table", "Table", table);
  if (shown != nullptr) {
    add_assumptions(page, shown->labels);
    add_accuracy(page, shown->scenario->cluster.name);
  }
  return page.text();
}

}  // namespace orrery
