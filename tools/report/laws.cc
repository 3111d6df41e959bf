#include "tools/report/laws.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "models/base/amount_text.h"
#include "models/base/characters.h"
#include "models/base/diagnostics.h"

namespace orrery {
namespace {

constexpr size_t kLabel = 8;  // the width of "drawn" and "least"

/// Returns the value as a word of a count: texts without quotes.
std::string word(const TemplateValue& value) {
  const auto* text = std::get_if<std::string>(&value.is);
  return text != nullptr ? *text : value_text(value);
}

bool reads_as_number(const TemplateValue& value) {
  const std::string text = word(value);
  return !text.empty() && (is_digit(text[0]) || text[0] == '-');
}

std::string drawn_names(const VerifiedLaw& verified) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < verified.law.names().size(); ++i)
    texts.push_back(fmt::format("{} {}", verified.law.names()[i],
                                drawn_text(verified.law.draws()[i], verified.verdict.drawn[i])));
  return texts.empty() ? "nothing" : fmt::format("{}", fmt::join(texts, ", "));
}

std::string line(std::string_view label, const std::string& text, const Style& style) {
  return fmt::format("    {}{}\n", style.dim(fmt::format("{:<{}}", label, kLabel)), text);
}

std::string check_line(const Check& check, const Style& style) {
  return fmt::format("    {} {}  {}\n", style.coloured(check.verdict, check.name), check.of,
                     check.said());
}

std::string outcome(const VerifiedLaw& verified) {
  const LawVerdict& verdict = verified.verdict;
  if (verdict.counterexample)
    return verified.asked
               ? fmt::format("case {} of {} fails", verdict.counterexample->number, *verified.asked)
               : fmt::format("case {} fails", verdict.counterexample->number);
  const std::string cases = counted(static_cast<int64_t>(verdict.cases), "case");
  return verdict.undecided == 0 ? cases : fmt::format("{}, {} undecided", cases, verdict.undecided);
}

std::string commands(const VerifiedLaw& verified, const Style& style) {
  const size_t width = std::max(columns(verified.run), columns(verified.verify)) + 6;
  const auto command = [&](const std::string& text, const std::string& about) {
    return text.empty() ? std::string()
                        : fmt::format("    {}{}{}\n", text, std::string(width - columns(text), ' '),
                                      style.dim(about));
  };
  const std::optional<Counterexample>& found = verified.verdict.counterexample;
  const std::string there =
      found && found->of_written != found->check.of
          ? fmt::format(", where {} is of {}", found->check.name, found->of_written)
          : "";
  return command(verified.run, "this case" + there) +
         command(verified.verify, "the case that was drawn");
}

nlohmann::ordered_json json(const TemplateValue& value);

/// Returns null, a number that is not whole, or an object, as the law's document has it.
nlohmann::ordered_json json(DocumentNode node) {
  if (node.kind() == DocumentNode::Kind::Number)
    return nlohmann::ordered_json::parse(node.number());
  if (node.kind() == DocumentNode::Kind::Null)
    return nullptr;
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const DocumentNode member : node)
    object[member.key()] = json(template_value(member));
  return object;
}

nlohmann::ordered_json json(const TemplateValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value.is))
    return *number;
  if (const auto* boolean = std::get_if<bool>(&value.is))
    return *boolean;
  if (const auto* text = std::get_if<std::string>(&value.is))
    return *text;
  if (const auto* node = std::get_if<DocumentNode>(&value.is))
    return json(*node);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const TemplateValue& item : std::get<TemplateValue::List>(value.is))
    list.push_back(json(item));
  return list;
}

nlohmann::ordered_json json(const Law& law, const std::vector<TemplateValue>& values) {
  nlohmann::ordered_json made = nlohmann::ordered_json::object();
  for (size_t i = 0; i < values.size(); ++i)
    made[law.names()[i]] = json(values[i]);
  return made;
}

/// Returns what was drawn in all cases: for each name an object.
nlohmann::ordered_json json_of_drawn(const VerifiedLaw& verified) {
  nlohmann::ordered_json made = nlohmann::ordered_json::object();
  for (size_t i = 0; i < verified.law.names().size(); ++i) {
    const Draw& draw = verified.law.draws()[i];
    const DrawnValues& drawn = verified.verdict.drawn[i];
    nlohmann::ordered_json& of_name = made[verified.law.names()[i]];
    if (draw.kind() == Draw::Kind::Choice) {
      nlohmann::ordered_json& chosen = of_name["chosen"] = nlohmann::ordered_json::array();
      for (size_t c = 0; c < draw.choices().size(); ++c)
        chosen.push_back({{"value", json(draw.choices()[c])}, {"cases", drawn.chosen[c]}});
      continue;
    }
    const bool is_number = draw.kind() == Draw::Kind::Number;
    of_name[is_number ? "least" : "least_length"] = *drawn.least;
    of_name[is_number ? "most" : "most_length"] = *drawn.most;
  }
  return made;
}

nlohmann::ordered_json json(const Check& check) {
  return {{"name", check.name}, {"of", check.of}, {"message", check.said()}};
}

std::string on_one_line(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

std::string drawn_text(const Draw& draw, const DrawnValues& drawn) {
  const auto is_short = [](const TemplateValue& choice) {
    return !std::holds_alternative<TemplateValue::List>(choice.is) &&
           !std::holds_alternative<DocumentNode>(choice.is);
  };
  const std::vector<TemplateValue>& choices = draw.choices();
  if (!choices.empty() && !std::all_of(choices.begin(), choices.end(), is_short))
    return fmt::format("of {}", counted(static_cast<int64_t>(choices.size()), "choice"));
  if (!choices.empty()) {
    std::vector<std::string> counts;
    const bool numeric = std::any_of(choices.begin(), choices.end(), reads_as_number);
    for (size_t i = 0; i < choices.size(); ++i) {
      // After a number, a bare count reads like another number. The first one says what it counts.
      const std::string count =
          !numeric ? fmt::format("{}", drawn.chosen[i])
          : i == 0 ? fmt::format("({})", counted(static_cast<int64_t>(drawn.chosen[i]), "case"))
                   : fmt::format("({})", drawn.chosen[i]);
      counts.push_back(fmt::format("{} {}", word(choices[i]), count));
    }
    return fmt::format("{}", fmt::join(counts, ", "));
  }
  const std::string range = drawn.least == drawn.most
                                ? fmt::format("{}", *drawn.least)
                                : fmt::format("{} to {}", *drawn.least, *drawn.most);
  return draw.kind() == Draw::Kind::Number ? range : fmt::format("of length {}", range);
}

std::string law_text(const VerifiedLaw& verified, const Style& style) {
  const LawVerdict& verdict = verified.verdict;
  std::string text =
      fmt::format("{} {}  {}  {}\n", style.mark(verdict.verdict), verified.law.file(),
                  style.bold(verified.law.name()), outcome(verified));
  if (!verdict.counterexample) {
    text += line("drawn", drawn_names(verified), style);
    if (verdict.first_undecided)
      text += with_units(check_line(verdict.first_undecided->check, style), style) +
              commands(verified, style);
    return text;
  }
  const Counterexample& found = *verdict.counterexample;
  text += line("drawn", values_text(verified.law, found.drawn), style);
  text += line("least",
               values_text(verified.law, found.least) +
                   (found.ended_early ? " (smaller ones may fail too: not all were tried)" : ""),
               style);
  return text + with_units(check_line(found.check, style), style) + commands(verified, style);
}

std::string law_json(const VerifiedLaw& verified) {
  const LawVerdict& verdict = verified.verdict;
  constexpr std::string_view kVerdicts[] = {"holds", "undecided", "fails"};
  nlohmann::ordered_json made = {
      {"file", verified.law.file()},
      {"name", verified.law.name()},
      {"verdict", kVerdicts[static_cast<size_t>(verdict.verdict)]},
      {"cases", verdict.cases},
      {"undecided", verdict.undecided},
      {"drawn", json_of_drawn(verified)},
  };
  if (verdict.first_undecided)
    made["first_undecided"] = {{"case", verdict.first_undecided->number},
                               {"check", json(verdict.first_undecided->check)},
                               {"replay", verified.verify}};
  if (verdict.counterexample) {
    const Counterexample& found = *verdict.counterexample;
    made["counterexample"] = {
        {"case", found.number},
        {"drawn", json(verified.law, found.drawn)},
        {"least", json(verified.law, found.least)},
        {"ended_early", found.ended_early},
        {"check", json(found.check)},
        {"of_written", found.of_written},
        {"replay", {{"least", verified.run}, {"drawn", verified.verify}}},
    };
  }
  return on_one_line(made);
}

std::string law_json(const std::string& file, const InputError& error) {
  nlohmann::ordered_json errors = nlohmann::ordered_json::array();
  for (const Diagnostic& diagnostic : error.diagnostics()) {
    const std::optional<TextPosition>& at = diagnostic.origin.at;
    nlohmann::ordered_json& each = errors.emplace_back();
    each["pointer"] = diagnostic.origin.pointer;
    each["line"] = at ? nlohmann::ordered_json(at->line) : nullptr;
    each["column"] = at ? nlohmann::ordered_json(at->column) : nullptr;
    each["message"] = diagnostic.message;
  }
  return on_one_line({{"file", file}, {"errors", std::move(errors)}});
}

std::string value_json(const TemplateValue& value) {
  return on_one_line(json(value));
}

std::string counts_text(const LawCounts& counts) {
  const std::string wrong =
      counts.wrong == 0
          ? ""
          : fmt::format("; {} wrong", counted(static_cast<int64_t>(counts.wrong), "law"));
  const std::string cases = counted(static_cast<int64_t>(counts.cases), "case");
  if (counts.failing > 0)
    return fmt::format("{} of {} laws {}, {}{}", counts.failing, counts.laws,
                       counts.failing == 1 ? "fails" : "fail", cases,
                       counts.undecided == 0
                           ? ""
                           : fmt::format("; {} undecided",
                                         counted(static_cast<int64_t>(counts.undecided), "law"))) +
           wrong;
  if (counts.undecided > 0)
    return fmt::format("{} of {} laws {} undecided, {}", counts.undecided, counts.laws,
                       counts.undecided == 1 ? "is" : "are", cases) +
           wrong;
  return fmt::format("{} {}, {}", counted(static_cast<int64_t>(counts.laws), "law"),
                     counts.laws == 1 ? "holds" : "hold", cases) +
         wrong;
}

}  // namespace orrery
