#include "models/scenario/holes.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/scenario/fields.h"
#include "models/scenario/reader.h"

namespace orrery {
namespace {

constexpr std::string_view kOpening = "${";

/// Writes a value in the place of a hole.
void write(const TemplateValue& value, DocumentWriter& to) {
  if (const auto* number = std::get_if<int64_t>(&value.is))
    return to.number(*number);
  if (const auto* boolean = std::get_if<bool>(&value.is))
    return to.boolean(*boolean);
  if (const auto* text = std::get_if<std::string>(&value.is))
    return to.text(*text);
  if (const auto* node = std::get_if<DocumentNode>(&value.is))
    return to.copy(*node);
  to.open_list();
  for (const TemplateValue& item : std::get<TemplateValue::List>(value.is))
    write(item, to);
  to.close_list();
}

/// Returns whether a hole within a longer text may have the value.
bool has_text(const TemplateValue& value) {
  const auto* node = std::get_if<DocumentNode>(&value.is);
  return node != nullptr ? node->kind() == DocumentNode::Kind::Number
                         : !std::holds_alternative<TemplateValue::List>(value.is);
}

/// Returns where the formula from `begin` on ends: the first "}" that is in no text of the formula.
size_t end_of_hole(std::string_view text, size_t begin) {
  size_t at = begin;
  while ((at = text.find_first_of("'}", at)) != std::string_view::npos && text[at] == '\'') {
    const size_t closing = text.find('\'', at + 1);
    if (closing == std::string_view::npos)
      return text.find('}', at);  // the formula's own error says that the text is open
    at = closing + 1;
  }
  return at;
}

void refuse_hole_in_key(DocumentNode member, Diagnostics& diagnostics) {
  if (member.key().find(kOpening) != std::string::npos)
    diagnostics.add(member.key_origin(),
                    fmt::format("expected a key without holes, got {}", in_quotes(member.key())));
}

}  // namespace

std::string_view without_braces(std::string_view text) {
  return text.starts_with(kOpening) && end_of_hole(text, kOpening.size()) == text.size() - 1
             ? text.substr(kOpening.size(), text.size() - kOpening.size() - 1)
             : text;
}

std::string in_formula(std::string_view formula, const ExpressionError& error) {
  return fmt::format("{}: {}", in_quotes(formula), error.what());
}

void refuse_holes(DocumentNode node, Diagnostics& diagnostics) {
  if (node.kind() == DocumentNode::Kind::Text && node.text().find(kOpening) != std::string::npos)
    expected(node, "a value without holes", diagnostics);
  for (const DocumentNode member : node) {
    if (node.kind() == DocumentNode::Kind::Object)
      refuse_hole_in_key(member, diagnostics);
    refuse_holes(member, diagnostics);
  }
}

Holes::Holes(const Document& document, std::span<const std::string> names,
             std::span<const std::string_view> apart, Diagnostics& diagnostics)
    : document_(document) {
  const DocumentNode root = *document.root();
  for (const DocumentNode member : root)
    if (std::find(apart.begin(), apart.end(), member.key()) != apart.end())
      apart_.push_back(member);
  find(root, names, diagnostics);
}

bool Holes::is_apart(DocumentNode node) const {
  return std::find(apart_.begin(), apart_.end(), node) != apart_.end();
}

void Holes::find(DocumentNode node, std::span<const std::string> names, Diagnostics& diagnostics) {
  if (node.kind() == DocumentNode::Kind::Text) {
    if (std::optional<Hole> hole = read(node, names, diagnostics))
      holes_.push_back(std::move(*hole));
    return;
  }
  for (const DocumentNode member : node) {
    if (is_apart(member))
      continue;
    if (node.kind() == DocumentNode::Kind::Object)
      refuse_hole_in_key(member, diagnostics);
    find(member, names, diagnostics);
  }
}

std::optional<Holes::Hole> Holes::read(DocumentNode node, std::span<const std::string> names,
                                       Diagnostics& diagnostics) const {
  Hole hole{node, {}, {}};
  std::string_view rest = node.text();
  for (size_t at = rest.find(kOpening); at != std::string_view::npos; at = rest.find(kOpening)) {
    const size_t begin = at + kOpening.size();
    const size_t end = end_of_hole(rest, begin);
    if (end == std::string_view::npos) {
      diagnostics.add(node.origin(), fmt::format("expected \"}}\" after \"${{\", got {}",
                                                 in_quotes(rest.substr(at))));
      return std::nullopt;
    }
    hole.pieces.emplace_back(rest.substr(0, at));
    const std::string_view formula = rest.substr(begin, end - begin);
    try {
      hole.formulas.emplace_back(formula, names);
    } catch (const ExpressionError& error) {
      diagnostics.add(node.origin(), in_formula(formula, error));
      return std::nullopt;
    }
    rest.remove_prefix(end + 1);
  }
  if (hole.formulas.empty())
    return std::nullopt;
  hole.pieces.emplace_back(rest);
  return hole;
}

TemplateValue Holes::value_of(const Hole& hole, std::span<const TemplateValue> values,
                              Diagnostics& diagnostics, const Limits& limits) {
  std::string text = hole.pieces.front();
  for (size_t f = 0; f < hole.formulas.size(); ++f) {
    try {
      TemplateValue value = hole.formulas[f].value(values);
      if (hole.is_whole())
        return value;
      if (!has_text(value))
        throw ExpressionError(fmt::format(
            "expected a number, a boolean or a text within a longer text, got {}", shown(value)));
      const auto* written = std::get_if<std::string>(&value.is);
      text += written == nullptr ? value_text(value) : *written;
    } catch (const ExpressionError& error) {
      diagnostics.add(hole.at.origin(), in_formula(hole.formulas[f].text(), error));
      return {text};
    }
    text += hole.pieces[f + 1];
  }
  if (text.size() > static_cast<size_t>(limits.text))
    diagnostics.add(hole.at.origin(),
                    beyond(limits, &Limits::text, static_cast<int64_t>(text.size())));
  return {std::move(text)};
}

std::unique_ptr<const Document> Holes::filled(std::span<const TemplateValue> values,
                                              Diagnostics& diagnostics,
                                              const Limits& limits) const {
  auto hole = holes_.begin();
  const auto replaces = [&](DocumentNode node, DocumentWriter& instead) {
    if (hole != holes_.end() && hole->at == node) {
      write(value_of(*hole++, values, diagnostics, limits), instead);
      return true;
    }
    return is_apart(node);
  };
  auto made = std::make_unique<const Document>(document_, replaces, diagnostics, limits);
  diagnostics.throw_if_any();
  return made;
}

ScenarioTemplate::ScenarioTemplate(std::string file, std::string text, std::string_view what,
                                   const Limits& limits)
    : file_(std::move(file)), text_(std::move(text)), limits_(limits), diagnostics_(file_) {
  if (text_.size() > static_cast<size_t>(limits.file))
    diagnostics_.add(beyond(limits, &Limits::file, static_cast<int64_t>(text_.size())));
  diagnostics_.throw_if_any();
  document_ = std::make_unique<const Document>(text_, diagnostics_, limits);
  if (!document_->root() || !is_object(*document_->root(), what, diagnostics_))
    diagnostics_.throw_if_any();
}

void ScenarioTemplate::read(std::span<const std::string_view> own,
                            FunctionRef<void(Fields&, Diagnostics&)> read_own) {
  Fields fields(*document_->root(), diagnostics_);
  know_scenario_keys(fields);
  if (const auto name = fields.optional("name"); name && name->kind() == DocumentNode::Kind::Text)
    name_ = name->text();
  has_cluster_ = fields.optional("cluster").has_value();
  read_own(fields, diagnostics_);
  if (const auto where = fields.optional("where"))
    read_where(*where, diagnostics_);
  const bool is_read = diagnostics_.empty();
  if (is_read) {
    std::vector<std::string_view> apart(own.begin(), own.end());
    apart.emplace_back("where");
    holes_.emplace(*document_, names_, apart, diagnostics_);
  }
  if (!is_read || diagnostics_.empty())  // a key with a hole is refused as that
    fields.finish();
  diagnostics_.throw_if_any();
}

void ScenarioTemplate::read_names(DocumentNode node, std::string_view what,
                                  FunctionRef<void(DocumentNode value)> read_value,
                                  Diagnostics& diagnostics) {
  if (!is_object(node, what, diagnostics))
    return;
  for (const DocumentNode member : node) {
    if (!is_name(member.key()))
      diagnostics.add(
          member.key_origin(),
          fmt::format("expected a name of letters, digits and _ that formulas may use, got {}",
                      in_quotes(member.key())));
    read_value(member);
    names_.push_back(member.key());
  }
}

void ScenarioTemplate::read_where(DocumentNode node, Diagnostics& diagnostics) {
  const std::optional<std::string> text = read_text(node, "a formula", diagnostics);
  if (!text)
    return;
  where_origin_ = node.origin();
  try {
    where_.emplace(without_braces(*text), names_);
  } catch (const ExpressionError& error) {
    diagnostics.add(where_origin_, in_formula(without_braces(*text), error));
  }
}

bool ScenarioTemplate::admits(std::span<const TemplateValue> values) const {
  if (!where_)
    return true;
  std::string wrong;
  try {
    const TemplateValue value = where_->value(values);
    if (const auto* admitted = std::get_if<bool>(&value.is))
      return *admitted;
    wrong =
        fmt::format("{}: expected true or false, got {}", in_quotes(where_->text()), shown(value));
  } catch (const ExpressionError& error) {
    wrong = in_formula(where_->text(), error);
  }
  throw with_values_told(*this, values, InputError(file_, {{where_origin_, wrong}}));
}

bool has_outer_key(std::string_view text, std::string_view key, const Limits& limits) {
  if (text.find(fmt::format("\"{}\"", key)) == std::string_view::npos)
    return false;  // most texts have no such key, and need not be read twice
  Diagnostics ignored("");
  try {
    const Document document(text, ignored, limits);
    const std::optional<DocumentNode> root = document.root();
    return root && root->find(key);
  } catch (const InputError&) {
    return false;
  }
}

std::string values_text(const ScenarioTemplate& of, std::span<const TemplateValue> values) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < values.size(); ++i)
    texts.push_back(fmt::format("{} = {}", of.names()[i], shown(values[i])));
  return fmt::format("{}", fmt::join(texts, ", "));
}

InputError with_values_told(const ScenarioTemplate& of, std::span<const TemplateValue> values,
                            const InputError& error) {
  std::vector<Diagnostic> diagnostics = error.diagnostics();
  for (Diagnostic& each : diagnostics)
    if (!values.empty())
      each.message += fmt::format(" (with {})", values_text(of, values));
  return InputError(of.file(), std::move(diagnostics));
}

}  // namespace orrery
