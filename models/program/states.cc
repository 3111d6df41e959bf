#include "models/program/states.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/check.h"
#include "models/program/groups.h"

namespace orrery {

namespace {

constexpr std::string_view kGroups = "axis_index_groups";

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

/// Says how a value of the state `from` over `axes` gets one of the states `to`: "; pvary over x
/// makes it varying". Returns "" if no single op does that.
std::string hint(std::string_view axes, AxisState from, std::span<const AxisState> to) {
  for (const AxisState state : to) {
    for (const StateCast& cast : kStateCasts)
      if (cast.from == from && cast.to == state)
        return fmt::format("; {} over {} makes it {}", cast.name, axes, word(state));
    if (from == AxisState::Unreduced && state == AxisState::Invarying)
      return fmt::format("; psum over {} makes it {}", axes, word(state));
  }
  return "";
}
std::string hint(const Mesh& mesh, size_t axis, AxisState from, std::span<const AxisState> to) {
  return hint(mesh.axes()[axis].name, from, to);
}

TypeError wrong_operand(std::string message) {
  return {"of", std::move(message)};
}

/// An Along has the states of all operands along one axis.
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

  /// Returns the types of all operands: "f32[2]{U:x} and f32[2]".
  std::string text(const Mesh& mesh) const {
    std::string text;
    for (size_t i = 0; i < operands_.size(); ++i) {
      text += i == 0 ? "" : i + 1 == operands_.size() ? " and " : ", ";
      text += orrery::text(operands_[i], mesh);
    }
    return text;
  }

  /// Returns the hint for the first operand of another state than `to`. Indices get no hint. They
  /// are told by their dtype, which is not that of the first operand.
  std::string hint_to(const Mesh& mesh, AxisState to) const {
    for (const ValueType& operand : operands_)
      if (operand.axes[axis_] != to && operand.dtype == operands_[0].dtype)
        return hint(mesh, axis_, operand.axes[axis_], {{to}});
    return "";
  }

 private:
  std::span<const ValueType> operands_;
  size_t axis_;
};

/// Returns whether operand `k`, if it is reduced along an axis along which another varies, may be
/// cast to varying there.
bool casts_to_varying(std::span<const ValueType> operands, size_t k) {
  for (size_t a = 0; a < operands[k].axes.size(); ++a) {
    const bool lacks =
        operands[k].axes[a] != AxisState::Varying && Along(operands, a).any(AxisState::Varying);
    if (lacks != (operands[k].axes[a] == AxisState::Reduced))
      return false;
  }
  return true;
}

/// Returns `cast`, a hint for the operands that are not unreduced along an axis along which another
/// is. If no cast helps them, the hint is to sum the unreduced operand, unless one is reduced.
std::string unreduced_hint(const Mesh& mesh, size_t axis, const Along& along, std::string cast) {
  if (!cast.empty() || along.any(AxisState::Reduced))
    return cast;
  return hint(mesh, axis, AxisState::Unreduced, {{AxisState::Invarying}});
}

/// Returns the axes over which others vary and operand `k` does not, as "(x, y)".
std::string axes_lacked(const Mesh& mesh, std::span<const ValueType> operands, size_t k) {
  std::vector<std::string_view> names;
  for (size_t a = 0; a < mesh.axes().size(); ++a)
    if (operands[k].axes[a] != AxisState::Varying && Along(operands, a).any(AxisState::Varying))
      names.push_back(mesh.axes()[a].name);
  return fmt::format("({})", fmt::join(names, ", "));
}

StatesOutcome joined_along(const Mesh& mesh, std::span<const ValueType> operands, size_t axis,
                           Linearity linearity) {
  const Along along(operands, axis);
  const std::string& name = mesh.axes()[axis].name;
  if (along.any(AxisState::Unreduced)) {
    if (linearity == Linearity::Nonlinear)
      return wrong_operand(fmt::format(
          "expected no operand that is unreduced over {}, got {}{}", name, along.text(mesh),
          hint(mesh, axis, AxisState::Unreduced, {{AxisState::Invarying}})));
    if (linearity == Linearity::Linear && !along.all(AxisState::Unreduced))
      return wrong_operand(fmt::format(
          "expected operands that are all unreduced over {}, got {}{}", name, along.text(mesh),
          unreduced_hint(mesh, axis, along, along.hint_to(mesh, AxisState::Unreduced))));
    if (linearity == Linearity::Bilinear && along.count(AxisState::Reduced) + 1 < operands.size())
      return wrong_operand(fmt::format(
          "expected the other operand to be reduced over {}, along which one is unreduced, got "
          "{}{}",
          name, along.text(mesh),
          unreduced_hint(mesh, axis, along,
                         along.any(AxisState::Invarying)
                             ? hint(mesh, axis, AxisState::Invarying, {{AxisState::Reduced}})
                             : "")));
    return AxisStates{AxisState::Unreduced};
  }
  if (along.any(AxisState::Varying)) {
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k].axes[axis] == AxisState::Reduced && !casts_to_varying(operands, k))
        return wrong_operand(fmt::format(
            "expected operand {} to be reduced over exactly the axes {}, over which only others "
            "vary, got {}{}",
            k, axes_lacked(mesh, operands, k), along.text(mesh),
            hint(mesh, axis, AxisState::Reduced, {{AxisState::Varying}})));
    return AxisStates{AxisState::Varying};
  }
  if (along.any(AxisState::Reduced) && !along.all(AxisState::Reduced))
    return wrong_operand(fmt::format("expected operands that are all reduced over {}, got {}{}",
                                     name, along.text(mesh),
                                     along.hint_to(mesh, AxisState::Reduced)));
  return AxisStates{along.any(AxisState::Reduced) ? AxisState::Reduced : AxisState::Invarying};
}

}  // namespace

std::string expected_state(std::span<const AxisState> accepted, const Mesh& mesh, size_t axis,
                           const ValueType& type, std::string_view what) {
  std::vector<std::string_view> words;
  for (const AxisState state : accepted)
    words.push_back(word(state));
  return fmt::format("expected an {} that is {} over {}, got {}{}", what, fmt::join(words, " or "),
                     mesh.axes()[axis].name, text(type, mesh),
                     hint(mesh, axis, type.axes[axis], accepted));
}

namespace {

/// Returns those of `axes` over which `type` has this state, as "x" or "(x, y)".
std::string axes_of_state(const Mesh& mesh, std::span<const size_t> axes, const ValueType& type,
                          AxisState state) {
  std::vector<std::string_view> names;
  for (const size_t axis : axes)
    if (type.axes[axis] == state)
      names.push_back(mesh.axes()[axis].name);
  return names.size() == 1 ? std::string(names.front())
                           : fmt::format("({})", fmt::join(names, ", "));
}

/// Says how a value of two states over `axes` gets a single state there.
std::string hint_to_one_state(const Mesh& mesh, std::span<const size_t> axes, const ValueType& type,
                              AxisState a, AxisState b) {
  const auto to = [&](AxisState from, AxisState state) {
    const std::string names = axes_of_state(mesh, axes, type, from);
    if (from == AxisState::Invarying && state == AxisState::Unreduced)
      return fmt::format("; pvary and vary_unreduced_cast over {} make it {}", names, word(state));
    return hint(names, from, {{state}});
  };
  // Casts are preferred. They cost nothing, but the sum of an unreduced value is one more op.
  if (a == AxisState::Unreduced)
    std::swap(a, b);
  std::string there = to(a, b);
  return there.empty() ? to(b, a) : there;
}

}  // namespace

std::optional<TypeError> one_state_error(const Mesh& mesh, std::span<const size_t> axes,
                                         const ValueType& type) {
  for (const size_t axis : axes) {
    const AxisState first = type.axes[axes[0]];
    const AxisState other = type.axes[axis];
    if (other != first)
      return wrong_operand(fmt::format(
          "expected an operand of one state over its axes, got {}, {} over {} and {} over {}{}",
          text(type, mesh), word(first), mesh.axes()[axes[0]].name, word(other),
          mesh.axes()[axis].name, hint_to_one_state(mesh, axes, type, first, other)));
  }
  return std::nullopt;
}

StatesOutcome joined_states(const Mesh& mesh, std::span<const ValueType> operands,
                            Linearity linearity) {
  AxisStates states;
  for (size_t a = 0; a < mesh.axes().size(); ++a) {
    const StatesOutcome along = joined_along(mesh, operands, a, linearity);
    if (const auto* error = std::get_if<TypeError>(&along))
      return *error;
    states.push_back(std::get<AxisStates>(along).front());
  }
  return states;
}

StatesOutcome indexed_states(const Mesh& mesh, std::span<const ValueType> moved,
                             std::span<const ValueType> indices, Linearity linearity) {
  StatesOutcome of_moved = joined_states(mesh, moved, linearity);
  const auto* states = std::get_if<AxisStates>(&of_moved);
  std::vector<ValueType> all(moved.begin(), moved.end());
  for (const ValueType& index : indices) {
    all.push_back(index);
    for (size_t a = 0; a < mesh.axes().size(); ++a) {
      if (index.axes[a] == AxisState::Unreduced)
        return states == nullptr
                   ? of_moved
                   : wrong_operand(fmt::format(
                         "expected indices that are nowhere unreduced, got {}{}", text(index, mesh),
                         hint(mesh, a, AxisState::Unreduced, {{AxisState::Invarying}})));
      if (index.axes[a] != AxisState::Varying)
        all.back().axes[a] = states != nullptr ? (*states)[a] : moved[0].axes[a];
    }
  }
  // Moved operands that do not fit each other do if an index varies: all are cast to varying.
  StatesOutcome of_all = joined_states(mesh, all, linearity);
  if (states == nullptr && std::holds_alternative<TypeError>(of_all))
    return of_moved;
  return of_all;
}

namespace {

struct StateSet {
  bool varying = false;
  bool invarying = false;
  bool unreduced = false;

  std::vector<AxisState> list() const {
    std::vector<AxisState> states;
    if (varying)
      states.push_back(AxisState::Varying);
    if (invarying)
      states.push_back(AxisState::Invarying);
    if (unreduced)
      states.push_back(AxisState::Unreduced);
    return states;
  }
};

/// A Transition is one row of the table of exchanges.
struct Transition {
  StateSet from;
  AxisState to = AxisState::Varying;
  bool whole_axes = false;  // no axis_index_groups
};

Transition transition(Exchange exchange, Checks checks) {
  constexpr StateSet kVarying = {.varying = true, .invarying = true};
  constexpr StateSet kSummed = {.varying = true, .invarying = true, .unreduced = true};
  switch (exchange) {
    case Exchange::Sum:
    case Exchange::Mean:
      return {kSummed, AxisState::Invarying};
    case Exchange::Extremum:
      return {kVarying, AxisState::Invarying};
    case Exchange::SumScatter:
      return {kSummed, AxisState::Varying};
    case Exchange::Move:
      return {kVarying, AxisState::Varying};
    case Exchange::MoveVarying:
      return {{.varying = true, .invarying = checks == Checks::Shapes}, AxisState::Varying};
    case Exchange::MoveToInvarying:
      return {kVarying, AxisState::Invarying, true};
    case Exchange::MoveToReduced:
      return {{.varying = true}, AxisState::Reduced, true};
    case Exchange::UnreducedSum:
      return {{.unreduced = true}, AxisState::Invarying, true};
    case Exchange::UnreducedScatter:
      return {{.unreduced = true}, AxisState::Varying, true};
  }
  fail_check("exchange is an enumerator", "an exchange is one of the enumeration", __FILE__,
             __LINE__);
}

/// Returns the error in the states along other axes than the collective's. An exchange that rounds
/// or compares cannot be applied to the addends of a value.
std::optional<TypeError> other_axes_error(const TypeContext& context, Exchange exchange,
                                          const std::vector<size_t>& axes) {
  if (exchange != Exchange::Mean && exchange != Exchange::Extremum)
    return std::nullopt;
  const ValueType& operand = context.operands[0];
  for (size_t axis = 0; axis < operand.axes.size(); ++axis)
    if (operand.axes[axis] == AxisState::Unreduced &&
        std::find(axes.begin(), axes.end(), axis) == axes.end())
      return wrong_operand(
          fmt::format("expected an operand that is unreduced over no other axis, got {}{}",
                      text(operand, context.mesh),
                      hint(context.mesh, axis, AxisState::Unreduced, {{AxisState::Invarying}})));
  return std::nullopt;
}

/// Says how the operand of a collective gets a state that it accepts, if that takes two ops.
std::string hint_of_two(const Mesh& mesh, size_t axis, AxisState from,
                        const std::vector<AxisState>& accepted) {
  if (accepted.size() != 1)
    return "";
  const std::string& name = mesh.axes()[axis].name;
  if (from == AxisState::Invarying && accepted[0] == AxisState::Unreduced)
    return fmt::format("; pvary and vary_unreduced_cast over {} make it unreduced", name);
  if (from == AxisState::Reduced && accepted[0] == AxisState::Unreduced)
    return fmt::format("; reduced_vary_cast and vary_unreduced_cast over {} make it unreduced",
                       name);
  if (from == AxisState::Unreduced && accepted[0] == AxisState::Varying)
    return fmt::format("; psum and pvary over {} make it varying", name);
  return "";
}

}  // namespace

StatesOutcome exchanged_states(const TypeContext& context, Exchange exchange) {
  const Mesh& mesh = context.mesh;
  const ValueType& operand = context.operands[0];
  const std::vector<size_t> axes = axis_positions(mesh, context.attributes.names("axis_name"));
  const bool parts = context.attributes.has(kGroups);
  const Transition rule = transition(exchange, context.checks);
  if (rule.whole_axes && parts)
    return TypeError{std::string(kGroups),
                     "expected no axis_index_groups: its result has one state along whole axes"};
  if (context.checks == Checks::Shapes && !rule.from.invarying && !axes.empty())
    return TypeError{"", "expected \"check_types\": true, without which no state is known"};
  if (auto error = other_axes_error(context, exchange, axes))
    return std::move(*error);
  const std::vector<AxisState> accepted = rule.from.list();
  AxisStates states = operand.axes;
  for (const size_t axis : axes) {
    const AxisState state = operand.axes[axis];
    if (std::find(accepted.begin(), accepted.end(), state) == accepted.end())
      return wrong_operand(expected_state(accepted, mesh, axis, operand) +
                           hint_of_two(mesh, axis, state, accepted));
    if (state == AxisState::Unreduced && parts)
      return TypeError{
          std::string(kGroups),
          fmt::format("expected no axis_index_groups for an operand that is unreduced over {}, got "
                      "{}",
                      mesh.axes()[axis].name, text(operand, mesh))};
    const bool reduces = rule.to == AxisState::Invarying;
    states[axis] = reduces && parts ? AxisState::Varying : rule.to;
  }
  if (rule.from.unreduced && context.checks == Checks::States)
    if (auto error = one_state_error(mesh, axes, operand))
      return std::move(*error);
  return states;
}

}  // namespace orrery
