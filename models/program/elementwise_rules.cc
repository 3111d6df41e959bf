// This file has the local ops that work element by element, under jax.lax's names.

#include <limits>
#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "models/array/kernels.h"
#include "models/program/families.h"
#include "models/program/local_parameters.h"

namespace orrery {

namespace {

/// Takes says which operands an op takes.
enum class Takes : uint8_t { Any, Numbers, Inexact, Ordered };

std::string described(const ValueType& type) {
  return fmt::format("{}{}", name(type.dtype), type.shape.text());
}

/// Returns the operand whose shape the result has: the first that is no scalar, if there is one.
const ValueType& shaped(std::span<const ValueType> operands) {
  for (const ValueType& operand : operands)
    if (operand.shape.rank() > 0)
      return operand;
  return operands[0];
}

/// Checks that `operands` have one dtype, which the op accepts, and one shape. A scalar goes with
/// any shape. It stands for an array of that shape, as Python's scalars do in jax.lax.
std::optional<TypeError> operands_error(std::span<const ValueType> operands, Takes takes) {
  const ValueType& first = shaped(operands);
  for (const ValueType& other : operands) {
    if (other.dtype != first.dtype)
      return TypeError{"of",
                       fmt::format("expected operands of one dtype, got {} and {}; nothing is "
                                   "converted unasked",
                                   described(first), described(other))};
    if (other.shape.rank() > 0 && other.shape != first.shape)
      return TypeError{"of", fmt::format("expected operands of one shape, got {} and {}; only "
                                         "scalars (shape []) are broadcast",
                                         described(first), described(other))};
  }
  if (takes == Takes::Inexact && !is_inexact(first.dtype))
    return TypeError{"of",
                     fmt::format("expected floats or complex numbers, got {}", name(first.dtype))};
  if (takes == Takes::Ordered)
    if (auto error = unordered_error("of", first.dtype))
      return error;
  if (takes == Takes::Numbers && first.dtype == Dtype::Pred)
    return TypeError{"of", "expected operands of numbers, got pred"};
  return std::nullopt;
}

template <Takes takes, Linearity linearity>
TypeOutcome alike(const TypeContext& context) {
  if (auto error = operands_error(context.operands, takes))
    return *error;
  const ValueType& first = shaped(context.operands);
  return typed(first.dtype, first.shape, joined_states(context.mesh, context.operands, linearity));
}

template <Takes takes>
TypeOutcome comparison(const TypeContext& context) {
  if (auto error = operands_error(context.operands, takes))
    return *error;
  return typed(Dtype::Pred, shaped(context.operands).shape,
               joined_states(context.mesh, context.operands, Linearity::Nonlinear));
}

TypeOutcome select_n(const TypeContext& context) {
  const ValueType& which = context.operands[0];
  const std::span<const ValueType> cases = context.operands.subspan(1);
  if (auto error = operands_error(cases, Takes::Any))
    return *error;
  if (which.dtype != Dtype::Pred && which.dtype != Dtype::S32)
    return TypeError{"of", fmt::format("expected a first operand of pred or s32, which says the "
                                       "case, got {}",
                                       name(which.dtype))};
  if (which.dtype == Dtype::Pred && cases.size() > 2)
    return TypeError{"of", fmt::format("expected at most 2 cases to be told apart by pred, got {}",
                                       cases.size())};
  const Shape& shape = shaped(cases).shape.rank() > 0 ? shaped(cases).shape : which.shape;
  if (which.shape.rank() != 0 && which.shape != shape)
    return TypeError{"of", fmt::format("expected a first operand that is a scalar or of the shape "
                                       "of the cases, {}, got {}",
                                       shape.text(), which.shape.text())};
  // The op is linear in the cases if all copies make the same choice.
  return typed(cases[0].dtype, shape,
               indexed_states(context.mesh, cases, context.operands.first(1), Linearity::Linear));
}

/// Counts one operation per element, at the rate of the dtype that the op computes in.
Cost arithmetic_cost(const Attributes&, std::span<const ValueType> operands,
                     std::span<const ValueType> results) {
  return {Flops(results[0].shape.elements()), touched(operands, results), operands.back().dtype};
}

/// Returns the type of a part of complex numbers. No arithmetic is done.
TypeOutcome part(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  if (!is_complex(operand.dtype))
    return TypeError{"of", fmt::format("expected complex numbers, got {}", name(operand.dtype))};
  return typed(part_dtype(operand.dtype), operand.shape,
               joined_states(context.mesh, context.operands, Linearity::Linear));
}

TypeOutcome complex(const TypeContext& context) {
  if (auto error = operands_error(context.operands, Takes::Any))
    return *error;
  const ValueType& first = shaped(context.operands);
  const std::optional<Dtype> dtype = complex_of(first.dtype);
  if (!dtype)
    return TypeError{"of", fmt::format("expected parts of f32 or f64, got {}", name(first.dtype))};
  return typed(*dtype, first.shape,
               joined_states(context.mesh, context.operands, Linearity::Linear));
}

TypeOutcome conj(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  const std::optional<Dtype> of_parts = complex_of(operand.dtype);
  if (!is_complex(operand.dtype) && !of_parts)
    return TypeError{
        "of", fmt::format("expected complex numbers, or f32 or f64, got {}", name(operand.dtype))};
  return typed(of_parts.value_or(operand.dtype), operand.shape,
               joined_states(context.mesh, context.operands, Linearity::Linear));
}

// A conversion among floats and complex numbers is linear but for rounding, as a product is. A
// conversion that truncates or saturates is not.
TypeOutcome convert(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  const Dtype to = context.attributes.dtype("new_dtype");
  const bool linear = is_inexact(operand.dtype) && is_inexact(to);
  return typed(to, operand.shape,
               joined_states(context.mesh, context.operands,
                             linear ? Linearity::Linear : Linearity::Nonlinear));
}

/// Counts reading and writing, and no arithmetic.
Cost convert_cost(const Attributes&, std::span<const ValueType> operands,
                  std::span<const ValueType> results) {
  return {Flops(0), touched(operands, results), operands[0].dtype};
}

Tensor converted(const LocalCall& call) {
  return convert(call.operand(0), call.result().dtype, call.numerics);
}

Tensor real_part(const LocalCall& call) {
  return real(call.operand(0));
}
Tensor imaginary_part(const LocalCall& call) {
  return imag(call.operand(0));
}
Tensor of_parts(const LocalCall& call) {
  return complex(call.operand(0), call.operand(1));
}
Tensor conjugated(const LocalCall& call) {
  return conj(call.operand(0));
}

Tensor selected(const LocalCall& call) {
  return select_n(call.operand(0), call.operands.subspan(1));
}

/// A Gradient says how an op passes cotangents back. An op has no gradient without a rule.
struct Gradient {
  BackwardRule rule = nullptr;
  LinearIn linear_in = LinearIn::None;
};

OpRules local(OpKind kind, std::string_view name, std::string_view summary, size_t operands,
              Gradient backward) {
  OpRules rules;
  rules.kind = kind;
  rules.name = name;
  rules.summary = summary;
  rules.least_operands = operands;
  rules.most_operands = operands;
  rules.cost = arithmetic_cost;
  rules.memory = results_over_dying;
  rules.transforms = {backward.rule, backward.linear_in, batching::elementwise};
  return rules;
}

template <auto kOp>
Tensor evaluated(const LocalCall& call) {
  return elementwise(kOp, call.operands, call.numerics);
}

template <auto kOp>
OpRules elementwise_op(OpKind kind, std::string_view name, std::string_view summary, TypeRule type,
                       Gradient backward = {}) {
  OpRules rules =
      local(kind, name, summary, std::is_same_v<decltype(kOp), Unary> ? 1 : 2, backward);
  rules.type = type;
  rules.errors = Errors::Function;
  rules.evaluate = one_result<evaluated<kOp>>;
  rules.elementwise = kOp;
  return rules;
}

OpRules conversion() {
  OpRules rules = local(
      OpKind::ConvertElementType, "convert_element_type",
      "the same elements under another dtype; of complex numbers a real dtype has the real parts",
      1, {backward::convert_element_type, LinearIn::All});
  rules.parameters = {
      {"new_dtype", ParameterKind::DtypeName, Parameter::Need::Required, {}, {}, {}, {}}};
  rules.type = convert;
  rules.cost = convert_cost;
  rules.evaluate = one_result<converted>;
  rules.errors = Errors::Conversion;
  return rules;
}

template <Tensor (*kValue)(const LocalCall&)>
OpRules of_complex(OpKind kind, std::string_view name, std::string_view summary, size_t operands,
                   TypeRule type, BackwardRule backward) {
  OpRules rules = local(kind, name, summary, operands, {backward, LinearIn::All});
  rules.type = type;
  rules.evaluate = one_result<kValue>;
  rules.errors = operands == 2 ? Errors::Parts : Errors::Kept;
  return rules;
}

OpMemory selection_memory(const Attributes& attributes, std::span<const ValueType> operands,
                          std::span<const ValueType> results) {
  const auto cases = static_cast<int64_t>(operands.size()) - 1;
  return cases <= kMostCasesInOnePass ? results_over_dying(attributes, operands, results)
                                      : fresh_results(attributes, operands, results);
}

OpRules selection() {
  OpRules rules = local(OpKind::SelectN, "select_n",
                        "elements of the case that the first operand, of pred or s32, says", 2,
                        {backward::select_n, LinearIn::Cases});
  rules.most_operands = std::numeric_limits<size_t>::max();
  rules.type = select_n;
  rules.evaluate = one_result<selected>;
  rules.memory = selection_memory;
  rules.errors = Errors::Selected;
  rules.index_operands = {0, 1};
  return rules;
}

}  // namespace

std::vector<OpRules> elementwise_rules() {
  using enum OpKind;
  constexpr TypeRule kLinear = alike<Takes::Numbers, Linearity::Linear>;
  constexpr TypeRule kBilinear = alike<Takes::Numbers, Linearity::Bilinear>;
  constexpr TypeRule kNumbers = alike<Takes::Numbers, Linearity::Nonlinear>;
  constexpr TypeRule kInexact = alike<Takes::Inexact, Linearity::Nonlinear>;
  constexpr TypeRule kOrdered = alike<Takes::Ordered, Linearity::Nonlinear>;
  constexpr TypeRule kEqual = comparison<Takes::Any>;
  constexpr TypeRule kLess = comparison<Takes::Ordered>;
  OpRules neg = elementwise_op<Unary::Neg>(Neg, "neg", "elementwise negation", kLinear,
                                           {backward::neg, LinearIn::All});
  neg.errors = Errors::Kept;  // also of infinite parts
  return {
      elementwise_op<Binary::Add>(Add, "add", "elementwise sum", kLinear,
                                  {backward::add, LinearIn::All}),
      elementwise_op<Binary::Sub>(Sub, "sub", "elementwise difference", kLinear,
                                  {backward::sub, LinearIn::All}),
      elementwise_op<Binary::Mul>(Mul, "mul", "elementwise product", kBilinear,
                                  {backward::mul, LinearIn::OneEach}),
      elementwise_op<Binary::Div>(Div, "div",
                                  "elementwise quotient; of integers truncated toward zero",
                                  kNumbers, {backward::div, LinearIn::First}),
      elementwise_op<Binary::Max>(Max, "max",
                                  "elementwise maximum; NaN wins, of pred it is or. Complex "
                                  "numbers are refused, having no order, although JAX orders them",
                                  kOrdered, {backward::extremum}),
      elementwise_op<Binary::Min>(Min, "min",
                                  "elementwise minimum; NaN wins, of pred it is and. Complex "
                                  "numbers are refused, having no order, although JAX orders them",
                                  kOrdered, {backward::extremum}),
      neg,
      elementwise_op<Unary::Exp>(Exp, "exp", "e to the power of each element", kInexact,
                                 {backward::exp}),
      elementwise_op<Unary::Log>(Log, "log", "elementwise natural logarithm", kInexact,
                                 {backward::log}),
      elementwise_op<Unary::Sqrt>(
          Sqrt, "sqrt",
          "elementwise square root; that of -1 - 0i is -i, as in C and NumPy, and i in JAX",
          kInexact, {backward::sqrt}),
      elementwise_op<Unary::Rsqrt>(Rsqrt, "rsqrt", "elementwise 1 / sqrt(x)", kInexact,
                                   {backward::rsqrt}),
      elementwise_op<Unary::Logistic>(Logistic, "logistic", "elementwise 1 / (1 + exp(-x))",
                                      kInexact, {backward::logistic}),
      elementwise_op<Unary::Sin>(Sin, "sin", "elementwise sine of radians", kInexact,
                                 {backward::sin}),
      elementwise_op<Unary::Cos>(Cos, "cos", "elementwise cosine of radians", kInexact,
                                 {backward::cos}),
      elementwise_op<Comparison::Eq>(Eq, "eq", "whether elements are equal, as pred", kEqual),
      elementwise_op<Comparison::Ne>(Ne, "ne", "whether elements differ", kEqual),
      elementwise_op<Comparison::Lt>(Lt, "lt", "whether those of the first are less", kLess),
      elementwise_op<Comparison::Le>(Le, "le", "whether those of the first are less or equal",
                                     kLess),
      elementwise_op<Comparison::Gt>(Gt, "gt", "whether those of the first are greater", kLess),
      elementwise_op<Comparison::Ge>(Ge, "ge", "whether those of the first are greater or equal",
                                     kLess),
      selection(),
      conversion(),
      of_complex<real_part>(Real, "real", "the real part of each element, a float", 1, part,
                            backward::real),
      of_complex<imaginary_part>(Imag, "imag", "the imaginary part of each element, a float", 1,
                                 part, backward::imag),
      of_complex<conjugated>(Conj, "conj",
                             "the complex conjugate of each element; of floats too, as complex "
                             "numbers",
                             1, conj, backward::conj),
      of_complex<of_parts>(Complex, "complex",
                           "complex numbers of real and of imaginary parts, both f32 or both f64",
                           2, complex, backward::complex)};
}

}  // namespace orrery
