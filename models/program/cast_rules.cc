// A cast gives a value of the same elements, in the same storage, with another state along some
// axes. It moves nothing. With Checks::Shapes no state is known, and a cast gives its operand.

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/array/tensor.h"
#include "models/program/families.h"
#include "models/program/groups.h"
#include "models/program/states.h"

namespace orrery {

namespace {

using Need = Parameter::Need;

/// Returns the operand with the state `to` along `axes`. Along each it must have the state `from`.
TypeOutcome cast_along(const TypeContext& context, std::span<const size_t> axes, AxisState from,
                       AxisState to) {
  ValueType type = context.operands[0];
  for (const size_t axis : axes) {
    if (type.axes[axis] != from)
      return TypeError{"of", expected_state({{from}}, context.mesh, axis, context.operands[0])};
    type.axes[axis] = to;
  }
  return std::vector<ValueType>{std::move(type)};
}

std::vector<size_t> axes_of(const TypeContext& context) {
  return axis_positions(context.mesh, context.attributes.names("axis_name"));
}

/// Applies a cast if no states are known. A cast to unreduced is refused, since all values computed
/// from its result would be wrong.
TypeOutcome cast_of_unknown(const TypeContext& context, std::string_view parameter, AxisState to) {
  if (to == AxisState::Unreduced && !axes_of(context).empty())
    return TypeError{std::string(parameter),
                     "expected \"check_types\": true, without which no value is unreduced"};
  return std::vector<ValueType>{context.operands[0]};
}

template <size_t kRow>
TypeOutcome cast(const TypeContext& context) {
  constexpr StateCast kCast = kStateCasts[kRow];
  if (context.checks == Checks::Shapes)
    return cast_of_unknown(context, "", kCast.to);
  return cast_along(context, axes_of(context), kCast.from, kCast.to);
}

AxisState state_named(std::string_view name) {
  if (name == "varying")
    return AxisState::Varying;
  return name == "reduced" ? AxisState::Reduced : AxisState::Unreduced;
}

/// Returns the error if the operand has the state `to` along some of the axes already.
std::optional<TypeError> already_error(const TypeContext& context, std::span<const size_t> axes,
                                       std::span<const AxisState> sources, AxisState to) {
  const ValueType& operand = context.operands[0];
  std::vector<std::string_view> others;
  std::optional<size_t> already;
  for (const size_t axis : axes)
    if (operand.axes[axis] != to)
      others.push_back(context.mesh.axes()[axis].name);
    else if (!already)
      already = axis;
  if (!already || others.empty())
    return std::nullopt;
  const std::string names =
      others.size() == 1 ? std::string(others[0]) : fmt::format("({})", fmt::join(others, ", "));
  return TypeError{"of", fmt::format("{}; it is {} there already: pcast over {} alone",
                                     expected_state(sources, context.mesh, *already, operand),
                                     context.attributes.text("to"), names)};
}

/// Applies the cast that leads from the common state of the axes to the requested one.
TypeOutcome pcast(const TypeContext& context) {
  const AxisState to = state_named(context.attributes.text("to"));
  if (context.checks == Checks::Shapes)
    return cast_of_unknown(context, "to", to);
  const std::vector<size_t> axes = axes_of(context);
  const ValueType& operand = context.operands[0];
  if (axes.empty())
    return std::vector<ValueType>{operand};
  std::vector<AxisState> sources;
  for (const StateCast& cast : kStateCasts)
    if (cast.to == to)
      sources.push_back(cast.from);
  if (auto error = already_error(context, axes, sources, to))
    return std::move(*error);
  const AxisState from = operand.axes[axes[0]];
  if (std::find(sources.begin(), sources.end(), from) == sources.end())
    return TypeError{"of", expected_state(sources, context.mesh, axes[0], operand)};
  if (auto error = one_state_error(context.mesh, axes, operand))
    return std::move(*error);
  return cast_along(context, axes, from, to);
}

Tensor same(const LocalCall& call) {
  return call.operand(0);
}

OpRules cast_rule(OpKind kind, std::string_view name, std::string_view summary, TypeRule type) {
  OpRules rules;
  rules.kind = kind;
  rules.name = name;
  rules.summary = summary;
  rules.parameters = {{"axis_name", ParameterKind::Names, Need::Required, {}, {}, {}, {}}};
  rules.type = type;
  rules.cost = renaming_cost;
  rules.evaluate = one_result<same>;
  rules.memory = results_in_operands;
  rules.errors = Errors::Moved;
  rules.transforms = {backward::cast, LinearIn::All, batching::cast};
  return rules;
}

template <size_t kRow>
OpRules row(std::string_view summary) {
  constexpr StateCast kCast = kStateCasts[kRow];
  return cast_rule(kCast.kind, kCast.name, summary, cast<kRow>);
}

}  // namespace

std::vector<OpRules> cast_rules() {
  OpRules any =
      cast_rule(OpKind::Pcast, "pcast",
                "to the state given: one of the four casts, by the state of its operand", pcast);
  any.parameters.push_back(
      {"to", ParameterKind::Text, Need::Required, {}, {}, {}, {"varying", "unreduced", "reduced"}});
  return {row<0>("from invarying to varying: copies that are equal may differ from here on"),
          row<1>("from invarying to reduced: the copies are equal, their cotangents are addends"),
          row<2>("from varying to unreduced: the copies become the addends of one value"),
          row<3>("from reduced to varying"), any};
}

}  // namespace orrery
