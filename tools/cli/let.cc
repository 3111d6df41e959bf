// --let gives the names of a law their values.

#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/diagnostics.h"
#include "models/program/did_you_mean.h"
#include "models/scenario/document.h"
#include "tools/cli/inputs.h"
#include "tools/cli/overrides.h"
#include "verifier/laws/law_case.h"

namespace orrery {
namespace {

constexpr const char* kLet = "--let";

/// Returns the settings between the commas that are in no brackets.
std::vector<std::string> settings_of(const std::string& let) {
  std::vector<std::string> settings(1);
  int depth = 0;
  for (const char c : let) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0)
      settings.emplace_back();
    else
      settings.back() += c;
  }
  return settings;
}

/// Returns the value as the draw has it. A choice may be any value, so its text is compared.
std::optional<LawValue> value_of(const Draw& draw, const std::string& text) {
  for (const LawValue& choice : draw.choices()) {
    const auto* word = std::get_if<std::string>(&choice.is);
    if (word != nullptr ? *word == text : law_text(choice) == text)
      return choice;
  }
  Diagnostics diagnostics(kLet);
  const Document document(text, diagnostics);
  const std::optional<DocumentNode> root = document.root();
  if (!root)
    return std::nullopt;
  const LawValue value = law_value(*root);
  return std::holds_alternative<DocumentNode>(value.is) ? std::nullopt : std::optional(value);
}

}  // namespace

Scenario with_values(const Law& law, const std::string& let) {
  std::map<std::string, std::string> given;
  const std::vector<std::string_view> names(law.names().begin(), law.names().end());
  for (const std::string& setting : settings_of(let)) {
    const size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals);
    if (equals == std::string::npos)
      refuse(kLet, fmt::format("expected NAME=VALUE, got {}", in_quotes(setting)));
    if (std::find(names.begin(), names.end(), name) == names.end())
      refuse(kLet, fmt::format("expected one of {}, got {}{}", fmt::join(names, ", "),
                               in_quotes(name), did_you_mean(name, names)));
    if (!given.emplace(name, setting.substr(equals + 1)).second)
      refuse(kLet, fmt::format("{} is given twice", name));
  }
  LawCase made;
  for (size_t i = 0; i < names.size(); ++i) {
    const Draw& draw = law.draws()[i];
    const auto text = given.find(law.names()[i]);
    if (text == given.end()) {
      made.values.push_back(draw.least(law.file(), made.values));
      continue;
    }
    const std::optional<LawValue> value = value_of(draw, text->second);
    if (!value || !draw.may_give(law.file(), made.values, *value))
      refuse(kLet, fmt::format("expected a value of {} that may be drawn, got {}", names[i],
                               in_quotes(text->second)));
    made.values.push_back(*value);
  }
  if (!law.admits(made.values))
    refuse(kLet, fmt::format("expected values that meet \"where\", got {}",
                             values_text(law, made.values)));
  return scenario_of(law, made);
}

}  // namespace orrery
