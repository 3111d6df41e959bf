// This file has the backward rules of elementwise ops. The formulas are those of jax.lax, so that
// gradients are rounded where JAX's are.

#include "models/program/backward_ops.h"
#include "models/program/families.h"

namespace orrery::backward {

namespace {

using enum OpKind;

Cotangents both(BackwardCall& call, const std::string& left, const std::string& right) {
  return {call.wants(0) ? std::optional(left) : std::nullopt,
          call.wants(1) ? std::optional(right) : std::nullopt};
}

/// Multiplies the cotangent by a factor, for a function of one operand.
template <class Factor>
Cotangents times(BackwardCall& call, Factor factor) {
  return one(call, [&] { return op(call, Mul, {call.cotangent(), factor()}); });
}

/// Returns 1 where this operand alone is the extremum, 1/2 where both are equal, and 0 elsewhere.
std::string share(BackwardCall& call, const std::string& mine, const std::string& other) {
  const std::string zero = factor(call, 0);
  const std::string one = factor(call, 1);
  const std::string two = factor(call, 2);
  const std::string is_mine = op(call, Eq, {mine, call.result()});
  const std::string is_other = op(call, Eq, {other, call.result()});
  return op(call, Div,
            {op(call, SelectN, {is_mine, zero, one}), op(call, SelectN, {is_other, one, two})});
}

}  // namespace

Cotangents add(BackwardCall& call) {
  return both(call, call.cotangent(), call.cotangent());
}

Cotangents sub(BackwardCall& call) {
  Cotangents cotangents(2);
  if (call.wants(0))
    cotangents[0] = call.cotangent();
  if (call.wants(1))
    cotangents[1] = op(call, Neg, {call.cotangent()});
  return cotangents;
}

Cotangents mul(BackwardCall& call) {
  Cotangents cotangents(2);
  if (call.wants(0))
    cotangents[0] = op(call, Mul, {call.cotangent(), call.operand(1)});
  if (call.wants(1))
    cotangents[1] = op(call, Mul, {call.operand(0), call.cotangent()});
  return cotangents;
}

Cotangents div(BackwardCall& call) {
  Cotangents cotangents(2);
  if (call.wants(0)) {
    const std::string cotangent = call.cotangent();
    cotangents[0] = quotient(call, cotangent, call.operand(1));
  }
  if (call.wants(1)) {
    const std::string y = call.operand(1);
    const std::string numerator =
        op(call, Mul, {op(call, Neg, {call.cotangent()}), call.operand(0)});
    cotangents[1] = quotient(call, numerator, op(call, Mul, {y, y}));
  }
  return cotangents;
}

Cotangents extremum(BackwardCall& call) {
  Cotangents cotangents(2);
  for (size_t k = 0; k < 2; ++k)
    if (call.wants(k))
      cotangents[k] =
          op(call, Mul, {call.cotangent(), share(call, call.operand(k), call.operand(1 - k))});
  return cotangents;
}

Cotangents neg(BackwardCall& call) {
  return one(call, [&] { return op(call, Neg, {call.cotangent()}); });
}

Cotangents exp(BackwardCall& call) {
  return times(call, [&] { return call.result(); });
}

Cotangents log(BackwardCall& call) {
  return one(call, [&] {
    const std::string cotangent = call.cotangent();
    return quotient(call, cotangent, call.operand(0));
  });
}

Cotangents sqrt(BackwardCall& call) {
  return times(call, [&] { return op(call, Div, {factor(call, 0.5), call.result()}); });
}

Cotangents rsqrt(BackwardCall& call) {
  return times(call, [&] {
    return op(call, Mul, {factor(call, -0.5), op(call, Div, {call.result(), call.operand(0)})});
  });
}

Cotangents logistic(BackwardCall& call) {
  return times(call, [&] {
    const std::string y = call.result();
    return op(call, Mul, {y, op(call, Sub, {factor(call, 1), y})});
  });
}

Cotangents sin(BackwardCall& call) {
  return times(call, [&] { return op(call, Cos, {call.operand(0)}); });
}

Cotangents cos(BackwardCall& call) {
  return one(call, [&] {
    return op(call, Neg, {op(call, Mul, {call.cotangent(), op(call, Sin, {call.operand(0)})})});
  });
}

// A complex x is paired with a cotangent by the real part of their product, as in JAX.

Cotangents real(BackwardCall& call) {
  return one(call, [&] {
    const std::string cotangent = call.cotangent();
    return op(call, OpKind::Complex, {cotangent, zero_beside(call, cotangent)});
  });
}

Cotangents imag(BackwardCall& call) {
  return one(call, [&] {
    const std::string cotangent = call.cotangent();
    const std::string zero = zero_beside(call, cotangent);
    return op(call, Neg, {op(call, OpKind::Complex, {zero, cotangent})});
  });
}

Cotangents conj(BackwardCall& call) {
  return one(call, [&] {
    const bool was_complex = is_complex(call.operand_type(0).dtype);
    return op(call, was_complex ? Conj : Real, {call.cotangent()});
  });
}

Cotangents complex(BackwardCall& call) {
  Cotangents cotangents(2);
  if (call.wants(0))
    cotangents[0] = op(call, Real, {call.cotangent()});
  if (call.wants(1))
    cotangents[1] = op(call, Imag, {op(call, Neg, {call.cotangent()})});
  return cotangents;
}

Cotangents select_n(BackwardCall& call) {
  Cotangents cotangents(call.operands());
  for (size_t k = 1; k < call.operands(); ++k) {
    if (!call.wants(k))
      continue;
    const std::string cotangent = call.cotangent();
    const bool unreduced = is_unreduced(call, cotangent);
    const std::string zeros = unreduced ? factor(call, 0) : call.ops().zeros(call.result_type());
    const std::string chosen = unreduced ? factor(call, 1) : cotangent;
    std::vector<std::string> operands = {call.operand(0)};
    for (size_t i = 1; i < call.operands(); ++i)
      operands.push_back(i == k ? chosen : zeros);
    cotangents[k] = op(call, SelectN, operands);
    if (unreduced)
      cotangents[k] = op(call, Mul, {cotangent, *cotangents[k]});
  }
  return cotangents;
}

Cotangents convert_element_type(BackwardCall& call) {
  return one(call, [&] {
    return converted(call, call.cotangent(), call.result_type().dtype, call.operand_type(0).dtype);
  });
}

}  // namespace orrery::backward
