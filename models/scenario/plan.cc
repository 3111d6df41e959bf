#include "models/scenario/plan.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/characters.h"
#include "models/base/compiler.h"
#include "models/scenario/fields.h"
#include "models/scenario/json_text.h"
#include "models/scenario/law.h"
#include "models/scenario/reader.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 7> kOwn = {"sweep", "constraints", "minimize", "work",
                                                  "price", "cases",       "kinds"};
constexpr std::array<std::string_view, 3> kOfTerms = {"constraints", "work", "price"};
constexpr std::array kAxes = {PlanAxis::Makespan, PlanAxis::Devices, PlanAxis::PeakMemory,
                              PlanAxis::Cost};
constexpr int64_t kMostNumber = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostValues = 65'536;  // of one name

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  });
}

/// Returns whether a text that is written without quotes is not read as JSON.
bool is_word(std::string_view text) {
  const auto of_number = [](char c) { return is_digit(c) || c == '-' || c == 'e' || c == 'E'; };
  const bool may_be_number = std::all_of(text.begin(), text.end(), of_number) &&
                             std::any_of(text.begin(), text.end(), is_digit);
  return !text.empty() && is_plain(text) && !may_be_number && text != "true" && text != "false" &&
         text != "null";
}

/// Reads {"from": 1, "to": 64, "times": 2}, or "step" in the place of "times".
std::vector<TemplateValue> swept_range(DocumentNode node, Diagnostics& diagnostics) {
  Fields fields(node, diagnostics);
  const auto number = [&](std::string_view key, bool required, int64_t least) {
    const auto at = required ? fields.required(key) : fields.optional(key);
    return at ? read_integer(*at, "a whole number", {least, kMostNumber}, diagnostics)
              : std::optional<int64_t>();
  };
  const bool grows = fields.object().find("times").has_value();
  const std::optional<int64_t> from =
      number("from", true, grows ? 1 : std::numeric_limits<int64_t>::min());
  const std::optional<int64_t> to = number("to", true, from.value_or(1));
  const std::optional<int64_t> times = number("times", false, 2);
  const std::optional<int64_t> step = grows ? std::nullopt : number("step", false, 1);
  fields.finish();
  std::vector<TemplateValue> values;
  if (!from || !to || (grows && !times))
    return values;
  for (Int128 value = *from; value <= *to;
       value = grows ? value * *times : value + step.value_or(1)) {
    if (values.size() == static_cast<size_t>(kMostValues)) {
      diagnostics.add(node.origin(),
                      fmt::format("expected at most {} values, got more", kMostValues));
      break;
    }
    values.push_back({static_cast<int64_t>(value)});
  }
  return values;
}

std::vector<TemplateValue> swept_values(DocumentNode node, Diagnostics& diagnostics) {
  if (node.kind() == DocumentNode::Kind::Object)
    return swept_range(node, diagnostics);
  std::vector<TemplateValue> values;
  if (!is_list(node, "a list of values, or an object with \"from\" and \"to\"", diagnostics))
    return values;
  for (const DocumentNode item : node) {
    TemplateValue value = template_value(item);
    if (std::find(values.begin(), values.end(), value) != values.end())
      diagnostics.add(item.origin(),
                      fmt::format("expected each value once, got {} again", shown(value)));
    else
      values.push_back(std::move(value));
  }
  if (node.size() == 0)
    expected(node, "at least 1 value", diagnostics);
  return values;
}

/// Reads {"at_most": AMOUNT}.
template <class Amount>
std::optional<Amount> bound_of(Fields& fields, std::string_view key, Dimension dimension,
                               Diagnostics& diagnostics) {
  const auto node = fields.optional(key);
  if (!node || !is_object(*node, "an object with \"at_most\"", diagnostics))
    return std::nullopt;
  Fields bound(*node, diagnostics);
  const std::optional<int64_t> amount = bound.required_quantity("at_most", dimension);
  bound.finish();
  return amount ? std::optional(Amount(*amount)) : std::nullopt;
}

PlanConstraints constraints_of(DocumentNode node, Diagnostics& diagnostics) {
  PlanConstraints constraints;
  if (!is_object(node, "an object of constraints", diagnostics))
    return constraints;
  Fields fields(node, diagnostics);
  constraints.peak_memory =
      bound_of<Bytes>(fields, key_of(PlanAxis::PeakMemory), Dimension::Size, diagnostics);
  constraints.makespan =
      bound_of<Duration>(fields, key_of(PlanAxis::Makespan), Dimension::Time, diagnostics);
  if (const auto devices = fields.optional(key_of(PlanAxis::Devices));
      devices && is_object(*devices, "an object with \"at_most\"", diagnostics)) {
    Fields bound(*devices, diagnostics);
    if (const auto most = bound.required("at_most"))
      constraints.devices =
          read_integer(*most, "a number of devices", {1, kMostNumber}, diagnostics);
    bound.finish();
  }
  fields.finish();
  return constraints;
}

std::optional<PlanWork> work_of(DocumentNode node, Diagnostics& diagnostics) {
  if (node.kind() != DocumentNode::Kind::Object || node.size() != 1 ||
      node.first()->key().empty()) {
    expected(node, "an object with one number, such as {\"tokens\": 4096}", diagnostics);
    return std::nullopt;
  }
  const DocumentNode amount = *node.first();
  const auto read = read_integer(amount, fmt::format("a number of {}", amount.key()),
                                 {1, kMostNumber}, diagnostics);
  return read ? std::optional(PlanWork{amount.key(), *read}) : std::nullopt;
}

std::optional<PlanPrice> price_of(DocumentNode node, Diagnostics& diagnostics) {
  if (!is_object(node, "an object with \"per_device_hour\"", diagnostics))
    return std::nullopt;
  Fields fields(node, diagnostics);
  std::optional<PlanPrice> price;
  if (const auto per_hour = fields.required("per_device_hour")) {
    const std::string_view text = per_hour->kind() == DocumentNode::Kind::Text
                                      ? std::string_view(per_hour->text())
                                      : std::string_view();
    const size_t space = text.find(' ');
    const std::optional<int64_t> micros = read_millionths(text.substr(0, space));
    const std::string_view currency =
        space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
    if (micros && is_word(currency) &&
        currency.find_first_of("-_0123456789") == std::string_view::npos)
      price = PlanPrice{*micros, std::string(currency)};
    else
      expected(*per_hour,
               "a price such as \"2.10 USD\", up to 9223372036854.775807 with at most 6 decimals "
               "and a currency of ASCII letters",
               diagnostics);
  }
  fields.finish();
  return price;
}

PlanTerms terms_of(DocumentNode root, Diagnostics& diagnostics) {
  PlanTerms terms;
  if (const auto constraints = root.find("constraints"))
    terms.constraints = constraints_of(*constraints, diagnostics);
  if (const auto work = root.find("work"))
    terms.work = work_of(*work, diagnostics);
  if (const auto price = root.find("price"))
    terms.price = price_of(*price, diagnostics);
  return terms;
}

/// Returns the errors that the function throws.
template <class Function>
std::vector<Diagnostic> errors_of(const Function& function) {
  try {
    function();
  } catch (const InputError& error) {
    return error.diagnostics();
  }
  return {};
}

/// Returns the keys of the document that are not among `keys`.
std::vector<std::string_view> keys_but(const Document& document,
                                       std::span<const std::string_view> keys) {
  std::vector<std::string_view> others;
  const DocumentNode root = *document.root();
  for (const DocumentNode member : root)
    if (std::find(keys.begin(), keys.end(), member.key()) == keys.end())
      others.push_back(member.key());
  return others;
}

}  // namespace

bool is_plan(std::string_view text, const Limits& limits) {
  return has_outer_key(text, "sweep", limits);
}

bool is_template(std::string_view text, const Limits& limits) {
  return is_law(text, limits) || is_plan(text, limits);
}

std::string_view key_of(PlanAxis axis) {
  switch (axis) {
    case PlanAxis::Makespan:
      return "makespan";
    case PlanAxis::Devices:
      return "devices";
    case PlanAxis::PeakMemory:
      return "peak_memory";
    case PlanAxis::Cost:
      break;
  }
  return "cost";
}

Plan::Plan(std::string file, std::string text, const Limits& limits)
    : ScenarioTemplate(std::move(file), std::move(text), "a plan, an object", limits) {
  read(kOwn, [&](Fields& fields, Diagnostics& diagnostics) {
    if (const auto sweep = fields.required("sweep"))
      read_sweep(*sweep, diagnostics);
    for (const std::string_view key : kOfTerms)
      (void)fields.optional(key);
    if (const auto minimize = fields.optional("minimize"))
      read_minimize(*minimize, diagnostics);
    if (const auto cases = fields.optional("cases"))
      read_cases(*cases, diagnostics);
    if (const auto kinds = fields.optional("kinds"))
      read_kinds(*kinds, diagnostics);
  });
  Diagnostics diagnostics(this->file());
  terms_.emplace(document(), names(), keys_but(document(), kOfTerms), diagnostics);
  diagnostics.throw_if_any();
  check_terms();
}

void Plan::check_terms() const {
  Diagnostics of_holes(file());
  for (const std::string_view key : kOfTerms)
    if (const auto value = document().root()->find(key))
      refuse_holes(*value, of_holes);
  std::vector<Diagnostic> errors = errors_of([&] {
    Diagnostics diagnostics(file());
    (void)terms_of(*document().root(), diagnostics);
    diagnostics.throw_if_any();
  });
  const std::vector<Diagnostic> holes = errors_of([&] { of_holes.throw_if_any(); });
  std::erase_if(errors, [&](const Diagnostic& error) {
    return std::ranges::any_of(holes,
                               [&](const Diagnostic& hole) { return hole.origin == error.origin; });
  });
  if (!errors.empty())
    throw InputError(file(), std::move(errors));
}

void Plan::read_sweep(DocumentNode node, Diagnostics& diagnostics) {
  sweep_origin_ = node.origin();
  refuse_holes(node, diagnostics);
  read_names(
      node, "an object with the values of each name",
      [&](DocumentNode values) { sweep_.push_back(swept_values(values, diagnostics)); },
      diagnostics);
  for (const std::vector<TemplateValue>& values : sweep_)
    only_.push_back(values.size() == 1 ? std::optional(values.front()) : std::nullopt);
  if (node.kind() == DocumentNode::Kind::Object && node.size() == 0)
    expected(node, "at least 1 name", diagnostics);
}

void Plan::read_minimize(DocumentNode node, Diagnostics& diagnostics) {
  std::vector<std::string_view> words;
  for (const PlanAxis axis : kAxes)
    words.push_back(key_of(axis));
  if (!is_list(node, "a list of figures", diagnostics))
    return;
  minimize_.clear();
  for (const DocumentNode item : node)
    if (const auto word = read_word(item, words, diagnostics)) {
      const PlanAxis axis =
          kAxes[static_cast<size_t>(std::find(words.begin(), words.end(), *word) - words.begin())];
      if (std::find(minimize_.begin(), minimize_.end(), axis) != minimize_.end())
        diagnostics.add(item.origin(),
                        fmt::format("expected each figure once, got \"{}\" again", *word));
      else if (axis == PlanAxis::Cost && !document().root()->find("price"))
        diagnostics.add(item.origin(), "expected a \"price\" in the plan, got none");
      else
        minimize_.push_back(axis);
    }
  if (node.size() == 0)
    expected(node, "at least 1 figure", diagnostics);
}

void Plan::read_cases(DocumentNode node, Diagnostics& diagnostics) {
  refuse_holes(node, diagnostics);
  if (!is_list(node, "a list of cases", diagnostics))
    return;
  for (const DocumentNode item : node) {
    if (!is_object(item, "a case: {\"id\", \"let\"}", diagnostics))
      continue;
    Fields fields(item, diagnostics);
    PlanCase made;
    if (const auto id = fields.required("id")) {
      made.id = read_text(*id, "a name", diagnostics).value_or("");
      const bool is_taken = std::any_of(cases_.begin(), cases_.end(),
                                        [&](const PlanCase& c) { return c.id == made.id; });
      if (id->kind() == DocumentNode::Kind::Text && (made.id.empty() || !is_plain(made.id)))
        expected(*id, "a name of letters, digits, - and _", diagnostics);
      else if (is_taken)
        expected(*id, "another name for each case", diagnostics);
    }
    if (const auto let = fields.required("let");
        let && is_object(*let, "an object with a value for each name", diagnostics)) {
      Fields values(*let, diagnostics);
      for (const std::string& name : names())
        if (const auto value = values.required(name))
          made.values.push_back(template_value(*value));
      values.finish();
    }
    fields.finish();
    cases_.push_back(std::move(made));
  }
}

void Plan::read_kinds(DocumentNode node, Diagnostics& diagnostics) {
  refuse_holes(node, diagnostics);
  if (!is_object(node, "an object with patterns of names for each kind", diagnostics))
    return;
  for (const DocumentNode member : node) {
    if (member.key().empty())
      diagnostics.add(member.key_origin(), "expected the name of a kind as key, got \"\"");
    if (auto patterns = orrery::read_names(member, "a pattern of names", diagnostics))
      kinds_.push_back({member.key(), std::move(*patterns)});
  }
}

std::vector<std::vector<TemplateValue>> Plan::points() const {
  Int128 combinations = 1;
  for (const std::vector<TemplateValue>& values : sweep_)
    combinations = std::min<Int128>(combinations * values.size(), kMostNumber);
  if (combinations > limits().points) {
    const auto count = static_cast<int64_t>(combinations);
    throw InputError(
        file(), {{sweep_origin_, count == kMostNumber ? beyond(limits(), &Limits::points, "more")
                                                      : beyond(limits(), &Limits::points, count)}});
  }
  std::vector<std::vector<TemplateValue>> admitted;
  for (int64_t number = 0; number < combinations; ++number) {
    std::vector<TemplateValue> point(sweep_.size());
    int64_t rest = number;
    for (size_t name = sweep_.size(); name-- > 0;) {
      const auto count = static_cast<int64_t>(sweep_[name].size());
      point[name] = sweep_[name][static_cast<size_t>(rest % count)];
      rest /= count;
    }
    if (admits(point))
      admitted.push_back(std::move(point));
  }
  if (admitted.empty())
    throw InputError(file(),
                     {{where_origin(), fmt::format("expected points that meet {}, got none of {}",
                                                   JsonText::text(where()).line(),
                                                   static_cast<int64_t>(combinations))}});
  return admitted;
}

std::optional<std::string> Plan::said(std::string_view key) const {
  const std::optional<DocumentNode> value = document().root()->find(key);
  return value ? std::optional(orrery::json_of(*value).line()) : std::nullopt;
}

Scenario Plan::scenario(std::span<const TemplateValue> values) const {
  Diagnostics diagnostics(file());
  const std::unique_ptr<const Document> filled = this->filled(values, diagnostics);
  return read_scenario(file(), *filled, limits(), ScenarioDefaults{});
}

PlanTerms Plan::terms(std::span<const TemplateValue> values) const {
  Diagnostics diagnostics(file());
  const std::unique_ptr<const Document> filled = terms_->filled(values, diagnostics, limits());
  PlanTerms terms = terms_of(*filled->root(), diagnostics);
  diagnostics.throw_if_any();
  return terms;
}

namespace {

/// Returns the value whole, and with texts escaped, so that different values look different.
JsonText json_of(const TemplateValue& value) {
  if (const auto* const text = std::get_if<std::string>(&value.is))
    return JsonText::text(*text);
  if (const auto* const node = std::get_if<DocumentNode>(&value.is))
    return orrery::json_of(*node);
  if (const auto* const items = std::get_if<TemplateValue::List>(&value.is)) {
    std::vector<JsonText> texts;
    for (const TemplateValue& item : *items)
      texts.push_back(json_of(item));
    return JsonText::list(std::move(texts));
  }
  return JsonText::raw(value_text(value));
}

}  // namespace

std::string point_id(const Plan& plan, std::span<const TemplateValue> values) {
  std::vector<std::string> own;
  std::vector<std::string> all;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto* const text = std::get_if<std::string>(&values[i].is);
    all.push_back(
        fmt::format("{}={}", plan.names()[i],
                    text != nullptr && is_word(*text) ? *text : json_of(values[i]).line()));
    const TemplateValue* const only = plan.only_value(i);
    if (only == nullptr || !(*only == values[i]))
      own.push_back(all.back());
  }
  return fmt::format("{}", fmt::join(own.empty() ? all : own, ","));
}

bool matches(std::string_view text, std::string_view pattern) {
  size_t at = 0;
  size_t in_pattern = 0;
  std::optional<size_t> star;  // the last one, which stands for text up to `matched`
  size_t matched = 0;
  while (at < text.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      matched = at;
    } else if (in_pattern < pattern.size() && pattern[in_pattern] == text[at]) {
      ++in_pattern;
      ++at;
    } else if (star) {
      in_pattern = *star + 1;
      at = ++matched;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

}  // namespace orrery
