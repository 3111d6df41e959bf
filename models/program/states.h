#pragma once

// How the states of values along mesh axes pass through ops (JAX's varying manual axes, with
// unreduced and reduced): a part of every type rule.

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "models/program/rules.h"

namespace orrery {

/// A cast between states of values along mesh axes, JAX's: it keeps the elements, and moves
/// nothing.
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

/// The error in the state of `type` along an axis, where one of `accepted` is needed. It names the
/// cast that leads there, if there is one: "expected an operand that is varying over x, got f32[2];
/// pvary over x makes it varying". Requires that it has none of them. `what` has the type.
std::string expected_state(std::span<const AxisState> accepted, const Mesh& mesh, size_t axis,
                           const ValueType& type, std::string_view what = "operand");

/// The error in an operand that has different states along `axes`, with a cast that leads to one
/// where there is one.
std::optional<TypeError> one_state_error(const Mesh& mesh, std::span<const size_t> axes,
                                         const ValueType& type);

/// The states of a result, or why the operands do not fit together.
using StatesOutcome = std::variant<AxisStates, TypeError>;

/// The effect of an op on a value that stands for the sum of its copies.
enum class Linearity : uint8_t {
  Linear,     // op(sum of copies) is the sum of op(copies), in all operands at once: add, reshape
  Bilinear,   // in each operand while the other is the same on all copies: mul
  Nonlinear,  // an unreduced operand has no meaning here
};

/// The states of a local op's result. Along each axis:
///  - varying if any operand is. The others are cast to varying: an invarying one always, a reduced
///    one only if it is reduced along exactly the axes that it lacks;
///  - unreduced if all are and the op is linear, or if one is, the others are reduced and the op is
///    bilinear;
///  - reduced if all are; invarying if all are.
/// Anything else is an error.
StatesOutcome joined_states(const Mesh& mesh, std::span<const ValueType> operands,
                            Linearity linearity);

/// The states of indexed reads and updates: integers, the `indices`, select which elements of the
/// `moved` operands the result has. An index is no term of a sum of copies, and has no cotangent.
/// Along an axis where its copies are equal it goes with any state of the others. It must not be
/// unreduced.
StatesOutcome indexed_states(const Mesh& mesh, std::span<const ValueType> moved,
                             std::span<const ValueType> indices, Linearity linearity);

/// The effect of a collective on the states along its axes. A collective that takes varying takes
/// invarying too, except two: JAX inserts the cast.
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

/// The states of a collective's result. The other axes keep theirs, except for Mean and Extremum,
/// which are not linear and refuse unreduced ones. With axis_index_groups a reduction covers only
/// part of an axis, so the result still varies along it, and an unreduced operand is refused, as
/// are groups by the last four. With Checks::States the axes of a sum must have the same state
/// before it, as JAX requires. Without it, the last three are refused, since they require a state.
StatesOutcome exchanged_states(const TypeContext& context, Exchange exchange);

}  // namespace orrery
