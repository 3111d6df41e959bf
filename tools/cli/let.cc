// --let gives the names of a law or a plan their values.

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/characters.h"
#include "models/base/diagnostics.h"
#include "models/scenario/document.h"
#include "tools/cli/ci.h"
#include "tools/cli/inputs.h"
#include "tools/cli/overrides.h"
#include "tools/report/laws.h"
#include "verifier/laws/law_case.h"

namespace orrery {
namespace {

constexpr const char* kLet = "--let";

/// Returns the settings between the commas that are in no brackets and in no quotes.
std::vector<std::string> settings_of(const std::string& let) {
  std::vector<std::string> settings(1);
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < let.size(); ++i) {
    const char c = let[i];
    if (c == '"')
      quoted = !quoted;
    if (!quoted)
      depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0 && !quoted) {
      settings.emplace_back();
      continue;
    }
    settings.back() += c;
    if (quoted && c == '\\' && i + 1 < let.size())
      settings.back() += let[++i];
  }
  return settings;
}

/// Returns the value as the draw gives it: the text is JSON, or itself the value.
std::optional<TemplateValue> value_of(const Law& law, const Draw& draw,
                                      const std::vector<TemplateValue>& known,
                                      const std::string& text) {
  Diagnostics diagnostics(kLet);
  const Document document(text, diagnostics);
  if (diagnostics.empty())
    if (std::optional<TemplateValue> value =
            draw.given(law.file(), known, template_value(*document.root())))
      return value;
  return draw.given(law.file(), known, {text});
}

/// Returns the value as --let takes it: a text without quotes, if it is a plain word.
std::string let_text(const Law& law, const Draw& draw, const std::vector<TemplateValue>& known,
                     const TemplateValue& value) {
  const auto* text = std::get_if<std::string>(&value.is);
  const auto plain = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  };
  if (text != nullptr && std::all_of(text->begin(), text->end(), plain) &&
      value_of(law, draw, known, *text) == value)
    return *text;
  return value_json(value);
}

/// Returns the least values of a law's names, if they are a case, or those of another case. The
/// result is empty if none is found.
std::optional<std::vector<TemplateValue>> any_case(const Law& law) {
  std::vector<TemplateValue> least = least_values(law);
  if (law.admits(least))
    return least;
  try {
    uint64_t refused = 0;
    return drawn_case(law, 0, 0, refused).values;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// Returns the values of a law's names, as --let takes them.
std::string let_text(const Law& law, const std::vector<TemplateValue>& values) {
  std::vector<TemplateValue> known;
  std::string text;
  for (const TemplateValue& value : values) {
    const size_t i = known.size();
    text += fmt::format("{}{}={}", i == 0 ? "" : ",", law.names()[i],
                        let_text(law, law.draws()[i], known, value));
    known.push_back(value);
  }
  return text;
}

/// Returns whether the value has a part that is one of its document.
bool has_node(const TemplateValue& value) {
  const auto* const list = std::get_if<TemplateValue::List>(&value.is);
  return std::holds_alternative<DocumentNode>(value.is) ||
         (list != nullptr && std::any_of(list->begin(), list->end(), has_node));
}

/// Returns the texts that names are given.
std::map<std::string, std::string> given_texts(const std::vector<std::string_view>& names,
                                               const std::vector<std::string>& lets) {
  std::map<std::string, std::string> given;
  for (const std::string& let : lets) {
    if (let.empty())
      continue;  // the case of a law without names
    for (const std::string& setting : settings_of(let)) {
      const size_t equals = setting.find('=');
      const std::string name = setting.substr(0, equals);
      if (equals == std::string::npos)
        refuse(kLet, fmt::format("expected NAME=VALUE, got {}", in_quotes(setting)));
      if (names.empty())
        refuse(kLet, fmt::format("there are no names, got {}", in_quotes(name)));
      if (std::find(names.begin(), names.end(), name) == names.end())
        refuse(kLet, fmt::format("expected one of {}, got {}{}", fmt::join(names, ", "),
                                 in_quotes(name), did_you_mean(name, names)));
      if (!given.emplace(name, setting.substr(equals + 1)).second)
        refuse(kLet, fmt::format("{} is given twice", name));
    }
  }
  return given;
}

}  // namespace

void let_values(Plan& plan, const std::vector<std::string>& lets) {
  const std::vector<std::string_view> names(plan.names().begin(), plan.names().end());
  for (const auto& [name, text] : given_texts(names, lets)) {
    Diagnostics diagnostics(kLet);
    const Document document(text, diagnostics);
    TemplateValue value =
        diagnostics.empty() ? template_value(*document.root()) : TemplateValue{text};
    const auto n = static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    if (has_node(value)) {  // a part of its document, so that only the plan's own value stays
      const std::vector<TemplateValue>& swept = plan.sweep()[n];
      const auto same = std::ranges::find(swept, value);
      if (same == swept.end())
        refuse(kLet, fmt::format("{}: expected a whole number, a boolean, a text, a list of them, "
                                 "or a value of the sweep, got {}",
                                 name, in_quotes(text)));
      value = *same;
    }
    plan.let(n, std::move(value));
  }
}

void refuse_template(const std::string& file, const std::string& text, const Limits& limits) {
  if (is_plan(text, limits))
    refuse(file, fmt::format("is a plan: `{}` times its points",
                             Replay({"orrery", "plan"}, file).text()));
  if (!is_law(text, limits))
    return;
  const Law law(file, text, limits);
  const std::string many = Replay({"orrery", "verify"}, file).text();
  const std::optional<std::vector<TemplateValue>> values = any_case(law);
  if (!values)
    refuse(file, fmt::format("is a law: `{}` draws cases", many));
  Replay one({"orrery", "run"}, file);
  one.option("--let", let_text(law, *values));
  refuse(file, fmt::format("is a law: `{}` runs one case, `{}` draws many", one.text(), many));
}

Scenario with_values(const Law& law, const std::vector<std::string>& lets) {
  const std::vector<std::string_view> names(law.names().begin(), law.names().end());
  const std::map<std::string, std::string> given = given_texts(names, lets);
  LawCase made;
  for (size_t i = 0; i < names.size(); ++i) {
    const Draw& draw = law.draws()[i];
    const auto text = given.find(law.names()[i]);
    if (text == given.end()) {
      made.values.push_back(draw.least(law.file(), made.values));
      continue;
    }
    std::optional<TemplateValue> value = value_of(law, draw, made.values, text->second);
    if (!value)
      refuse(kLet, fmt::format("{}: expected {}, got {}", names[i],
                               draw.given_text(law.file(), made.values), in_quotes(text->second)));
    made.values.push_back(std::move(*value));
  }
  if (!law.admits(made.values))
    refuse(kLet, fmt::format("expected values that meet \"where\", {}, got {}",
                             in_quotes(law.where()), values_text(law, made.values)));
  return scenario_of(law, made);
}

}  // namespace orrery
