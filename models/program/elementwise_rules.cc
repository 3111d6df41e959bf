// Local ops that work element by element, under jax.lax's names.

#include <fmt/format.h>

#include "models/array/kernels.h"
#include "models/program/families.h"
#include "models/program/type_checks.h"

namespace orrery {

namespace {

TypeOutcome arithmetic(const TypeContext& context, Linearity linearity) {
  const ValueType& left = context.operands[0];
  const ValueType& right = context.operands[1];
  if (left.dtype != right.dtype || left.shape != right.shape)
    return TypeFault{"of", fmt::format("expected operands of one dtype and shape (nothing is "
                                       "broadcast or converted unasked), got {}{} and {}{}",
                                       name(left.dtype), left.shape.text(), name(right.dtype),
                                       right.shape.text())};
  if (left.dtype == Dtype::Pred)
    return TypeFault{"of", "expected operands of numbers, got pred"};
  return typed(left.dtype, left.shape, joined_states(context.mesh, context.operands, linearity));
}

TypeOutcome sum(const TypeContext& context) {
  return arithmetic(context, Linearity::Linear);
}

TypeOutcome product(const TypeContext& context) {
  return arithmetic(context, Linearity::Bilinear);
}

/// One operation an element.
Cost arithmetic_cost(const Attributes&, std::span<const ValueType> operands,
                     std::span<const ValueType> results) {
  return {Flops(results[0].shape.elements()), touched(operands, results), operands[0].dtype};
}

// Rounding is not linear: the sum of the converted copies is not the converted sum.
TypeOutcome convert(const TypeContext& context) {
  return typed(context.attributes.dtype("new_dtype"), context.operands[0].shape,
               joined_states(context.mesh, context.operands, Linearity::Nonlinear));
}

template <Elementwise kOp>
Tensor evaluated(const LocalCall& call) {
  return elementwise(kOp, call.operand(0), call.operand(1));
}

/// No arithmetic: it reads and writes.
Cost convert_cost(const Attributes&, std::span<const ValueType> operands,
                  std::span<const ValueType> results) {
  return {Flops(0), touched(operands, results), operands[0].dtype};
}

Tensor converted(const LocalCall& call) {
  return convert(call.operand(0), call.result.dtype);
}

OpRules binary(OpKind kind, std::string_view name, std::string_view summary, TypeRule type,
               EvaluateRule evaluate) {
  OpRules rules;
  rules.kind = kind;
  rules.name = name;
  rules.summary = summary;
  rules.least_operands = 2;
  rules.most_operands = 2;
  rules.type = type;
  rules.cost = arithmetic_cost;
  rules.evaluate = evaluate;
  rules.alias = Alias::DyingOperand;
  return rules;
}

}  // namespace

std::vector<OpRules> elementwise_rules() {
  OpRules conversion;
  conversion.kind = OpKind::ConvertElementType;
  conversion.name = "convert_element_type";
  conversion.summary = "the same elements under another dtype";
  conversion.parameters = {
      {"new_dtype", ParameterKind::DtypeName, Parameter::Need::Required, {}, {}, {}, {}}};
  conversion.type = convert;
  conversion.cost = convert_cost;
  conversion.evaluate = converted;
  conversion.alias = Alias::DyingOperand;
  return {binary(OpKind::Add, "add", "elementwise sum", sum, evaluated<Elementwise::Add>),
          binary(OpKind::Sub, "sub", "elementwise difference", sum, evaluated<Elementwise::Sub>),
          binary(OpKind::Mul, "mul", "elementwise product", product, evaluated<Elementwise::Mul>),
          conversion};
}

}  // namespace orrery
