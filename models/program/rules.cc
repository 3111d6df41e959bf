#include "models/program/rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/program/families.h"
#include "models/program/iteration_name.h"

namespace orrery {

namespace {

constexpr std::string_view kStart = "_start";

std::vector<OpRules> make_table() {
  std::vector<OpRules> table;
  for (auto family :
       {collective_rules, cast_rules, elementwise_rules, movement_rules, indexing_rules,
        reduction_rules, dot_rules, attention_rules, core_rules, source_rules, reshard_rules})
    for (OpRules& rules : family())
      table.push_back(std::move(rules));
  std::sort(table.begin(), table.end(),
            [](const OpRules& a, const OpRules& b) { return a.kind < b.kind; });
  for (size_t i = 0; i < table.size(); ++i)
    ORRERY_CHECK(table[i].kind == static_cast<OpKind>(i), "each kind of op has one entry of rules");
  return table;
}

const std::vector<OpRules>& table() {
  static const std::vector<OpRules> kTable = make_table();
  return kTable;
}

}  // namespace

OpMemory fresh_results(const Attributes&, std::span<const ValueType>,
                       std::span<const ValueType> results) {
  return {std::vector<ResultMemory>(results.size())};
}

OpMemory results_over_dying(const Attributes&, std::span<const ValueType>,
                            std::span<const ValueType> results) {
  return {std::vector<ResultMemory>(results.size(), {Alias::DyingOperand})};
}

OpMemory results_over_dying_first(const Attributes&, std::span<const ValueType>,
                                  std::span<const ValueType> results) {
  return {std::vector<ResultMemory>(results.size(), {Alias::DyingFirst})};
}

OpMemory results_in_operands(const Attributes&, std::span<const ValueType>,
                             std::span<const ValueType> results) {
  OpMemory memory;
  for (size_t r = 0; r < results.size(); ++r)
    memory.results.push_back({Alias::Operand, r});
  return memory;
}

OpMemory declared_scratch(const Attributes& attributes, std::span<const ValueType> operands,
                          std::span<const ValueType> results) {
  OpMemory memory = fresh_results(attributes, operands, results);
  if (attributes.has("scratch"))
    memory.scratch = attributes.bytes("scratch");
  return memory;
}

const OpRules& rules(OpKind kind) {
  const std::vector<OpRules>& all = table();
  ORRERY_CHECK(static_cast<size_t>(kind) < all.size(), "each kind of op has rules");
  return all[static_cast<size_t>(kind)];
}

std::span<const OpRules> all_rules() {
  return std::span(table()).first(static_cast<size_t>(OpKind::HeldOn));
}

OpKind exchanged_as(OpKind kind) {
  return rules(kind).exchanges_as.value_or(kind);
}

bool takes_algorithm(const OpRules& rules) {
  return std::any_of(rules.parameters.begin(), rules.parameters.end(),
                     [](const Parameter& each) { return each.name == "algorithm"; });
}

OpKind timed_as(OpKind kind) {
  const OpKind exchanged = exchanged_as(kind);
  return rules(exchanged).timed_as.value_or(exchanged);
}

std::vector<std::string_view> timed_ops() {
  std::vector<std::string_view> names;
  for (const OpRules& rules : table())
    if (rules.family == Family::Collective && timed_as(rules.kind) == rules.kind)
      names.push_back(rules.name);
  return names;
}

std::optional<OpName> op_named(std::string_view name) {
  const bool start = name.ends_with(kStart);
  const std::string_view sync = start ? name.substr(0, name.size() - kStart.size()) : name;
  for (const OpRules& rules : all_rules()) {
    if (rules.name != sync || (start && rules.family != Family::Collective))
      continue;
    return OpName{rules.kind, start ? Issue::Start : Issue::Sync};
  }
  return std::nullopt;
}

std::string op_name(OpKind kind, Issue issue) {
  return std::string(rules(kind).name) + std::string(issue == Issue::Start ? kStart : "");
}

std::string op_title(OpKind kind, Issue issue, std::string_view name) {
  return fmt::format("{} \"{}\"", op_name(kind, issue), without_indices(name));
}

}  // namespace orrery
