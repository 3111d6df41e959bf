// orrery verify draws cases of laws, and writes the first that fails as a small scenario.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/amount_text.h"
#include "models/base/diagnostics.h"
#include "models/scenario/document.h"
#include "models/scenario/law.h"
#include "models/scenario/writer.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "tools/cli/overrides.h"
#include "tools/cli/parts.h"
#include "tools/report/laws.h"
#include "verifier/laws/verify.h"

namespace orrery {
namespace {

/// Every counterexample that is written begins with this, and the command that found it.
constexpr std::string_view kComment = "// ";

struct LawText {
  std::string file;  // as the user named it
  std::string text;  // of a built-in law
  bool is_file() const { return text.empty(); }
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

/// Returns the unit of a block of a law's cases.
Unit unit_of(const Law& law, uint64_t block, uint64_t cases) {
  const uint64_t first = block * kCasesOfBlock;
  return {fmt::format("cases {} to {} of {}", first, std::min(first + kCasesOfBlock, cases) - 1,
                      law.file()),
          law.text()};
}

/// Returns what is kept of a block: the number of the case that ends it, if one does, and those of
/// the undecided ones.
UnitFiles::Texts texts_of(const CaseBlock& found) {
  UnitFiles::Texts texts = {found.end ? std::to_string(*found.end) : ""};
  for (const uint64_t number : found.undecided)
    texts.push_back(std::to_string(number));
  return texts;
}

std::optional<CaseBlock> block_in(const UnitFiles& units, const Unit& unit) {
  const std::optional<UnitFiles::Texts> texts = units.find(unit);
  if (!texts)
    return std::nullopt;
  CaseBlock found;
  for (size_t i = 0; i < texts->size(); ++i) {
    const std::optional<uint64_t> number = whole_number_in((*texts)[i]);
    if (!number && (i > 0 || !(*texts)[i].empty()))
      units.refuse_damaged(unit);
    if (i == 0)
      found.end = number;
    else
      found.undecided.push_back(*number);
  }
  return found;
}

class Verifier {
 public:
  Verifier(const VerifyCommand& command, const Terminal& terminal, const UnitFiles* units = nullptr)
      : command_(command),
        terminal_(terminal),
        units_(units),
        ci_(command.ci),
        style_(command.output ? Style() : terminal.style) {}

  Outcome run() {
    if (command_.ci.annotations != Annotations::None && command_.format == Format::Json &&
        !command_.output)
      refuse("--annotate", "expected -o FILE for the JSON report, since annotations go to stdout");
    keep_apart("--junit", command_.ci.junit, "--output", command_.output);
    const std::vector<LawText> laws = laws_given();
    for (const LawText& given : laws)
      tell_errors(given, [&] {
        if (const std::unique_ptr<const Law> law = read(given))
          verify_law(*law, given.is_file());
      });
    tell_scenarios(laws.size());
    deliver();
    return outcome_;
  }

  /// Works out a part of the units: the blocks of each law in turn.
  Outcome work_out(const PartNumber& part) {
    const std::vector<LawText> laws = laws_given();
    units_->begin();
    UnitsDone done;
    uint64_t unit = 0;
    for_each_law(laws, [&](const Law& law) {
      std::vector<uint64_t> blocks;
      for (uint64_t block = 0; block < blocks_of_law(); ++block)
        if (part.has(unit++))
          blocks.push_back(block);
      work_out(law, blocks, done);
    });
    tell_scenarios(laws.size());
    terminal_.out << done_text(part, "blocks of cases", units_->folder(), done);
    return outcome_;
  }

  /// Refuses to answer before all units are there that verify() needs.
  void check_whole() {
    uint64_t missing = 0;
    std::string first;
    for_each_law(laws_given(), [&](const Law& law) {
      for (uint64_t block = 0; block < blocks_of_law(); ++block) {
        const Unit unit = unit_of(law, block, command_.cases);
        const std::optional<CaseBlock> found = block_in(*units_, unit);
        if (found && found->end)
          break;
        if (!found && ++missing == 1)
          first = unit.name;
      }
    });
    if (missing > 0)
      refuse(
          units_->folder(),
          fmt::format("expected all blocks of cases, got all but {}, the first of them {}; start "
                      "the parts again as they were started: `{}`",
                      missing, first, units_->part_command()));
  }

 private:
  std::vector<LawText> laws_given() const {
    std::vector<LawText> laws = builtin_laws_named(command_.laws);
    if (!command_.paths.empty())
      for (const std::string& file : law_files())
        laws.push_back({file, {}});
    if (laws.empty())
      refuse("FILE", "expected laws: files, folders, or --laws");
    return laws;
  }

  std::vector<std::string> law_files() const {
    const std::vector<std::string> files = json_files(command_.paths, "law");
    if (command_.output)
      keep_inputs("--output", *command_.output, files);
    if (command_.ci.junit)
      keep_inputs("--junit", *command_.ci.junit, files);
    return files;
  }

  /// Does something with a law. Tells errors of its file, and goes on.
  void tell_errors(const LawText& given, FunctionRef<void()> work) {
    try {
      work();
    } catch (const InputError& error) {
      const bool is_file = given.is_file();
      terminal_.err << error.what() << "\n";
      ci_.add(given.file, error, replay(given.file, is_file).text(), of(is_file));
      if (command_.format == Format::Json)
        results_.push_back(law_json(given.file, error));
      ++counts_.wrong;
      worst(Outcome::WrongInput);
    }
  }

  /// Visits the laws that can be read, and tells the errors of the others. Errors that `visit`
  /// throws are not those of a law.
  void for_each_law(const std::vector<LawText>& laws, FunctionRef<void(const Law&)> visit) {
    for (const LawText& given : laws) {
      std::unique_ptr<const Law> law;
      tell_errors(given, [&] { law = read(given); });
      if (law)
        visit(*law);
    }
  }

  /// Reads a law. Returns null for a scenario or a plan that is passed over.
  std::unique_ptr<const Law> read(const LawText& given) {
    if (!given.is_file())
      return std::make_unique<const Law>(given.file, given.text, command_.limits);
    const bool is_named =
        !command_.pass_over &&
        std::find(command_.paths.begin(), command_.paths.end(), given.file) != command_.paths.end();
    std::string text = load_text(given.file, command_.limits);
    if (is_plan(text, command_.limits)) {
      if (is_named)
        refuse_template(given.file, text, command_.limits);
      ++plans_;
      return nullptr;
    }
    if (is_scenario(given.file, text)) {
      if (is_named)
        refuse(given.file,
               fmt::format("expected a law, with \"forall\", got a scenario: `{}` runs it",
                           Replay({"orrery", "run"}, given.file).text()));
      ++passed_over_;
      return nullptr;
    }
    return std::make_unique<const Law>(given.file, std::move(text), command_.limits);
  }

  /// Returns whether the text is a scenario and no law. Throws InputError for text that is not
  /// JSON.
  bool is_scenario(const std::string& file, const std::string& text) const {
    if (is_law(text, command_.limits))
      return false;
    Diagnostics diagnostics(file);
    const Document document(text, diagnostics, command_.limits);
    diagnostics.throw_if_any();
    return document.root()->find("program") || document.root()->find("programs");
  }

  uint64_t blocks_of_law() const { return (command_.cases + kCasesOfBlock - 1) / kCasesOfBlock; }

  LawOptions law_options() const {
    LawOptions options;
    options.cases = command_.cases;
    options.seed = command_.seed;
    options.only = command_.only;
    options.jobs = command_.jobs;
    options.limits = command_.limits;
    return options;
  }

  /// Works out those of the law's blocks that are not there, up to one with an end.
  void work_out(const Law& law, const std::vector<uint64_t>& blocks, UnitsDone& done) {
    std::vector<uint64_t> left;
    for (const uint64_t block : blocks) {
      const auto found = block_in(*units_, unit_of(law, block, command_.cases));
      if (!found) {
        left.push_back(block);
        continue;
      }
      ++done.units;
      ++done.were_there;
      if (found->end)
        break;
    }
    ProgressLine progress(terminal_, law.file(), "blocks of cases");
    uint64_t ran = 0;
    run_blocks(law, law_options(), left, [&](uint64_t block, const CaseBlock& found) {
      units_->add(unit_of(law, block, command_.cases), texts_of(found));
      ++done.units;
      progress.show(++ran, left.size());
    });
  }

  /// Returns the blocks that are there, up to one with an end.
  std::vector<CaseBlock> blocks_there(const Law& law) const {
    std::vector<CaseBlock> blocks;
    for (uint64_t block = 0; block < blocks_of_law(); ++block) {
      std::optional<CaseBlock> found = block_in(*units_, unit_of(law, block, command_.cases));
      if (!found)
        break;
      const bool ends = found->end.has_value();
      blocks.push_back(*std::move(found));
      if (ends)
        break;
    }
    return blocks;
  }

  void verify_law(const Law& law, bool is_file) {
    LawOptions options = law_options();
    const std::vector<CaseBlock> blocks =
        units_ == nullptr ? std::vector<CaseBlock>() : blocks_there(law);
    options.known_to_hold = [&](uint64_t number) {
      const uint64_t b = number / kCasesOfBlock;
      return b < blocks.size() && number < blocks[b].end.value_or(number + 1) &&
             !std::binary_search(blocks[b].undecided.begin(), blocks[b].undecided.end(), number);
    };
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
  const UnitFiles* const units_;  // null, or those of the command
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

UnitFiles units_of(const VerifyCommand& command, const std::string& folder) {
  Replay shared({"orrery", "verify"});
  for (const std::string& path : command.paths)
    shared.file(path);
  if (!command.laws.empty())
    shared.option("--laws", fmt::format("{}", fmt::join(command.laws, ",")));
  if (command.cases != VerifyCommand().cases)
    shared.option("--cases", std::to_string(command.cases));
  if (command.seed != 0)
    shared.option("--seed", std::to_string(command.seed));
  if (command.pass_over)
    shared.flag("--pass-over");
  shared.limits(command.limits);
  return UnitFiles(folder, std::move(shared), "");
}

Outcome merge(const VerifyCommand& command, const UnitFiles& units, const Terminal& terminal) {
  std::ostream nowhere(nullptr);
  Verifier(command, {nowhere, nowhere, Style(), Style()}, &units).check_whole();
  return Verifier(command, terminal, &units).run();
}

Outcome execute(const VerifyCommand& command, const Terminal& terminal) {
  if (!command.part)
    return Verifier(command, terminal).run();
  const PartNumber part = part_of(*command.part);
  check_beside_part(command.output,
                    command.only || command.folder || command.format != Format::Text ||
                        command.ci.junit || command.ci.annotations != Annotations::None ||
                        command.undecided != OnUndecided::Fail,
                    "--case, --out, --format, --junit, --annotate or --allow-undecided");
  check_paths(command.paths);
  const UnitFiles units = units_of(command, *command.output);
  return Verifier(command, terminal, &units).work_out(part);
}

}  // namespace orrery
