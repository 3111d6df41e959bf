#include "tools/cli/ci.h"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string_view>

#include <fmt/format.h>

#include "models/base/characters.h"
#include "tools/cli/inputs.h"
#include "verifier/check/names.h"

namespace orrery {
namespace {

/// The name of the test case of a file that cannot be run, and the title of its errors.
const char* const kWrongInput = "INPUT";

/// Says which part of a workflow command a text is. In properties, colons and commas are separators
/// too.
enum class Part : uint8_t { Message, Property };

std::string escaped(std::string_view text, Part part) {
  std::string out;
  for (const char c : text) {
    const bool separates =
        c == '%' || c == '\r' || c == '\n' || (part == Part::Property && (c == ':' || c == ','));
    if (separates)
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

/// Returns the word for a shell, in quotes where it needs them.
std::string shell_word(const std::string& word) {
  const auto plain = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_-+=./:,@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain))
    return word;
  const bool escapes = std::any_of(word.begin(), word.end(), is_control);
  std::string text = escapes ? "$'" : "'";
  for (const char c : word) {
    if (!escapes)
      text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    else if (c == '\n')
      text += "\\n";
    else if (c == '\t')
      text += "\\t";
    else if (is_control(c))
      text += fmt::format("\\{:03o}", static_cast<unsigned>(c));
    else
      text += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  return text + '\'';
}

}  // namespace

Replay::Replay(std::vector<std::string> words, const std::string& file) : words_(std::move(words)) {
  this->file(file);
}

void Replay::file(const std::string& name) {
  // A word that begins with a dash would be an option.
  words_.push_back((name.size() > 1 && name[0] == '-' ? "./" : "") + name);
}

void Replay::option(const char* name, const std::optional<std::string>& value) {
  if (value && value->starts_with('-'))
    words_.push_back(fmt::format("{}={}", name, *value));
  else if (value)
    words_.insert(words_.end(), {name, *value});
}

void Replay::option(const char* name, const std::optional<uint32_t>& value) {
  if (value)
    option(name, std::to_string(*value));
}

void Replay::options(const char* name, const std::vector<std::string>& values) {
  for (const std::string& value : values)
    option(name, value);
}

void Replay::limits(const Limits& limits) {
  for (const LimitInfo& limit : all_limits())
    if (limits.*limit.value != Limits().*limit.value)
      option("--limit", fmt::format("{}={}", limit.name, limit_text(limit, limits)));
}

std::string Replay::text() const {
  std::string text;
  for (const std::string& word : words_)
    text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

bool is_of(const InputError& error, const std::string& file) {
  return std::string_view(error.what()).starts_with(file + ":");
}

std::map<std::string, TextPosition> places_of(const Scenario& scenario) {
  std::map<std::string, TextPosition> places;
  for (const Op& op : scenario.program.ops)
    if (op.origin && op.origin->at) {
      places.emplace(pointer_of(op), *op.origin->at);
      places.emplace(orrery::quoted(op.name), *op.origin->at);
    }
  for (const Expectation& expectation : scenario.expectations)
    if (expectation.origin.at)
      places.emplace(expectation.origin.pointer, *expectation.origin.at);
  return places;
}

void CiResults::add(const std::string& file, const std::vector<Check>& checks,
                    const std::string& replay, OnUndecided undecided,
                    FunctionRef<std::optional<TextPosition>(const Check& check)> where) {
  add_suite(file, checks, replay, undecided);
  annotate(file, Of::File, checks, undecided, where);
}

void CiResults::add_law(const std::string& file, Of of, const std::string& law,
                        const std::optional<Check>& check, const std::string& replay,
                        OnUndecided undecided,
                        FunctionRef<std::optional<TextPosition>(const Check& check)> where) {
  const std::vector<Check> checks = {check.value_or(Check())};
  add_suite(file, checks, replay, undecided, &law);
  annotate(file, of, checks, undecided, where);
}

/// Adds the test cases of the checks. The one case of a law has the law's name.
void CiResults::add_suite(const std::string& file, const std::vector<Check>& checks,
                          const std::string& replay, OnUndecided undecided,
                          const std::string* law) {
  if (!options_.junit)
    return;
  std::vector<JunitCase> cases = junit_cases(file, checks, replay);
  if (law != nullptr)
    cases.front().name = *law;
  for (JunitCase& each : cases)
    if (each.outcome == JunitOutcome::Undecided && undecided == OnUndecided::Allow)
      each.outcome = JunitOutcome::Allowed;
  suites_.push_back({file, std::move(cases)});
}

void CiResults::annotate(const std::string& file, Of of, const std::vector<Check>& checks,
                         OnUndecided undecided,
                         FunctionRef<std::optional<TextPosition>(const Check& check)> where) {
  if (options_.annotations == Annotations::None)
    return;
  for (const Check& check : checks) {
    if (check.holds())
      continue;
    const bool allowed = check.verdict == Verdict::Undecided && undecided == OnUndecided::Allow;
    annotate(allowed ? "warning" : "error", file, of, where(check), check.name, check.said());
  }
}

void CiResults::add(const std::string& file, const InputError& error, const std::string& replay,
                    Of of) {
  suites_.push_back({file,
                     {{kWrongInput, std::filesystem::path(file).replace_extension().string(),
                       JunitOutcome::WrongInput, error.what(), "", replay}}});
  annotate(file, of, error);
}

void CiResults::add(const InputError& error, const std::vector<std::optional<std::string>>& files) {
  for (const std::optional<std::string>& file : files)
    if (file && is_of(error, *file))
      return annotate(*file, Of::File, error);
  annotate("", Of::File, error);
}

void CiResults::write_junit() const {
  if (options_.junit)
    write_file(*options_.junit, junit_text(suites_));
}

void CiResults::write_annotations(std::ostream& out) const {
  out << annotations_;
}

void CiResults::annotate(const char* level, const std::string& file, Of of,
                         const std::optional<TextPosition>& at, const std::string& title,
                         const std::string& message) {
  if (options_.annotations == Annotations::None)
    return;
  const bool is_file = of == Of::File && !file.empty() && file != "-";
  std::string properties;
  if (is_file)
    properties += fmt::format("file={},", escaped(file, Part::Property));
  if (at && of == Of::File)
    properties += fmt::format("line={},col={},", at->line, at->column);
  const std::string whole_title = of == Of::File ? title : fmt::format("{} {}", file, title);
  annotations_ +=
      fmt::format("::{} {}title={}::{}\n", level, properties, escaped(whole_title, Part::Property),
                  escaped(message, Part::Message));
}

void CiResults::annotate(const std::string& file, Of of, const InputError& error) {
  if (!is_of(error, file))  // it names an option, which is part of its text
    return annotate("error", file, of, {}, kWrongInput, error.what());
  for (const Diagnostic& diagnostic : error.diagnostics()) {
    const std::string& pointer = diagnostic.origin.pointer;
    annotate("error", file, of, diagnostic.origin.at, kWrongInput,
             (pointer.empty() ? "" : pointer + ": ") + diagnostic.message);
  }
}

}  // namespace orrery
