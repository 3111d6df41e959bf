#include "tools/cli/answers.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "models/program/iteration_name.h"
#include "models/program/loops.h"
#include "models/scenario/reader.h"
#include "tools/cli/inputs.h"
#include "verifier/long_loops.h"

namespace orrery {
namespace {

/// Returns whether iterations of the program are left out of its report.
bool has_too_many_iterations(const Program& program, const RunOptions& options) {
  return options.most_ops_shown &&
         device_ops_with_all_iterations(program) > *options.most_ops_shown;
}

/// Returns whether all iterations are written: for the values of them all, and for questions about
/// values on GPUs.
bool needs_every_iteration(const Questions& questions, const RunOptions& options) {
  const bool all_values = questions.values.size() == 1 && questions.values[0] == "all";
  return questions.every_iteration || all_values ||
         (options.gpus && (questions.explain || !questions.values.empty()));
}

/// Returns the names of values of single iterations, which only an exit of the program has. A
/// second run computes these.
std::vector<std::string> names_in_iterations(const Program& regions, const Questions& questions,
                                             const RunOptions& options) {
  if (questions.values.empty() || needs_every_iteration(questions, options) ||
      !has_too_many_iterations(regions, options))
    return {};
  std::set<ValueId> exits;
  for (const Loop& loop : regions.loops)
    for (const Exit& exit : loop.exits)
      exits.insert(exit.outside);
  const std::map<std::string_view, ValueId> values = values_by_name(regions);
  std::vector<std::string> in_iterations;
  for (const std::string& name : questions.values)
    if (const auto found = values.find(name);
        found == values.end() || exits.contains(found->second))
      in_iterations.push_back(name);
  return in_iterations;
}

/// The values of single iterations, and the report of the second run, which has them.
struct OfIterations {
  std::shared_ptr<const Report> report;  // null: there was no need
  std::vector<NamedValue> values = {};
};

/// Computes values of single iterations by a run up to the last of these iterations.
OfIterations values_of_iterations(const Scenario& given, const std::vector<std::string>& names,
                                  RunOptions options) {
  OfIterations result;
  if (names.empty())
    return result;
  options.data = Data::On;
  options.wanted = Wanted::Checks;
  result.report = std::make_shared<const Report>(
      orrery::run(first_iterations_of(given, names, options.limits), options));
  const std::map<std::string_view, ValueId> values =
      values_by_name(result.report->scenario->program);
  for (const std::string& name : names)
    if (const auto found = values.find(name); found != values.end())
      result.values.push_back({name, found->second, result.report.get()});
  return result;
}

/// Returns the values of these names. For "all" these are the values that some device holds. They
/// come under their own names and then under the other names that some have, such as "ct_w" for a
/// gradient. `of_iterations` has those that the second run has.
std::vector<NamedValue> chosen_values(const Report& report, const std::vector<std::string>& names,
                                      const std::vector<NamedValue>& of_iterations) {
  const Program& program = report.scenario->program;
  std::vector<NamedValue> chosen;
  if (names.empty())
    return chosen;
  if (names.size() == 1 && names[0] == "all") {
    const auto add_held = [&](const std::string& name, ValueId id) {
      if (report.values && std::ranges::any_of(report.devices, [&](const DeviceReport& device) {
            return report.values->at(id, device.device).has_value();
          }))
        chosen.push_back({name, id});
    };
    for (uint32_t v = 0; v < program.values.size(); ++v)
      add_held(program.values[v].name, ValueId(v));
    for (const auto& [name, value] : program.other_names)
      add_held(name, value);
    return chosen;
  }

  std::vector<std::string_view> known;
  const std::map<std::string_view, ValueId> values = values_by_name(program);
  for (const auto& [name, value] : values)
    known.push_back(name);
  Diagnostics diagnostics("--values");
  for (const std::string& name : names) {
    const auto same = [&](const NamedValue& named) { return named.name == name; };
    if (std::ranges::any_of(chosen, same))
      continue;
    const auto other = std::ranges::find_if(of_iterations, same);
    if (other != of_iterations.end()) {
      chosen.push_back(*other);
      continue;
    }
    const auto found = values.find(name);
    if (found != values.end()) {
      chosen.push_back({name, found->second});
      continue;
    }
    const std::string hint = iterations_hint(program, name);
    diagnostics.add(fmt::format("{} has no value \"{}\"{}", report.scenario->file, name,
                                hint.empty() ? did_you_mean(name, known) : hint));
  }
  diagnostics.throw_if_any();
  return chosen;
}

/// Returns whether an id of the program is this one, in some iteration.
bool is_named(const Program& program, const std::string& id) {
  const std::vector<std::string_view> known = explainable(program);
  return id.find(kAnyIndex) == id.npos &&
         std::ranges::find(known, in_any_iteration(id)) != known.end();
}

/// Refuses an id that cannot be explained. All iterations are written only for an id that needs
/// them: there may be too many, which the run says.
void check_known(const Scenario& scenario, const std::string& id, const Limits& limits) {
  std::string hint = iterations_hint(scenario.program, id);
  if (hint.empty()) {
    const bool named = is_named(scenario.program, id);
    if (named &&
        (!beyond_limits(scenario.program, limits).empty() || cut_after(scenario, id, 0, limits)))
      return;
    const WrittenScenario made =
        written(scenario, named ? LongLoops::WrittenOut : LongLoops::LeftOut, &limits);
    const std::vector<std::string_view> known = explainable(made.scenario.program);
    if (std::find(known.begin(), known.end(), id) != known.end())
      return;
    hint = did_you_mean(id, known);
  }
  refuse("--explain", fmt::format("{} has no op or value \"{}\"{}", scenario.file, id, hint));
}

/// Returns the last instant that the explanation shows, but for the end of the program.
Instant last_shown(const Report& report, const Explanation& explanation) {
  std::vector<OpId> ops;
  if (explanation.op)
    ops.push_back(*explanation.op);
  for (const ValueLife& life : explanation.lives)
    if (life.to)
      ops.push_back(*life.to);
  Instant last;
  for (const OpId op : ops)
    for (const OpSpan& span : report.completion->spans[op.index()])
      last = std::max(last, span.end);
  return last;
}

/// Returns whether a value is held up to the last iteration of a loop that is cut. Then iterations
/// hand its storage on, and more of them would hold it longer.
bool is_handed_on(const Report& report, const Explanation& explanation, const CutLoops& cut) {
  const std::vector<WrittenLoop>& written = report.scenario->program.written_loops;
  return std::ranges::any_of(written, [&](const WrittenLoop& loop) {
    const IdRange& last = loop.last().ops;
    return cut.cuts(loop) && std::ranges::any_of(explanation.lives, [&](const ValueLife& life) {
             return life.to && life.to->index() >= last.begin && life.to->index() < last.end;
           });
  });
}

/// An Explained has an explanation, and the report of the run that it explains.
struct Explained {
  std::shared_ptr<const Report> report;
  Explanation explanation;
};

/// Explains an id of a single iteration, of which `whole` leaves out iterations, by a run of the
/// first ones. That run goes as the whole one until the last instant that is shown. Returns nothing
/// if no such run is within the limits.
std::optional<Explained> explained_by_first(const Scenario& given, const std::string& id,
                                            const Report& whole, RunOptions options) {
  options.most_ops_shown.reset();
  options.slack_budget = 0;
  constexpr uint64_t kFirstTry = 64;  // each later try has 4 times as many further iterations
  for (uint64_t further = 0;; further = further == 0 ? kFirstTry : 4 * further) {
    std::optional<CutLoops> cut = cut_after(given, id, further, options.limits);
    if (!cut || !whole.completion)
      return std::nullopt;
    auto report = std::make_shared<Report>(orrery::run(std::move(cut->scenario), options));
    if (!report->completion)
      return std::nullopt;
    Explanation explanation = explain(*report, id);
    const bool known = last_shown(*report, explanation) < known_until(*report, *cut) &&
                       !is_handed_on(*report, explanation, *cut);
    report->completion->makespan = whole.completion->makespan;  // lives end with the whole run
    if (known)
      return Explained{std::move(report), std::move(explanation)};
  }
}

}  // namespace

RunOptions options_for(const Scenario& given, const Questions& questions, RunOptions options) {
  if (questions.values.size() > names_in_iterations(given.program, questions, options).size())
    options.data = Data::On;  // whatever their size
  if (needs_every_iteration(questions, options) ||
      (questions.explain && has_too_many_iterations(given.program, options) &&
       !cut_after(given, *questions.explain, 0, options.limits)))
    options.most_ops_shown.reset();
  return options;
}

Answers answer(std::shared_ptr<const Scenario> given, const Questions& questions,
               RunOptions options) {
  if (questions.explain)
    check_known(*given, *questions.explain, options.limits);
  const std::vector<std::string> in_iterations =
      names_in_iterations(given->program, questions, options);
  options = options_for(*given, questions, std::move(options));
  const OfIterations of_iterations = values_of_iterations(*given, in_iterations, options);
  Answers answers;
  answers.of_iterations = of_iterations.report;
  answers.report = std::make_shared<const Report>(run(given, options));
  if (questions.explain && leaves_out_iterations(answers.report->scenario->program)) {
    if (std::optional<Explained> first =
            explained_by_first(*given, *questions.explain, *answers.report, options)) {
      answers.explained = std::move(first->report);
      answers.explanation = std::move(first->explanation);
    } else {  // it needs all iterations
      options.most_ops_shown.reset();
      answers.report = std::make_shared<const Report>(run(given, options));
    }
  }
  if (questions.explain && !answers.explanation) {
    answers.explained = answers.report;
    answers.explanation = explain(*answers.report, *questions.explain);
  }
  answers.values = chosen_values(*answers.report, questions.values, of_iterations.values);
  return answers;
}

}  // namespace orrery
