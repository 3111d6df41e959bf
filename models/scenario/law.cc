#include "models/scenario/law.h"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/scenario/document.h"
#include "models/scenario/fields.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 2> kOfLaw = {"forall", "where"};

/// Refuses an empty list of expectations, since every program would meet it.
void refuse_none(DocumentNode expect, Diagnostics& diagnostics) {
  if (expect.kind() == DocumentNode::Kind::List && expect.size() == 0)
    diagnostics.add(expect.origin(), "expected at least 1 expectation, got none");
}

}  // namespace

bool is_law(std::string_view text, const Limits& limits) {
  if (text.find("\"forall\"") == std::string_view::npos)
    return false;  // most texts are none, and need not be read twice
  Diagnostics ignored("law");
  try {
    const Document document(text, ignored, limits);
    const std::optional<DocumentNode> root = document.root();
    return root && root->find("forall");
  } catch (const InputError&) {
    return false;
  }
}

Law::Law(std::string file, std::string text, const Limits& limits)
    : file_(std::move(file)), text_(std::move(text)), limits_(limits) {
  Diagnostics diagnostics(file_);
  if (text_.size() > static_cast<size_t>(limits.file))
    diagnostics.add(beyond(limits, &Limits::file, static_cast<int64_t>(text_.size())));
  diagnostics.throw_if_any();
  document_ = std::make_unique<const Document>(text_, diagnostics, limits);
  if (document_->root() && is_object(*document_->root(), "a law, an object", diagnostics))
    read(diagnostics);
  diagnostics.throw_if_any();
}

void Law::read(Diagnostics& diagnostics) {
  Fields fields(*document_->root(), diagnostics);
  know_scenario_keys(fields);
  if (const auto name = fields.optional("name"); name && name->kind() == DocumentNode::Kind::Text)
    name_ = name->text();
  has_cluster_ = fields.optional("cluster").has_value();
  if (const auto expect = fields.required("expect"))
    refuse_none(*expect, diagnostics);
  if (const auto draws = fields.required("forall"))
    read_draws(*draws, diagnostics);
  if (const auto where = fields.optional("where"))
    read_where(*where, diagnostics);
  const bool is_read = diagnostics.empty();
  if (is_read)
    holes_.emplace(*document_, names_, kOfLaw, diagnostics);
  if (!is_read || diagnostics.empty())  // a key with a hole is refused as that
    fields.finish();
}

void Law::read_draws(DocumentNode node, Diagnostics& diagnostics) {
  if (!is_object(node, "an object with what is drawn for each name", diagnostics))
    return;
  for (const DocumentNode member : node) {
    if (!is_name(member.key()))
      diagnostics.add(
          member.key_origin(),
          fmt::format("expected a name of letters, digits and _ that formulas may use, got {}",
                      in_quotes(member.key())));
    std::optional<Draw> draw = Draw::read(member, names_, diagnostics);
    names_.push_back(member.key());
    if (draw)
      draws_.push_back(std::move(*draw));
  }
}

void Law::read_where(DocumentNode node, Diagnostics& diagnostics) {
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

bool Law::admits(std::span<const LawValue> values) const {
  if (!where_)
    return true;
  std::string wrong;
  try {
    const LawValue value = where_->value(values);
    if (const auto* admitted = std::get_if<bool>(&value.is))
      return *admitted;
    wrong =
        fmt::format("{}: expected true or false, got {}", in_quotes(where_->text()), shown(value));
  } catch (const ExpressionError& error) {
    wrong = in_formula(where_->text(), error);
  }
  throw with_drawn(*this, values, InputError(file_, {{where_origin_, wrong}}));
}

Scenario Law::scenario(std::span<const LawValue> values, const ScenarioDefaults& defaults) const {
  Diagnostics diagnostics(file_);
  const std::unique_ptr<const Document> filled = holes_->filled(values, diagnostics, limits_);
  refuse_none(*filled->root()->find("expect"), diagnostics);
  diagnostics.throw_if_any();
  return read_scenario(file_, *filled, limits_, defaults);
}

std::string values_text(const Law& law, std::span<const LawValue> values) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < values.size(); ++i)
    texts.push_back(fmt::format("{} = {}", law.names()[i], shown(values[i])));
  return fmt::format("{}", fmt::join(texts, ", "));
}

InputError with_drawn(const Law& law, std::span<const LawValue> values, const InputError& error) {
  std::vector<Diagnostic> diagnostics = error.diagnostics();
  for (Diagnostic& each : diagnostics)
    if (!values.empty())
      each.message += fmt::format(" (with {})", values_text(law, values));
  return InputError(law.file(), std::move(diagnostics));
}

}  // namespace orrery
