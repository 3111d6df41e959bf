// orrery verify draws cases of laws, and writes the first that fails as a small scenario.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/diagnostics.h"
#include "models/program/did_you_mean.h"
#include "models/scenario/document.h"
#include "models/scenario/law.h"
#include "models/scenario/writer.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "tools/cli/overrides.h"
#include "tools/report/laws.h"
#include "verifier/laws/verify.h"

namespace orrery {
namespace {

/// Every counterexample that is written begins with this, and the command that found it.
constexpr std::string_view kComment = "// ";

struct LawText {
  std::string file;  // as the user named it
  std::string text;
};

constexpr std::string_view kSeed = " --seed ";

/// Takes the prefix off the text. Returns whether it was there.
bool take(std::string_view& text, std::string_view prefix) {
  const bool found = text.starts_with(prefix);
  text.remove_prefix(found ? prefix.size() : 0);
  return found;
}

/// Takes the digits at the text's begin off it. Returns whether there was one.
bool take_digits(std::string_view& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(digits);
  return digits > 0;
}

/// Returns whether the text says which case a command repeats: " --seed 0 --case 1", and limits.
bool is_case(std::string_view text) {
  return take(text, kSeed) && take_digits(text) && take(text, " --case ") && take_digits(text) &&
         (text.empty() || (take(text, " --limit ") && !text.empty()));
}

/// Returns the law in a command that repeats a case, as it stands there; nothing if the text is no
/// such command. It takes linear time, since the text may be from any file.
std::optional<std::string> law_in(std::string_view command) {
  if (!take(command, "orrery verify ") || command.find('\r') != std::string_view::npos)
    return std::nullopt;  // a command has escapes in the place of control characters
  // The law itself may have such words, so the last ones count.
  size_t end = command.rfind(kSeed);
  while (end != std::string_view::npos && !is_case(command.substr(end)))
    end = end == 0 ? std::string_view::npos : command.rfind(kSeed, end - 1);
  return end == std::string_view::npos || end == 0
             ? std::nullopt
             : std::optional(std::string(command.substr(0, end)));
}

std::vector<LawText> builtin_laws_named(const std::vector<std::string>& ids) {
  std::vector<LawText> chosen;
  std::vector<std::string_view> known;
  for (const BuiltinLaw& law : builtin_laws())
    known.push_back(law.id);
  for (const std::string& id : ids)
    if (id != "all" && std::find(known.begin(), known.end(), id) == known.end())
      refuse("--laws", fmt::format("no law \"{}\" is built in; `orrery show law` lists them{}", id,
                                   did_you_mean(id, known)));
  for (const BuiltinLaw& law : builtin_laws())
    if (std::find(ids.begin(), ids.end(), "all") != ids.end() ||
        std::find(ids.begin(), ids.end(), law.id) != ids.end())
      chosen.push_back({std::string(law.id), std::string(law.json)});
  return chosen;
}

class Verifier {
 public:
  Verifier(const VerifyCommand& command, const Terminal& terminal)
      : command_(command),
        terminal_(terminal),
        ci_(command.ci),
        style_(command.output ? Style() : terminal.style) {}

  Outcome run() {
    if (command_.ci.annotations != Annotations::None && command_.format == Format::Json &&
        !command_.output)
      refuse("--annotate", "expected -o FILE for the JSON report, since annotations go to stdout");
    keep_apart("--junit", command_.ci.junit, "--output", command_.output);
    std::vector<LawText> laws = builtin_laws_named(command_.laws);
    if (!command_.paths.empty())
      for (const std::string& file : law_files())
        laws.push_back({file, {}});
    if (laws.empty())
      refuse("FILE", "expected laws: files, folders, or --laws");
    for (LawText& law : laws)
      verify_law(std::move(law));
    tell_scenarios(laws.size());
    deliver();
    return outcome_;
  }

 private:
  std::vector<std::string> law_files() const {
    const std::vector<std::string> files = json_files(command_.paths, "law");
    if (command_.output)
      keep_inputs("--output", *command_.output, files);
    if (command_.ci.junit)
      keep_inputs("--junit", *command_.ci.junit, files);
    return files;
  }

  void verify_law(LawText given) {
    const bool is_file = given.text.empty();
    try {
      if (is_file)
        given.text = load_text(given.file, command_.limits);
      if (is_file && is_plan(given.text, command_.limits)) {
        if (std::find(command_.paths.begin(), command_.paths.end(), given.file) !=
                command_.paths.end() &&
            !command_.pass_over)
          refuse_template(given.file, given.text, command_.limits);
        ++plans_;
        return;
      }
      if (is_file && is_scenario(given)) {
        if (command_.pass_over || std::find(command_.paths.begin(), command_.paths.end(),
                                            given.file) == command_.paths.end()) {
          ++passed_over_;
          return;
        }
        refuse(given.file,
               fmt::format("expected a law, with \"forall\", got a scenario: `{}` runs it",
                           Replay({"orrery", "run"}, given.file).text()));
      }
      const Law law(given.file, std::move(given.text), command_.limits);
      verify_law(law, is_file);
    } catch (const InputError& error) {
      terminal_.err << error.what() << "\n";
      ci_.add(given.file, error, replay(given.file, is_file).text(), of(is_file));
      if (command_.format == Format::Json)
        results_.push_back(law_json(given.file, error));
      ++counts_.wrong;
      worst(Outcome::WrongInput);
    }
  }

  /// Returns whether the text is a scenario and no law. Throws InputError for text that is not
  /// JSON.
  bool is_scenario(const LawText& given) const {
    if (is_law(given.text, command_.limits))
      return false;
    Diagnostics diagnostics(given.file);
    const Document document(given.text, diagnostics, command_.limits);
    diagnostics.throw_if_any();
    return document.root()->find("program") || document.root()->find("programs");
  }

  void verify_law(const Law& law, bool is_file) {
    LawOptions options;
    options.cases = command_.cases;
    options.seed = command_.seed;
    options.only = command_.only;
    options.jobs = command_.jobs;
    options.limits = command_.limits;
    const uint64_t asked = command_.only ? 1 : command_.cases;
    LawVerdict verdict;
    {
      ProgressLine progress(terminal_, law.file(), "cases");
      options.progress = [&](uint64_t ran) { progress.show(ran, asked); };
      verdict = verify(law, options);
    }
    VerifiedLaw verified{
        law, verdict, command_.only ? std::nullopt : std::optional(command_.cases), {}, {}};
    if (verdict.counterexample) {
      verified.verify = replay(law.file(), is_file, verdict.counterexample->number).text();
      verified.run = write(law, verified.verify, *verdict.counterexample->scenario);
    } else if (verdict.first_undecided) {
      verified.verify = replay(law.file(), is_file, verdict.first_undecided->number).text();
    }
    count(verdict);
    add_to_ci(verified, is_file);
    if (command_.format == Format::Json)
      results_.push_back(law_json(verified));
    else
      text_ += law_text(verified, style_);
  }

  void add_to_ci(const VerifiedLaw& verified, bool is_file) {
    const std::optional<Counterexample>& found = verified.verdict.counterexample;
    const std::string& file = verified.law.file();
    const std::string& name = verified.law.name();
    ci_.add_law(
        file, of(is_file), name.empty() ? file : name,
        found                              ? std::optional(found->check)
        : verified.verdict.first_undecided ? std::optional(verified.verdict.first_undecided->check)
                                           : std::nullopt,
        verified.verify.empty() ? replay(file, is_file).text() : verified.verify,
        command_.undecided, [&](const Check& check) -> std::optional<TextPosition> {
          const auto places = places_of(found ? *found->scenario : undecided_case(verified));
          const auto place = places.find(check.of);
          return place == places.end() ? std::nullopt : std::optional(place->second);
        });
  }

  /// Returns the scenario of the first undecided case.
  Scenario undecided_case(const VerifiedLaw& verified) const {
    uint64_t refused = 0;
    return scenario_of(verified.law, drawn_case(verified.law, command_.seed,
                                                verified.verdict.first_undecided->number, refused));
  }

  static Of of(bool is_file) { return is_file ? Of::File : Of::BuiltinLaw; }

  /// Returns the command that repeats the verdict of a law, or of one case.
  Replay replay(const std::string& law, bool is_file, std::optional<uint64_t> number = {}) const {
    Replay replay =
        is_file ? Replay({"orrery", "verify"}, law) : Replay({"orrery", "verify", "--laws", law});
    if (number || command_.seed != 0)
      replay.option("--seed", std::to_string(command_.seed));
    if (const auto only = number ? number : command_.only)
      replay.option("--case", std::to_string(*only));
    else if (command_.cases != VerifyCommand().cases)
      replay.option("--cases", std::to_string(command_.cases));
    replay.limits(command_.limits);
    return replay;
  }

  /// Writes the counterexample. Returns the command that runs it; nothing if it was not written.
  std::string write(const Law& law, const std::string& found_by, const Scenario& scenario) {
    const std::filesystem::path file = file_of(law, found_by);
    try {
      if (command_.folder) {
        std::error_code error;
        std::filesystem::create_directories(*command_.folder, error);
      }
      for (const std::optional<std::string>& other : {command_.output, command_.ci.junit})
        if (other && is_same_file(*other, file.string()))
          refuse(file.string(),
                 "is the file of --output or --junit, so no counterexample is written");
      if (!is_free(file) && !found_law(file))
        refuse(file.string(),
               "expected no file, or one that orrery verify wrote, to write a counterexample to; "
               "--out names another folder");
      write_file(file.string(),
                 fmt::format("{}{}\n{}", kComment, found_by, write_scenario(scenario)));
      Replay replay({"orrery", "run"}, file.string());
      replay.limits(command_.limits);
      return replay.text();
    } catch (const InputError& error) {
      terminal_.err << error.what() << "\n";
      worst(Outcome::WrongInput);
      return "";
    }
  }

  /// Returns the file of a law's counterexample: LAW.failed.json, or with a number if that is of
  /// another law of this run, or of another one in the folder of --out.
  std::filesystem::path file_of(const Law& law, const std::string& found_by) {
    const std::filesystem::path of(law.file());
    const std::filesystem::path folder = command_.folder ? *command_.folder : of.parent_path();
    const auto is_of_another = [&](const std::filesystem::path& file) {
      const std::optional<std::string> found = found_law(file);
      return command_.folder && found && found != law_in(found_by);
    };
    std::filesystem::path file = folder / (of.stem().string() + ".failed.json");
    for (int number = 2; is_of_another(file) || !written_.insert(file).second; ++number)
      file = folder / fmt::format("{}.failed-{}.json", of.stem().string(), number);
    return file;
  }

  static bool is_free(const std::filesystem::path& file) {
    std::error_code error;
    return std::filesystem::symlink_status(file, error).type() ==
           std::filesystem::file_type::not_found;
  }

  /// Returns the law whose counterexample the file is, by its first line. The result is empty if it
  /// is none.
  static std::optional<std::string> found_law(const std::filesystem::path& file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(file, error)))
      return std::nullopt;
    constexpr size_t kMostRead = 1 << 16;
    std::string line(kMostRead, '\0');
    std::ifstream read(file);
    read.read(line.data(), static_cast<std::streamsize>(line.size()));
    line.resize(static_cast<size_t>(read.gcount()));
    line.resize(std::min(line.find('\n'), line.size()));
    return line.starts_with(kComment) ? law_in(std::string_view(line).substr(kComment.size()))
                                      : std::nullopt;
  }

  /// Says how many scenarios and plans of folders were passed over.
  void tell_scenarios(size_t files) const {
    if (plans_ > 0)
      terminal_.err << fmt::format("passed over {}, which `orrery plan` times\n",
                                   counted(static_cast<int64_t>(plans_), "plan"));
    if (passed_over_ == 0)
      return;
    const std::string scenarios = counted(static_cast<int64_t>(passed_over_), "scenario");
    if (passed_over_ == files && !command_.pass_over)
      refuse(command_.paths.front(),
             fmt::format("expected a law, got {}, which `orrery run` runs", scenarios));
    terminal_.err << fmt::format("passed over {}, which `orrery run` runs\n", scenarios);
  }

  void count(const LawVerdict& verdict) {
    ++counts_.laws;
    counts_.cases += verdict.cases;
    counts_.failing += verdict.verdict == Verdict::Fails ? 1 : 0;
    counts_.undecided += verdict.verdict == Verdict::Undecided ? 1 : 0;
    if (verdict.verdict == Verdict::Fails ||
        (verdict.verdict == Verdict::Undecided && command_.undecided == OnUndecided::Fail))
      worst(Outcome::Fails);
  }

  void worst(Outcome outcome) {
    if (static_cast<int>(outcome) > static_cast<int>(outcome_))
      outcome_ = outcome;
  }

  void deliver() {
    std::string text;
    if (command_.format == Format::Json) {
      for (const std::string& result : results_)
        text += fmt::format("{}{}", text.empty() ? "[" : ",\n ", result);
      text = results_.empty() ? "[]\n" : text + "]\n";
    } else if (counts_.laws + counts_.wrong > 0) {
      text = text_ + counts_text(counts_) + "\n";
    }
    if (command_.output)
      write_file(*command_.output, text);
    else
      terminal_.out << text;
    ci_.write_junit();
    ci_.write_annotations(terminal_.out);
  }

  const VerifyCommand& command_;
  const Terminal& terminal_;
  CiResults ci_;
  Style style_;
  LawCounts counts_;
  size_t passed_over_ = 0;                   // scenarios
  size_t plans_ = 0;                         // that were passed over
  std::set<std::filesystem::path> written_;  // counterexamples
  std::string text_;
  std::vector<std::string> results_;
  Outcome outcome_ = Outcome::Holds;
};

}  // namespace

Outcome execute(const VerifyCommand& command, const Terminal& terminal) {
  return Verifier(command, terminal).run();
}

}  // namespace orrery
