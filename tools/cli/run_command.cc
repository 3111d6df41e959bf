// orrery run takes each file from text to report. An error in one file does not stop the others.

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/diagnostics.h"
#include "models/program/did_you_mean.h"
#include "models/scenario/document.h"
#include "models/scenario/law.h"
#include "models/scenario/plan.h"
#include "models/scenario/reader.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "tools/cli/overrides.h"
#include "tools/report/explain.h"
#include "tools/report/json.h"
#include "tools/report/outline.h"
#include "tools/report/text.h"
#include "verifier/run.h"

namespace orrery {
namespace {

/// Returns the values that the user asked for, in that order and under those names. For "all" these
/// are the values that some device holds. They come under their own names and then under the other
/// names that some have, such as "ct_w" for a gradient.
std::vector<NamedValue> chosen_values(const Report& report, const std::vector<std::string>& names) {
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
    const auto found = values.find(name);
    if (found != values.end()) {
      const auto same = [&](const NamedValue& named) { return named.name == name; };
      if (std::ranges::none_of(chosen, same))
        chosen.push_back({name, found->second});
      continue;
    }
    diagnostics.add(fmt::format("{} has no value \"{}\"{}", report.scenario->file, name,
                                did_you_mean(name, known)));
  }
  diagnostics.throw_if_any();
  return chosen;
}

/// Refuses an id that cannot be explained.
void check_known(const Scenario& scenario, const std::string& id) {
  const std::vector<std::string_view> known = explainable(scenario.program);
  if (std::find(known.begin(), known.end(), id) != known.end())
    return;
  refuse("--explain",
         fmt::format("{} has no op or value \"{}\"{}", scenario.file, id, did_you_mean(id, known)));
}

class Runner {
 public:
  Runner(const RunCommand& command, const Terminal& terminal, CiResults& ci)
      : command_(command),
        terminal_(terminal),
        ci_(ci),
        style_(command.output ? Style() : terminal.style),
        options_(command.options) {
    if (command.backend == Backend::Cuda)
      options_.gpus = gpu_options();
    else if (command.measured_runs || command.measure || command.fast_dot)
      refuse(command.fast_dot  ? "--fast-dot"
             : command.measure ? "--measure"
                               : "--measured-runs",
             "is of runs with --backend cuda");
    if (command.ci.annotations != Annotations::None && command.format == Format::Json &&
        !command.output)
      refuse("--annotate", "expected -o FILE for the JSON report, since annotations go to stdout");
    if (command.cluster)
      cluster_ = cluster_given("--cluster", *command.cluster, options_.limits);
    // These options ask about single iterations, so all are needed.
    if (command.explain || command.trace || !command.values.empty())
      options_.iterations_budget.reset();
    if (command.values.empty())
      return;
    if (command.format != Format::Json)
      refuse("--values", "values go into the JSON report: add --format json");
    if (options_.data == Data::Off)
      refuse("--values", "there are none with --data off");
    options_.data = Data::On;  // values were asked for, so there is no limit on size
  }

  Outcome run() {
    const std::vector<std::string> files = json_files(command_.paths, "scenario");
    several_ = files.size() > 1;
    check_outputs(files);
    for (size_t f = 0; f < files.size(); ++f) {
      if (several_ && terminal_.progress)
        terminal_.err << fmt::format("\r\033[K{} of {}: {}", f + 1, files.size(), files[f])
                      << std::flush;
      run_file(files[f]);
    }
    check_algorithms();
    tell_passed_over(files.size());
    if (several_ && terminal_.progress)
      terminal_.err << "\r\033[K" << std::flush;
    deliver();
    ci_.write_junit();
    ci_.write_annotations(terminal_.out);
    return outcome_;
  }

 private:
  GpuOptions gpu_options() const {
    GpuOptions gpus;
    gpus.library = terminal_.library_of_cuda();
    gpus.fast_dot = command_.fast_dot;
    gpus.cublaslt = terminal_.cublaslt_library;
    if (command_.measured_runs)
      gpus.measured_runs = *command_.measured_runs;
    if (command_.measure == Measure::Steps)
      gpus.measured = cuda::Measured::Steps;
    return gpus;
  }

  void check_outputs(const std::vector<std::string>& files) const {
    if (command_.output)
      keep_inputs("--output", *command_.output, files);
    if (command_.trace)
      keep_inputs("--trace", *command_.trace, files);
    if (command_.html)
      keep_inputs("--html", *command_.html, files);
    if (command_.ci.junit)
      keep_inputs("--junit", *command_.ci.junit, files);
    keep_apart("--html", command_.html, "--output", command_.output);
    keep_apart("--html", command_.html, "--trace", command_.trace);
    keep_apart("--junit", command_.ci.junit, "--html", command_.html);
    keep_apart("--trace", command_.trace, "--output", command_.output);
    keep_apart("--junit", command_.ci.junit, "--output", command_.output);
    keep_apart("--junit", command_.ci.junit, "--trace", command_.trace);
    if (several_ && command_.trace)
      refuse("--trace", fmt::format("expected one scenario, got {}", files.size()));
    if (several_ && command_.html)
      refuse("--html", fmt::format("expected one scenario, got {}", files.size()));
    if (several_ && command_.explain)
      refuse("--explain", fmt::format("expected one scenario, got {}", files.size()));
  }

  void write_trace_of(const Report& report) {
    if (!report.completion) {
      terminal_.err << fmt::format("{}: no trace is written: the program does not end\n",
                                   *command_.trace);
      return;
    }
    TraceSize size;
    write_file(*command_.trace, [&](std::ostream& file) {
      size = write_trace(report, file, command_.trace_options);
    });
    if (size.messages_left_out > 0)
      terminal_.err << fmt::format("{}: {} of {} messages are left out\n", *command_.trace,
                                   size.messages_left_out, report.completion->messages);
  }

  bool is_named(const std::string& file) const {
    return !command_.pass_over &&
           std::find(command_.paths.begin(), command_.paths.end(), file) != command_.paths.end();
  }

  /// Returns the scenario of a file; nothing for a law or a plan that is passed over.
  std::optional<Scenario> scenario_in(const std::string& file) {
    std::string text = load_text(file, options_.limits);
    if (is_plan(text, options_.limits)) {
      if (is_named(file))
        refuse_template(file, text, options_.limits);
      ++plans_;
      return std::nullopt;
    }
    if (!is_law(text, options_.limits)) {
      if (!command_.let.empty())
        refuse("--let", fmt::format("{} is no law, so it has no names", file));
      return read_scenario(file, text, options_.limits, cluster_);
    }
    if (!is_named(file)) {
      ++laws_;
      return std::nullopt;
    }
    if (command_.let.empty())
      refuse_template(file, text, options_.limits);
    const Law law(file, std::move(text), options_.limits);
    Scenario scenario = with_values(law, command_.let);
    if (cluster_)
      scenario.cluster = *cluster_;
    return scenario;
  }

  void run_file(const std::string& file) {
    unused_here_.clear();
    try {
      std::optional<Scenario> found = scenario_in(file);
      if (!found)
        return;
      Scenario scenario = std::move(*found);
      if (!command_.figures.empty()) {
        scenario.cluster =
            with_figures(std::move(scenario.cluster), command_.figures, options_.limits);
        scenario.catalog_cluster = false;
      }
      unused_here_ = set_algorithms(scenario.program, command_.algorithms);
      if (!several_)
        refuse_unused(unused_here_);
      if (!unused_)
        unused_ = unused_here_;
      std::erase_if(*unused_, [&](const auto& each) { return !unused_here_.contains(each.first); });
      if (command_.explain)
        check_known(written(scenario, LongLoops::WrittenOut, &options_.limits).scenario,
                    *command_.explain);
      const Report report = orrery::run(std::move(scenario), options_);
      std::optional<Explanation> explanation;
      if (command_.explain)
        explanation = explain(report, *command_.explain);
      if (command_.format == Format::Json)
        reports_.push_back(
            json_text(report, {chosen_values(report, command_.values), command_.encoding,
                               explanation ? &*explanation : nullptr}));
      else if (several_)
        summary_.push_back(summary_line(report, style_));
      else
        reports_.push_back(
            report_text(report, style_, command_.text) +
            (explanation ? explanation_text(report, *explanation, style_) : std::string()));
      if (command_.trace)
        write_trace_of(report);
      if (command_.html)
        write_file(*command_.html, run_html(report));
      add_to_ci(file, report);
      worst(outcome_of(report.verdict));
      verdict_ = both(verdict_, report.verdict);
    } catch (const InputError& error) {
      not_run(file, error, "the input is wrong");
    } catch (const TooLittleGpuMemory& little) {
      if (!several_)
        throw;
      const std::string message = fmt::format("--backend cuda: {}", little.what());
      not_run(file, InputError(file, {{Origin{}, message}}), "too little memory on the GPUs");
    }
  }

  void add_to_ci(const std::string& file, const Report& report) {
    std::optional<std::map<std::string, TextPosition>> places;
    ci_.add(file, report.checks, replay(file), command_.undecided,
            [&](const Check& check) -> std::optional<TextPosition> {
              if (!places)
                places = places_of(*report.scenario);
              const auto place = places->find(check.of);
              return place == places->end() ? std::nullopt : std::optional(place->second);
            });
  }

  /// Returns the command that repeats the verdicts of one of the files.
  std::string replay(const std::string& file) const {
    Replay replay({"orrery", "run"}, file);
    replay.options("--let", command_.let);
    if (options_.seed != 0)
      replay.option("--seed", std::to_string(options_.seed));
    if (options_.data != Data::Auto)
      replay.option("--data", options_.data == Data::On ? "on" : "off");
    // Alone, the file has to have the op of each setting.
    for (const std::string& setting : command_.algorithms)
      if (!unused_here_.contains(setting.substr(0, setting.find('='))))
        replay.option("--algorithm", setting);
    if (command_.backend == Backend::Cuda)
      replay.option("--backend", "cuda");
    if (command_.fast_dot)
      replay.flag("--fast-dot");
    replay.option("--cluster", command_.cluster);
    replay.options("--cluster-figure", command_.figures);
    replay.limits(options_.limits);
    return replay.text();
  }

  /// Notes that there is no report of the file. The others still run.
  void not_run(const std::string& file, const InputError& error, const char* summary) {
    terminal_.err << error.what() << "\n";
    ci_.add(file, error, replay(file));
    if (command_.format == Format::Json)
      reports_.push_back(json_text(file, error));
    summary_.push_back({file, Verdict::Fails, "", "", summary});
    worst(Outcome::WrongInput);
    verdict_ = Verdict::Fails;
  }

  /// Refuses a setting of --algorithm whose op no scenario has. A setting applies to those
  /// scenarios that have its op.
  void check_algorithms() {
    if (!several_ || !unused_)
      return;
    try {
      refuse_unused(*unused_);
    } catch (const InputError& error) {
      terminal_.err << error.what() << "\n";
      ci_.add("--algorithm", error, "");
      worst(Outcome::WrongInput);
    }
  }

  /// Says how many laws and plans were passed over.
  void tell_passed_over(size_t files) {
    if (plans_ > 0)
      terminal_.err << fmt::format("passed over {}, which `orrery plan` times\n",
                                   counted(static_cast<int64_t>(plans_), "plan"));
    if (laws_ == 0)
      return;
    const std::string laws = counted(static_cast<int64_t>(laws_), "law");
    if (laws_ == files && !command_.pass_over)
      refuse(command_.paths.front(),
             fmt::format("expected a scenario, got {}, which `orrery verify` runs", laws));
    terminal_.err << fmt::format("passed over {}, which `orrery verify` runs\n", laws);
  }

  Outcome outcome_of(Verdict verdict) const {
    if (verdict == Verdict::Undecided && command_.undecided == OnUndecided::Allow)
      return Outcome::Holds;
    return verdict == Verdict::Holds ? Outcome::Holds : Outcome::Fails;
  }

  void worst(Outcome outcome) {
    if (static_cast<int>(outcome) > static_cast<int>(outcome_))
      outcome_ = outcome;
  }

  void deliver() {
    std::string text;
    if (command_.format == Format::Json && several_)
      text = json_list(reports_, verdict_);
    else if (several_ && !summary_.empty())
      text = summary_text(summary_, style_);
    else if (!reports_.empty())
      text = std::move(reports_.front());
    if (command_.output && !text.empty())
      write_file(*command_.output, text);
    else
      terminal_.out << text;
  }

  const RunCommand& command_;
  const Terminal& terminal_;
  CiResults& ci_;
  Style style_;
  RunOptions options_;
  std::optional<Cluster> cluster_;  // replaces those of the scenarios
  bool several_ = false;
  size_t laws_ = 0;                   // that were passed over
  size_t plans_ = 0;                  // that were passed over
  Verdict verdict_ = Verdict::Holds;  // the verdict of all together; a refused file fails
  std::vector<std::string> reports_;
  std::vector<SummaryLine> summary_;
  Outcome outcome_ = Outcome::Holds;
  /// The settings of --algorithm that set no op in any scenario so far.
  std::optional<std::map<std::string, std::string>> unused_;
  std::map<std::string, std::string> unused_here_;  // in the file that is run
};

}  // namespace

Outcome execute(const RunCommand& command, const Terminal& terminal) {
  CiResults ci(command.ci);
  try {
    return Runner(command, terminal, ci).run();
  } catch (const InputError& error) {
    ci.add(error, {command.cluster});
    ci.write_annotations(terminal.out);
    throw;
  }
}

}  // namespace orrery
