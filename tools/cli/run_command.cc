// orrery run takes each file from text to report. An error in one file does not stop the others.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/diagnostics.h"
#include "models/scenario/document.h"
#include "models/scenario/law.h"
#include "models/scenario/plan.h"
#include "models/scenario/reader.h"
#include "tools/cli/answers.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "tools/cli/overrides.h"
#include "tools/cli/parts.h"
#include "tools/report/explain.h"
#include "tools/report/figures.h"
#include "tools/report/json.h"
#include "tools/report/outline.h"
#include "tools/report/text.h"
#include "verifier/run.h"

namespace orrery {
namespace {

/// The result of a file.
struct FileResult {
  std::string error;   // what is wrong with the input; empty if it ran
  std::string report;  // of a file that is run alone, as text
  std::string json;    // "" unless it is wanted
  SummaryLine line;
  /// The settings of --algorithm that set no op in it; empty if the scenario is wrong.
  std::optional<std::map<std::string, std::string>> unused;
};

UnitFiles::Texts texts_of(const FileResult& result) {
  const SummaryLine& line = result.line;
  UnitFiles::Texts texts = {
      result.error,  result.json, line.file,   std::to_string(static_cast<int>(line.verdict)),
      line.makespan, line.peak,   line.remark, result.unused ? "algorithms" : ""};
  if (result.unused)
    for (const auto& [op, setting] : *result.unused)
      texts.insert(texts.end(), {op, setting});
  return texts;
}

std::optional<FileResult> result_in(const UnitFiles& units, const Unit& unit) {
  constexpr size_t kTexts = 8;  // and two for each unused setting
  const std::optional<UnitFiles::Texts> found = units.find(unit);
  if (!found)
    return std::nullopt;
  const UnitFiles::Texts& texts = *found;
  const auto verdict = texts.size() < kTexts ? std::nullopt : whole_number_in(texts[3]);
  if (!verdict || *verdict > static_cast<uint64_t>(Verdict::Fails) || texts.size() % 2 != 0)
    units.refuse_damaged(unit);
  FileResult result;
  result.error = texts[0];
  result.json = texts[1];
  result.line = {texts[2], static_cast<Verdict>(*verdict), texts[4], texts[5], texts[6]};
  if (!texts[7].empty())
    result.unused.emplace();
  for (size_t i = kTexts; i < texts.size() && result.unused; i += 2)
    result.unused->emplace(texts[i], texts[i + 1]);
  return result;
}

class Runner {
 public:
  /// `units` may be null, or has those of the command.
  Runner(const RunCommand& command, const Terminal& terminal, CiResults& ci,
         const UnitFiles* units = nullptr)
      : command_(command),
        terminal_(terminal),
        units_(units),
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
    if (command.values.empty())
      return;
    if (command.format != Format::Json)
      refuse("--values", "values go into the JSON report: add --format json");
    if (options_.data == Data::Off)
      refuse("--values", "there are none with --data off");
  }

  Outcome run() {
    const std::vector<std::string> files = files_given();
    check_outputs(files);
    for (size_t f = 0; f < files.size(); ++f) {
      show_progress(files, f);
      run_file(files[f]);
    }
    check_algorithms();
    tell_passed_over(files.size());
    end_progress();
    deliver();
    ci_.write_junit();
    ci_.write_annotations(terminal_.out);
    return outcome_;
  }

  /// Works out a part of the units: files in their order, without those that are passed over or
  /// cannot be read.
  Outcome work_out(const PartNumber& part) {
    const std::vector<std::string> files = files_given();
    check_several(files);
    style_ = Style(Colours::Plain, Letters::Ascii);  // the summary writes units as the terminal can
    units_->begin();
    UnitsDone done;
    for (size_t f = 0; f < files.size(); ++f) {
      if (!part.has(f))
        continue;
      show_progress(files, f);
      if (const std::optional<std::string> text = text_to_run(files[f])) {
        const Unit unit{files[f], *text};
        ++done.units;
        if (result_in(*units_, unit))
          ++done.were_there;
        else
          units_->add(unit, texts_of(result_of(files[f], *text)));
      }
    }
    end_progress();
    terminal_.out << done_text(part, "files", units_->folder(), done);
    return Outcome::Holds;
  }

  /// Refuses to answer before all units are there.
  void check_whole() {
    const std::vector<std::string> files = files_given();
    check_several(files);
    uint64_t missing = 0;
    std::string first;
    for (const std::string& file : files)
      if (const std::optional<std::string> text = text_to_run(file))
        if (!result_in(*units_, {file, *text}) && ++missing == 1)
          first = file;
    if (missing > 0)
      refuse(units_->folder(), fmt::format("expected all files, got all but {}, the first of them "
                                           "{}; start the parts again as they were started: `{}`",
                                           missing, first, units_->part_command()));
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

  std::vector<std::string> files_given() {
    std::vector<std::string> files = json_files(command_.paths, "scenario");
    several_ = files.size() > 1;
    return files;
  }

  void check_several(const std::vector<std::string>& files) const {
    if (!several_)
      refuse("--part", fmt::format("expected several scenarios, got {} alone", files.front()));
  }

  void show_progress(const std::vector<std::string>& files, size_t at) const {
    if (several_ && terminal_.progress)
      terminal_.err << fmt::format("\r\033[K{} of {}: {}", at + 1, files.size(), files[at])
                    << std::flush;
  }

  void end_progress() const {
    if (several_ && terminal_.progress)
      terminal_.err << "\r\033[K" << std::flush;
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
      terminal_.err << fmt::format("{}: no trace is written: the program {}\n", *command_.trace,
                                   no_end(report));
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

  /// Returns whether the file is a law or a plan that is passed over. Refuses one that is named.
  bool is_passed_over(const std::string& file, const std::string& text) {
    if (is_plan(text, options_.limits)) {
      if (is_named(file))
        refuse_template(file, text, options_.limits);
      ++plans_;
      return true;
    }
    if (!is_law(text, options_.limits))
      return false;
    if (!is_named(file)) {
      ++laws_;
      return true;
    }
    if (command_.let.empty())
      refuse_template(file, text, options_.limits);
    return false;
  }

  /// Requires a file that is not passed over. Without --let it is a scenario.
  Scenario scenario_in(const std::string& file, const std::string& text) const {
    if (command_.let.empty())
      return read_scenario(file, text, options_.limits, cluster_);
    if (!is_law(text, options_.limits))
      refuse("--let", fmt::format("{} is no law, so it has no names", file));
    const Law law(file, text, options_.limits);
    Scenario scenario = with_values(law, command_.let);
    if (cluster_)
      scenario.cluster = *cluster_;
    return scenario;
  }

  /// Returns the text of a file that is a unit. The others are told when the answer is written.
  std::optional<std::string> text_to_run(const std::string& file) {
    try {
      std::string text = load_text(file, options_.limits);
      return is_passed_over(file, text) ? std::nullopt : std::optional(std::move(text));
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  void run_file(const std::string& file) {
    unused_here_.clear();
    data_here_ = options_.data;
    FileResult result;
    try {
      std::string text = load_text(file, options_.limits);
      if (is_passed_over(file, text))
        return;
      std::optional<FileResult> found;
      if (units_ != nullptr)
        found = result_in(*units_, {file, text});
      result = found ? *std::move(found) : result_of(file, std::move(text));
    } catch (const InputError& error) {
      not_run(file, error, "the input is wrong", result);
    }
    take(std::move(result));
  }

  /// Runs the file, and writes what is asked for beside the report.
  FileResult result_of(const std::string& file, std::string text) {
    FileResult result;
    try {
      Scenario scenario = scenario_in(file, text);
      text = std::string();  // a run needs the memory
      if (!command_.figures.empty()) {
        scenario.cluster =
            with_figures(std::move(scenario.cluster), command_.figures, options_.limits);
        scenario.catalog_cluster = false;
      }
      unused_here_ = set_algorithms(scenario.program, command_.algorithms);
      if (!several_)
        refuse_unused(unused_here_);
      result.unused = unused_here_;
      const auto given = std::make_shared<const Scenario>(std::move(scenario));
      const Questions questions = {command_.values, command_.explain, command_.trace.has_value()};
      data_here_ = options_for(*given, questions, options_).data;
      const Answers answers = answer(given, questions, options_);
      const Report& report = *answers.report;
      const Explanation* const explanation = answers.explanation ? &*answers.explanation : nullptr;
      result.line = summary_line(report, style_);
      if (wants_json())
        result.json = json_text(
            report, {answers.values, command_.encoding, explanation, answers.explained.get()});
      else if (!several_)
        result.report =
            report_text(report, style_, command_.text) +
            (explanation != nullptr ? explanation_text(*answers.explained, *explanation, style_)
                                    : std::string());
      if (command_.trace)
        write_trace_of(report);
      if (command_.html)
        write_file(*command_.html, run_html(report));
      add_to_ci(file, report);
    } catch (const InputError& error) {
      not_run(file, error, "the input is wrong", result);
    } catch (const TooLittleGpuMemory& little) {
      if (!several_)
        throw;
      const std::string message = fmt::format("--backend cuda: {}", little.what());
      not_run(file, InputError(file, {{Origin{}, message}}), "too little memory on the GPUs",
              result);
    }
    return result;
  }

  /// A part writes both forms, of which `orrery merge` takes one.
  bool wants_json() const { return command_.format == Format::Json || command_.part; }

  /// Adds the result to the report of all files.
  void take(FileResult result) {
    if (!result.error.empty())
      terminal_.err << result.error << "\n";
    worst(result.error.empty() ? outcome_of(result.line.verdict) : Outcome::WrongInput);
    verdict_ = both(verdict_, result.line.verdict);
    if (result.unused && !unused_)
      unused_ = result.unused;
    else if (result.unused)
      std::erase_if(*unused_,
                    [&](const auto& each) { return !result.unused->contains(each.first); });
    std::string& report = command_.format == Format::Json ? result.json : result.report;
    if (!report.empty())
      reports_.push_back(std::move(report));
    summary_.push_back(std::move(result.line));
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
    if (data_here_ != Data::Auto)
      replay.option("--data", data_here_ == Data::On ? "on" : "off");
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
  void not_run(const std::string& file, const InputError& error, const char* summary,
               FileResult& result) {
    ci_.add(file, error, replay(file));
    result.error = error.what();
    result.line = {file, Verdict::Fails, "", "", summary};
    if (wants_json() && result.json.empty())  // the report may be there, and not its trace
      result.json = json_text(file, error);
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
  const UnitFiles* const units_;  // null, or those of the command
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
  Data data_here_ = Data::Auto;                     // of the run of that file
};

}  // namespace

UnitFiles units_of(const RunCommand& command, const std::string& folder) {
  Replay shared({"orrery", "run"});
  for (const std::string& path : command.paths)
    shared.file(path);
  if (command.pass_over)
    shared.flag("--pass-over");
  shared.options("--let", command.let);
  if (command.options.seed != 0)
    shared.option("--seed", std::to_string(command.options.seed));
  if (command.options.data != Data::Auto)
    shared.option("--data", command.options.data == Data::On ? "on" : "off");
  shared.options("--algorithm", command.algorithms);
  shared.option("--cluster", command.cluster);
  shared.options("--cluster-figure", command.figures);
  shared.limits(command.options.limits);
  return UnitFiles(folder, std::move(shared), input_hash(command.cluster));
}

Outcome merge(const RunCommand& command, const UnitFiles& units, const Terminal& terminal) {
  std::ostream nowhere(nullptr);
  CiResults ci(command.ci);
  Runner(command, {nowhere, nowhere, Style(), Style()}, ci, &units).check_whole();
  return Runner(command, terminal, ci, &units).run();
}

namespace {

Outcome work_out_part(const RunCommand& command, const Terminal& terminal, CiResults& ci) {
  const PartNumber part = part_of(*command.part);
  check_beside_part(
      command.output,
      command.backend != Backend::Host || command.format != Format::Text ||
          !command.values.empty() || command.encoding != Encoding::Values || command.explain ||
          command.trace || command.html || command.text.is_whole() || command.ci.junit ||
          command.ci.annotations != Annotations::None || command.undecided != OnUndecided::Fail,
      "--backend cuda, --format, --ops, --verbose, --values, --encoding, --explain, --trace, "
      "--html, --junit, --annotate or --allow-undecided");
  check_paths(command.paths);
  const UnitFiles units = units_of(command, *command.output);
  return Runner(command, terminal, ci, &units).work_out(part);
}

}  // namespace

Outcome execute(const RunCommand& command, const Terminal& terminal) {
  CiResults ci(command.ci);
  try {
    return command.part ? work_out_part(command, terminal, ci)
                        : Runner(command, terminal, ci).run();
  } catch (const InputError& error) {
    ci.add(error, {command.cluster});
    ci.write_annotations(terminal.out);
    throw;
  }
}

}  // namespace orrery
