// orrery plan times the points of a plan, and says which are best.

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/diagnostics.h"
#include "models/scenario/plan.h"
#include "models/scenario/writer.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "tools/cli/overrides.h"
#include "tools/report/plan.h"
#include "verifier/plan/planner.h"
#include "verifier/run.h"

namespace orrery {
namespace {

/// Returns the name in "largest:NAME", whose values must be whole numbers.
size_t name_to_find(const Plan& plan, std::string_view find) {
  constexpr std::string_view kLargest = "largest:";
  if (!find.starts_with(kLargest))
    refuse("--find", fmt::format("expected largest:NAME, got {}", in_quotes(find)));
  const std::string_view name = find.substr(kLargest.size());
  const std::vector<std::string_view> names(plan.names().begin(), plan.names().end());
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    refuse("--find", fmt::format("expected one of {}, got {}{}", fmt::join(names, ", "),
                                 in_quotes(name), did_you_mean(name, names)));
  const auto index = static_cast<size_t>(found - names.begin());
  for (const TemplateValue& value : plan.sweep()[index])
    if (!std::holds_alternative<int64_t>(value.is))
      refuse("--find", fmt::format("expected a name whose values are whole numbers, got {} = {}",
                                   name, shown(value)));
  return index;
}

/// Returns the values of the point or the case with this id.
std::vector<TemplateValue> values_of(const Plan& plan, const std::string& id) {
  for (const PlanCase& each : plan.cases())
    if (each.id == id)
      return each.values;
  std::vector<std::vector<TemplateValue>> points = plan.points();
  for (std::vector<TemplateValue>& values : points)
    if (point_id(plan, values) == id)
      return std::move(values);
  refuse("--scenario", fmt::format("expected the id of a point, such as {}, got {}",
                                   in_quotes(point_id(plan, points.front())), in_quotes(id)));
}

std::string read_plan(const PlanCommand& command) {
  std::string text = load_text(command.file, command.limits);
  if (!is_plan(text, command.limits) && is_law(text, command.limits))
    refuse_template(command.file, text, command.limits);
  return text;
}

class PlanRun {
 public:
  /// `store` may be null.
  PlanRun(const PlanCommand& command, const std::string& text, PlanStore* store,
          const Terminal& terminal)
      : command_(command),
        terminal_(terminal),
        style_(command.output ? Style() : terminal.style),
        plan_(command.file, text, command.limits),
        store_(store) {
    let_values(plan_, command.let);
  }

  Outcome run() {
    if (command_.output)
      keep_inputs("--output", *command_.output, {command_.file});
    if (command_.find && command_.scenario)
      refuse("--find", "expected no --scenario beside it");
    if (command_.scenario && command_.format != PlanFormat::Text)
      refuse("--format", "expected none beside --scenario, whose answer has one form");
    if (command_.find && command_.format != PlanFormat::Text && command_.format != PlanFormat::Json)
      refuse("--format", "expected text or json beside --find");
    if (command_.scenario) {
      Scenario scenario = plan_.scenario(values_of(plan_, *command_.scenario));
      scenario.name += fmt::format("{}{}", scenario.name.empty() ? "" : ", ", *command_.scenario);
      deliver(write_scenario(scenario));
      return Outcome::Holds;
    }
    PlanOptions options;
    options.jobs = command_.jobs;
    options.seed = command_.seed;
    options.limits = command_.limits;
    options.store = store_;
    if (command_.find)
      return find(name_to_find(plan_, *command_.find), options);
    PlanReport report;
    {
      ProgressLine progress(terminal_, command_.file, "points");
      options.progress = [&](uint64_t done, uint64_t all) { progress.show(done, all); };
      report = answer(plan_, options);
    }
    deliver(text_of(report));
    return report.best ? Outcome::Holds : Outcome::Fails;
  }

 private:
  std::string text_of(const PlanReport& report) const {
    switch (command_.format) {
      case PlanFormat::Json:
        return plan_json(plan_, report);
      case PlanFormat::Csv:
        return plan_csv(plan_, report);
      case PlanFormat::Html:
        return html_of(report);
      case PlanFormat::Text:
        break;
    }
    return plan_text(plan_, report, command_.all_points, style_);
  }

  /// The run that a page shows has all iterations of loops if its ops over all devices are at most
  /// this many.
  static constexpr uint64_t kOpsOfPage = 1'000'000;

  /// Returns the page. The best point, or the nearest, is run once more for its ops.
  std::string html_of(const PlanReport& report) const {
    const std::optional<size_t> shown = report.best ? report.best : report.nearest;
    if (!shown || !report.points[*shown].figures)
      return plan_html(plan_, report, nullptr);
    RunOptions options;
    options.seed = command_.seed;
    options.limits = command_.limits;
    options.data = Data::Off;
    options.most_ops_shown = kOpsOfPage;
    const Report run = orrery::run(plan_.scenario(report.points[*shown].values), options);
    return plan_html(plan_, report, &run);
  }

  Outcome find(size_t name, const PlanOptions& options) {
    const LargestSearch search = largest_that_fits(plan_, name, options);
    deliver(command_.format == PlanFormat::Json ? largest_json(plan_, name, search)
                                                : largest_text(plan_, name, search, style_));
    return search.largest ? Outcome::Holds : Outcome::Fails;
  }

  void deliver(const std::string& text) const {
    if (command_.output)
      write_file(*command_.output, text);
    else
      terminal_.out << text;
  }

  const PlanCommand& command_;
  const Terminal& terminal_;
  const Style style_;
  Plan plan_;
  PlanStore* const store_;
};

}  // namespace

Outcome answer_plan(const PlanCommand& command, const std::string& text, PlanStore* store,
                    const Terminal& terminal) {
  return PlanRun(command, text, store, terminal).run();
}

Outcome execute(const PlanCommand& command, const Terminal& terminal) {
  const std::string text = read_plan(command);
  return command.part ? work_out_part(command, text, terminal)
                      : answer_plan(command, text, nullptr, terminal);
}

}  // namespace orrery
