#include "models/program/states.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/program/groups.h"

namespace orrery {

namespace {

std::string_view word(AxisState state) {
  switch (state) {
    case AxisState::Invarying:
      return "invarying";
    case AxisState::Varying:
      return "varying";
    case AxisState::Unreduced:
      return "unreduced";
    case AxisState::Reduced:
      return "reduced";
  }
  fail_check("state is an enumerator", "a state is one of the enumeration", __FILE__, __LINE__);
}

/// The states of all operands along one axis.
class Along {
 public:
  Along(std::span<const ValueType> operands, size_t axis) : operands_(operands), axis_(axis) {}

  size_t count(AxisState state) const {
    return static_cast<size_t>(
        std::count_if(operands_.begin(), operands_.end(),
                      [&](const ValueType& type) { return type.axes[axis_] == state; }));
  }
  bool any(AxisState state) const { return count(state) > 0; }
  bool all(AxisState state) const { return count(state) == operands_.size(); }

  std::string text() const {
    std::string text;
    for (size_t i = 0; i < operands_.size(); ++i) {
      text += i == 0 ? "" : i + 1 == operands_.size() ? " and " : ", ";
      text += word(operands_[i].axes[axis_]);
    }
    return text;
  }

 private:
  std::span<const ValueType> operands_;
  size_t axis_;
};

/// Whether operand `k`, if reduced along an axis along which another varies, may be cast there.
bool casts_to_varying(std::span<const ValueType> operands, size_t k) {
  for (size_t a = 0; a < operands[k].axes.size(); ++a) {
    const bool lacks =
        operands[k].axes[a] != AxisState::Varying && Along(operands, a).any(AxisState::Varying);
    if (lacks != (operands[k].axes[a] == AxisState::Reduced))
      return false;
  }
  return true;
}

StatesOutcome joined_along(const Mesh& mesh, std::span<const ValueType> operands, size_t axis,
                           Linearity linearity) {
  const Along along(operands, axis);
  const std::string& name = mesh.axes()[axis].name;
  if (along.any(AxisState::Unreduced)) {
    if (linearity == Linearity::Nonlinear)
      return fmt::format("expected no operand that is unreduced over {}, got {}", name,
                         along.text());
    if (linearity == Linearity::Linear && !along.all(AxisState::Unreduced))
      return fmt::format("expected operands that are all unreduced over {}, got {}", name,
                         along.text());
    if (linearity == Linearity::Bilinear && along.count(AxisState::Reduced) + 1 < operands.size())
      return fmt::format(
          "expected the other operand to be reduced over {}, along which one is unreduced, got {}",
          name, along.text());
    return AxisStates{AxisState::Unreduced};
  }
  if (along.any(AxisState::Varying)) {
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k].axes[axis] == AxisState::Reduced && !casts_to_varying(operands, k))
        return fmt::format(
            "expected operand {} to be reduced over exactly the axes over which others vary, got "
            "{}",
            k, text(operands[k], mesh));
    return AxisStates{AxisState::Varying};
  }
  if (along.any(AxisState::Reduced) && !along.all(AxisState::Reduced))
    return fmt::format("expected operands that are all reduced over {}, got {}", name,
                       along.text());
  return AxisStates{along.any(AxisState::Reduced) ? AxisState::Reduced : AxisState::Invarying};
}

}  // namespace

StatesOutcome joined_states(const Mesh& mesh, std::span<const ValueType> operands,
                            Linearity linearity) {
  AxisStates states;
  for (size_t a = 0; a < mesh.axes().size(); ++a) {
    const StatesOutcome along = joined_along(mesh, operands, a, linearity);
    if (const auto* error = std::get_if<std::string>(&along))
      return *error;
    states.push_back(std::get<AxisStates>(along).front());
  }
  return states;
}

StatesOutcome indexed_states(const Mesh& mesh, std::span<const ValueType> moved,
                             std::span<const ValueType> indices, Linearity linearity) {
  StatesOutcome joined = joined_states(mesh, moved, linearity);
  if (std::holds_alternative<std::string>(joined))
    return joined;
  const AxisStates& states = std::get<AxisStates>(joined);
  std::vector<ValueType> all(moved.begin(), moved.end());
  for (const ValueType& index : indices) {
    all.push_back(index);
    for (size_t a = 0; a < states.size(); ++a) {
      if (index.axes[a] == AxisState::Unreduced)
        return fmt::format("expected indices that are nowhere unreduced, got {}",
                           text(index, mesh));
      if (index.axes[a] != AxisState::Varying)
        all.back().axes[a] = states[a];
    }
  }
  return joined_states(mesh, all, linearity);
}

StatesOutcome exchanged_states(const TypeContext& context, Exchange exchange) {
  const Mesh& mesh = context.mesh;
  const ValueType& operand = context.operands[0];
  const std::vector<size_t> axes = axis_positions(mesh, context.attributes.names("axis_name"));
  const bool parts = context.attributes.has("axis_index_groups");
  const bool sums =
      exchange == Exchange::Sum || exchange == Exchange::Mean || exchange == Exchange::SumScatter;
  AxisStates states = operand.axes;
  if (exchange == Exchange::Extremum &&
      std::find(states.begin(), states.end(), AxisState::Unreduced) != states.end())
    return fmt::format("expected an operand that is nowhere unreduced, got {}",
                       text(operand, mesh));
  for (size_t axis = 0; exchange == Exchange::Mean && axis < states.size(); ++axis)
    if (states[axis] == AxisState::Unreduced &&
        std::find(axes.begin(), axes.end(), axis) == axes.end())
      return fmt::format("expected an operand that is unreduced over no other axis, got {}",
                         text(operand, mesh));
  for (const size_t axis : axes) {
    const std::string& name = mesh.axes()[axis].name;
    const AxisState state = operand.axes[axis];
    if (state == AxisState::Reduced || (state == AxisState::Unreduced && !sums))
      return fmt::format("expected an operand that is varying or invarying over {}, got {}", name,
                         text(operand, mesh));
    if (state == AxisState::Unreduced && parts)
      return fmt::format(
          "expected no axis_index_groups for an operand that is unreduced over {}, got {}", name,
          text(operand, mesh));
    if (sums && context.checks == Checks::States && state != operand.axes[axes[0]])
      return fmt::format(
          "expected an operand of one state over its axes, got {} over {} and {} "
          "over {}",
          word(operand.axes[axes[0]]), mesh.axes()[axes[0]].name, word(state), name);
    const bool reduced_whole = exchange != Exchange::SumScatter && exchange != Exchange::Move;
    states[axis] = reduced_whole && !parts ? AxisState::Invarying : AxisState::Varying;
  }
  return states;
}

}  // namespace orrery
