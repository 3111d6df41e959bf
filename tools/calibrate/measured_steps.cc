// This is the part of accuracy.h that reads steps of training which were measured.

#include <array>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"
#include "models/scenario/plan.h"
#include "tools/calibrate/accuracy.h"

namespace orrery {
namespace {

constexpr std::string_view kPlan = "plan";
constexpr std::string_view kSteps = "steps";

/// Reads the values of names that an object has.
void read_values(DocumentNode node, const Plan& plan, std::map<std::string, TemplateValue>& values,
                 Diagnostics& diagnostics) {
  if (!is_object(node, "an object with values of names of the plan", diagnostics))
    return;
  Fields fields(node, diagnostics);
  for (const std::string& name : plan.names())
    if (const auto value = fields.optional(name))
      values.insert_or_assign(name, template_value(*value));
  fields.finish();
}

/// Returns a value for each name: a given one, or the only one that the plan has.
std::vector<TemplateValue> point_of(const std::map<std::string, TemplateValue>& given,
                                    const Plan& plan, DocumentNode step, Diagnostics& diagnostics) {
  std::vector<TemplateValue> values;
  for (size_t i = 0; i < plan.names().size(); ++i) {
    const auto found = given.find(plan.names()[i]);
    if (found == given.end() && plan.sweep()[i].size() > 1)
      diagnostics.add(step.origin(), fmt::format("expected a value of \"{}\" in \"let\", got none",
                                                 plan.names()[i]));
    values.push_back(found == given.end() ? plan.sweep()[i].front() : found->second);
  }
  return values;
}

/// Reads a step. Returns nothing after an error.
std::optional<MeasuredStep> read_step(DocumentNode node, const Plan& plan,
                                      std::map<std::string, TemplateValue> values,
                                      Diagnostics& diagnostics) {
  const size_t before = diagnostics.size();
  Fields fields(node, diagnostics);
  MeasuredStep step;
  if (const auto work = fields.required("work"))
    step.work = read_text(*work, "what the step is of", diagnostics).value_or("");
  if (const auto let = fields.optional("let"))
    read_values(*let, plan, values, diagnostics);
  if (const auto runs = fields.optional("runs"))
    step.runs = read_integer(*runs, "a number of runs", {1, 1'000'000}, diagnostics).value_or(1);
  step.time = Duration(
      fields.required_quantity("time", Dimension::Time, {1, std::numeric_limits<int64_t>::max()})
          .value_or(1));
  fields.finish();
  if (diagnostics.size() != before)
    return std::nullopt;
  const std::vector<TemplateValue> point = point_of(values, plan, node, diagnostics);
  if (diagnostics.size() != before)
    return std::nullopt;
  try {
    if (!plan.admits(point))
      diagnostics.add(node.origin(), "expected values that meet the plan's \"where\"");
    else
      step.scenario = std::make_shared<const Scenario>(plan.scenario(point));
  } catch (const InputError& error) {
    const std::string text = error.what();
    diagnostics.add(node.origin(), fmt::format("expected a point of the plan, which says {}",
                                               text.substr(0, text.find('\n'))));
  }
  return diagnostics.size() == before ? std::optional(std::move(step)) : std::nullopt;
}

}  // namespace

bool is_step_table(const std::string& text, const Limits& limits) {
  Diagnostics diagnostics("");
  const Document document(text, diagnostics, limits, ControlCharacters::Accepted);
  const std::optional<DocumentNode> root = document.root();
  return root && root->kind() == DocumentNode::Kind::Object &&
         (root->find(kPlan) || root->find(kSteps));
}

std::string plan_of_steps(const std::string& file, const std::string& text, const Limits& limits) {
  Diagnostics diagnostics(file);
  const Document document(text, diagnostics, limits, ControlCharacters::Accepted);
  diagnostics.throw_if_any();
  const auto plan = document.root()->find(kPlan);
  if (!plan || plan->kind() != DocumentNode::Kind::Text)
    expected(plan.value_or(*document.root()), "the file of a plan under \"plan\"", diagnostics);
  diagnostics.throw_if_any();
  return std::string(plan->text());
}

std::vector<MeasuredStep> read_steps(const std::string& file, const std::string& text,
                                     const std::string& plan_file, const std::string& plan_text,
                                     const Limits& limits) {
  const Plan plan(plan_file, plan_text, limits);
  Diagnostics diagnostics(file);
  const Document document(text, diagnostics, limits, ControlCharacters::Accepted);
  diagnostics.throw_if_any();
  Fields root(*document.root(), diagnostics);
  for (const std::string_view other : std::to_array<std::string_view>({kPlan, "use", "about"}))
    static_cast<void>(root.optional(other));
  std::map<std::string, TemplateValue> of_all;
  if (const auto let = root.optional("let"))
    read_values(*let, plan, of_all, diagnostics);
  std::vector<MeasuredStep> steps;
  const auto list = root.required(kSteps);
  root.finish();
  if (list && (list->kind() != DocumentNode::Kind::List || list->size() == 0))
    expected(*list, "a list \"steps\" with at least one step", diagnostics);
  else if (list)
    for (const DocumentNode node : *list)
      if (is_object(node, R"(a step: {"work", "let", "runs", "time"})", diagnostics))
        if (auto step = read_step(node, plan, of_all, diagnostics))
          steps.push_back(std::move(*step));
  diagnostics.throw_if_any();
  return steps;
}

}  // namespace orrery
