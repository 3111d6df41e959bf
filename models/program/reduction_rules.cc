// This file has the local ops that fold an array along some of its dimensions, under jax.lax's
// names. models/array/kernels.h says in which order and precision.

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/array/kernels.h"
#include "models/program/families.h"

namespace orrery {

namespace {

TypeOutcome reduced(const TypeContext& context, Linearity linearity) {
  const ValueType& operand = context.operands[0];
  const std::vector<int64_t>& axes = context.attributes.integers("axes");
  std::vector<bool> folded(operand.shape.rank(), false);
  for (const int64_t axis : axes) {
    if (auto error = dimension_error("axes", axis, operand.shape.rank()))
      return *error;
    if (folded[static_cast<size_t>(axis)])
      return TypeError{"axes",
                       fmt::format("expected each dimension once, got [{}]", fmt::join(axes, ","))};
    folded[static_cast<size_t>(axis)] = true;
  }
  std::vector<int64_t> dims;
  for (size_t d = 0; d < operand.shape.rank(); ++d)
    if (!folded[d])
      dims.push_back(operand.shape[d]);
  return typed(operand.dtype, Shape(std::move(dims)),
               joined_states(context.mesh, context.operands, linearity));
}

TypeOutcome summed(const TypeContext& context) {
  if (context.operands[0].dtype == Dtype::Pred)
    return TypeError{"of", "expected an operand of numbers, got pred"};
  return reduced(context, Linearity::Linear);
}

TypeOutcome extreme(const TypeContext& context) {
  if (auto error = unordered_error("of", context.operands[0].dtype))
    return *error;
  return reduced(context, Linearity::Nonlinear);
}

/// Counts one operation for each element that is folded.
Cost reduction_cost(const Attributes&, std::span<const ValueType> operands,
                    std::span<const ValueType> results) {
  return {Flops(operands[0].shape.elements()), touched(operands, results), operands[0].dtype};
}

template <Combine kCombine>
Tensor reduced_value(const LocalCall& call) {
  return reduce(call.operand(0), kCombine, call.attributes.integers("axes"), call.numerics);
}

OpRules reduction(OpKind kind, std::string_view name, std::string_view summary, TypeRule type,
                  EvaluateRule evaluate, Errors errors, const Transforms& transforms) {
  OpRules rules;
  rules.kind = kind;
  rules.name = name;
  rules.summary = summary;
  rules.parameters = {{"axes", ParameterKind::Integers, Parameter::Need::Required, {}, {}, {}, {}}};
  rules.type = type;
  rules.cost = reduction_cost;
  rules.evaluate = evaluate;
  rules.errors = errors;
  rules.transforms = transforms;
  return rules;
}

}  // namespace

std::vector<OpRules> reduction_rules() {
  const Transforms sum = {backward::reduce_sum, LinearIn::All, batching::reduction};
  const Transforms extremum = {backward::reduce_extremum, LinearIn::None, batching::reduction};
  return {
      reduction(OpKind::ReduceSum, "reduce_sum",
                "sum along the axes, in row-major order; f16 and bf16 are summed in f32", summed,
                one_result<reduced_value<Combine::Add>>, Errors::Sum, sum),
      reduction(OpKind::ReduceMax, "reduce_max", "largest along the axes; NaN wins, and -0 < +0",
                extreme, one_result<reduced_value<Combine::Max>>, Errors::Extremum, extremum),
      reduction(OpKind::ReduceMin, "reduce_min", "smallest along the axes; NaN wins, and -0 < +0",
                extreme, one_result<reduced_value<Combine::Min>>, Errors::Extremum, extremum)};
}

}  // namespace orrery
