#pragma once

// These functions pass the states of values along mesh axes through ops (JAX's varying manual axes,
// with unreduced and reduced). They are a part of every type rule.

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "models/program/rules.h"

namespace orrery {

/// A StateCast is one of JAX's casts between states along mesh axes. It moves no element.
struct StateCast {
  OpKind kind;
  std::string_view name;
  AxisState from;
  AxisState to;
};

inline constexpr std::array<StateCast, 4> kStateCasts = {{
    {OpKind::Pvary, "pvary", AxisState::Invarying, AxisState::Varying},
    {OpKind::Preduced, "preduced", AxisState::Invarying, AxisState::Reduced},
    {OpKind::VaryUnreducedCast, "vary_unreduced_cast", AxisState::Varying, AxisState::Unreduced},
    {OpKind::ReducedVaryCast, "reduced_vary_cast", AxisState::Reduced, AxisState::Varying},
}};

/// Returns the error for a `type` that has none of the `accepted` states along an axis. The message
/// names the op that leads to one of them, if there is one: "expected an operand that is varying
/// over x, got f32[2]; pvary over x makes it varying". `what` is what has the type.
std::string expected_state(std::span<const AxisState> accepted, const Mesh& mesh, size_t axis,
                           const ValueType& type, std::string_view what = "operand");

/// Returns the error in an operand that has different states along `axes`. The message names the
/// ops that make the states equal, if there are any.
std::optional<TypeError> one_state_error(const Mesh& mesh, std::span<const size_t> axes,
                                         const ValueType& type);

/// A StatesOutcome has the states of a result, or says why the operands do not fit together.
using StatesOutcome = std::variant<AxisStates, TypeError>;

/// A Linearity is the effect of an op on a value that stands for the sum of its copies.
enum class Linearity : uint8_t {
  Linear,     // op(sum of copies) is the sum of op(copies), in all operands at once: add, reshape
  Bilinear,   // in each operand while the other is the same on all copies: mul
  Nonlinear,  // an unreduced operand has no meaning here
};

/// Returns the states of a local op's result. Along each axis it is
///  - varying if any operand is. The others are cast to varying. An invarying operand always is; a
///    reduced one only if it is reduced along exactly the axes along which others vary and it does
///    not;
///  - unreduced if all operands are and the op is linear, or if one is, the others are reduced and
///    the op is bilinear;
///  - reduced if all operands are, and invarying if all are.
/// Anything else is an error.
StatesOutcome joined_states(const Mesh& mesh, std::span<const ValueType> operands,
                            Linearity linearity);

/// Returns the states of indexed reads and updates. In these, integers (`indices`) select which
/// elements of the `moved` operands the result has. An index is no term of a sum of copies, and has
/// no cotangent. Along an axis along which its copies are equal, it goes with any state of the
/// other operands. It must not be unreduced.
StatesOutcome indexed_states(const Mesh& mesh, std::span<const ValueType> moved,
                             std::span<const ValueType> indices, Linearity linearity);

/// An Exchange is the effect of a collective on the states along its axes. A collective that takes
/// varying operands takes invarying ones too, since JAX inserts the cast. Two are exceptions.
enum class Exchange : uint8_t {
  Sum,               // varying or unreduced to invarying: psum
  Mean,              // the same, and rounds: pmean
  Extremum,          // varying to invarying: pmax, pmin, pargmax, pargmin
  SumScatter,        // varying or unreduced to varying: psum_scatter
  Move,              // varying to varying
  MoveVarying,       // varying, not invarying, to varying: pbroadcast
  MoveToInvarying,   // varying to invarying: all_gather_invariant
  MoveToReduced,     // varying, not invarying, to reduced: all_gather_reduced
  UnreducedSum,      // unreduced to invarying: unreduced_psum
  UnreducedScatter,  // unreduced to varying: unreduced_psum_scatter
};

/// Returns the states of a collective's result. Along other axes than its own the states stay. But
/// Mean and Extremum are not linear, and refuse an operand that is unreduced along one. With
/// axis_index_groups a reduction covers only part of an axis. So its result still varies along the
/// axis, and an unreduced operand is refused. The last four exchanges refuse axis_index_groups.
/// With Checks::States the operand of a sum must have one state along all its axes, as JAX
/// requires. Without it the last three exchanges are refused, since they require a state.
StatesOutcome exchanged_states(const TypeContext& context, Exchange exchange);

}  // namespace orrery
