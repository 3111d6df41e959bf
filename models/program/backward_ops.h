#pragma once

// Backward rules share these ops and attributes.

#include <string>
#include <utility>
#include <vector>

#include "models/program/backward.h"

namespace orrery::backward {

/// Makes attributes from pairs of a name and a value.
inline Attributes with(std::vector<std::pair<std::string, Attribute>> given) {
  Attributes attributes;
  for (auto& [name, value] : given)
    attributes.set(std::move(name), std::move(value));
  return attributes;
}

inline std::vector<int64_t> dims_of(const Shape& shape) {
  return {shape.dims().begin(), shape.dims().end()};
}

/// Adds an op that makes a scalar, which stands for an array of any shape.
inline std::string scalar(BackwardCall& call, Dtype dtype, double value) {
  return call.ops().op(
      OpKind::Full, {},
      with({{"shape", std::vector<int64_t>()}, {"fill_value", value}, {"dtype", dtype}}));
}

/// Casts `value`, which is reduced and unreduced nowhere, to go with copies of the op's result and
/// with its cotangents. It becomes reduced along the axes along which the result is reduced or
/// unreduced.
inline std::string reduced_beside(BackwardCall& call, const std::string& value) {
  const ValueType& result = call.result_type();
  std::vector<std::string> reduced;
  if (call.has_states())
    for (size_t axis = 0; axis < result.axes.size(); ++axis)
      if (result.axes[axis] == AxisState::Reduced || result.axes[axis] == AxisState::Unreduced)
        reduced.push_back(call.mesh().axes()[axis].name);
  return reduced.empty()
             ? value
             : call.ops().op(OpKind::Preduced, {value}, with({{"axis_name", std::move(reduced)}}));
}

/// Makes a scalar that goes with copies of the op's result and with cotangents of it.
inline std::string factor(BackwardCall& call, Dtype dtype, double value) {
  return reduced_beside(call, scalar(call, dtype, value));
}
/// Does the same, in the result's dtype.
inline std::string factor(BackwardCall& call, double value) {
  return factor(call, call.result_type().dtype, value);
}

/// Returns whether a cotangent stands for the sum of its copies along an axis. Then only linear ops
/// take it, and mul, whose other operand is a factor. div and select_n do not take it (as in JAX).
inline bool is_unreduced(BackwardCall& call, const std::string& cotangent) {
  for (const AxisState state : call.ops().type(cotangent).axes)
    if (state == AxisState::Unreduced)
      return true;
  return false;
}

/// Divides a cotangent by a value that the op had, or by a factor.
inline std::string quotient(BackwardCall& call, const std::string& cotangent,
                            const std::string& divisor) {
  if (!is_unreduced(call, cotangent))
    return call.ops().op(OpKind::Div, {cotangent, divisor});
  const std::string one = factor(call, call.ops().type(divisor).dtype, 1);
  const std::string inverse = call.ops().op(OpKind::Div, {one, divisor});
  return call.ops().op(OpKind::Mul, {cotangent, inverse});
}

/// Makes a scalar 0 that goes with a cotangent in an op that is linear in both together. The 0 has
/// the cotangent's states, except that it does not vary.
inline std::string zero_beside(BackwardCall& call, const std::string& cotangent) {
  ValueType type = call.ops().type(cotangent);
  type.shape = Shape();
  // zeros() takes the type of a value, and makes its cotangent. So these two states change places.
  for (AxisState& state : type.axes)
    state = state == AxisState::Unreduced ? AxisState::Reduced
            : state == AxisState::Reduced ? AxisState::Unreduced
                                          : AxisState::Invarying;
  return call.ops().zeros(type);
}

/// Makes zeros of this shape that go with the result's cotangent, in its dtype and states. The
/// operand's type cannot be used for this, since it has the states before the implicit casts of the
/// op.
inline std::string zeros_beside(BackwardCall& call, Shape shape) {
  ValueType type = call.result_type();
  type.shape = std::move(shape);
  return call.ops().zeros(type);
}

inline std::string op(BackwardCall& call, OpKind kind, std::vector<std::string> operands) {
  return call.ops().op(kind, std::move(operands));
}

/// Returns axis_name and axis_index_groups of a collective.
inline Attributes same_groups(BackwardCall& call) {
  Attributes attributes = with({{"axis_name", call.attributes().names("axis_name")}});
  if (call.attributes().has("axis_index_groups"))
    attributes.set("axis_index_groups", call.attributes().lists("axis_index_groups"));
  return attributes;
}

inline std::string converted(BackwardCall& call, const std::string& value, Dtype from, Dtype to) {
  return from == to ? value
                    : call.ops().op(OpKind::ConvertElementType, {value}, with({{"new_dtype", to}}));
}

/// Returns the cotangents of an op of which only the first operand has one, which `make` gives.
template <class Make>
Cotangents one(BackwardCall& call, Make make) {
  return {call.wants(0) ? std::optional<std::string>(make()) : std::nullopt};
}

}  // namespace orrery::backward
