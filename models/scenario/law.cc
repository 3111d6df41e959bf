#include "models/scenario/law.h"

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "models/scenario/document.h"
#include "models/scenario/fields.h"

namespace orrery {
namespace {

/// Refuses an empty list of expectations, since every program would meet it.
void refuse_none(DocumentNode expect, Diagnostics& diagnostics) {
  if (expect.kind() == DocumentNode::Kind::List && expect.size() == 0)
    diagnostics.add(expect.origin(), "expected at least 1 expectation, got none");
}

}  // namespace

bool is_law(std::string_view text, const Limits& limits) {
  return has_outer_key(text, "forall", limits);
}

Law::Law(std::string file, std::string text, const Limits& limits)
    : ScenarioTemplate(std::move(file), std::move(text), "a law, an object", limits) {
  constexpr std::array<std::string_view, 1> kOwn = {"forall"};
  read(kOwn, [&](Fields& fields, Diagnostics& diagnostics) {
    if (const auto expect = fields.required("expect"))
      refuse_none(*expect, diagnostics);
    const auto read_draw = [&](DocumentNode member) {
      if (std::optional<Draw> draw = Draw::read(member, names(), diagnostics))
        draws_.push_back(std::move(*draw));
    };
    if (const auto draws = fields.required("forall"))
      read_names(*draws, "an object with what is drawn for each name", read_draw, diagnostics);
  });
}

Scenario Law::scenario(std::span<const TemplateValue> values,
                       const ScenarioDefaults& defaults) const {
  Diagnostics diagnostics(file());
  const std::unique_ptr<const Document> filled = this->filled(values, diagnostics);
  refuse_none(*filled->root()->find("expect"), diagnostics);
  diagnostics.throw_if_any();
  return read_scenario(file(), *filled, limits(), defaults);
}

}  // namespace orrery
