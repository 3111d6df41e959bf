#include "verifier/oracle/flushed_bounds.h"

#include <utility>

#include "models/array/arith.h"
#include "models/array/kernels.h"
#include "models/array/work.h"
#include "models/program/rules.h"
#include "verifier/oracle/bound_tensor.h"
#include "verifier/oracle/float_format.h"
#include "verifier/oracle/folds.h"

namespace orrery {

namespace {

/// Whether a result of 0 is exact, of operands of these magnitudes: a factor or the numerator is 0,
/// or two cancel.
bool is_exact_zero(const Op& op, const std::vector<Tensor>& operands, size_t i) {
  const auto size = [&](size_t k) { return element(operands[k], i); };
  switch (op.kind) {
    case OpKind::Add:
    case OpKind::Sub:
      return size(0) == size(1);
    case OpKind::Mul:
      return size(0) == 0 || size(1) == 0;
    case OpKind::Max:
    case OpKind::Min:
      return true;
    default:
      return size(0) == 0;
  }
}

}  // namespace

Flushed taken_with_error(const Tensor& value, const Tensor& error) {
  Tensor flushed = taken(value, Numerics::XlaCpu);
  if (!is_inexact(value.dtype()))
    return {std::move(flushed), error};
  const Tensor same = elementwise(Comparison::Eq, value, flushed);
  const Tensor apart = distances(value, flushed);
  Tensor further = each(error, [&](double e, size_t i) {
    return same.as<arith::Pred>()[i].value != 0 ? e : e + element(apart, i);
  });
  return {std::move(flushed), std::move(further)};
}

bool flushes(const Op& op, const Tensor& operand, const Tensor& result) {
  switch (op.kind) {
    case OpKind::Neg:
    case OpKind::DotGeneral:
      return false;
    case OpKind::ConvertElementType:
      return conversion_flushes(operand.dtype(), result.dtype());
    case OpKind::ReduceSum:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
    case OpKind::ScatterAdd:
      return true;
    default:
      return rules(op.kind).elementwise.has_value();
  }
}

double most_flushed(Dtype dtype) {
  return parts_of(dtype) * flushed_below(dtype, Numerics::XlaCpu);
}

Tensor with_flushed_result(const Program& program, const Op& op,
                           const std::vector<const Tensor*>& values, const Tensor& result,
                           Tensor bound) {
  const bool has_parts = is_complex(result.dtype());
  const double most = most_flushed(result.dtype());
  if (most == 0 || op.kind == OpKind::ReduceMax || op.kind == OpKind::ReduceMin ||
      op.kind == OpKind::ScatterAdd)  // whose bound has it
    return bound;
  if (op.kind == OpKind::ReduceSum) {
    const double partial_sums = static_cast<double>(terms(program, op)) * most;
    const Tensor sums =
        reduce(magnitudes(*values[0]), Combine::Add, op.attributes.integers("axes"));
    return each(std::move(bound), [&](double error, size_t i) {
      return element(sums, i) == 0 ? error : error + partial_sums;
    });
  }
  // One part of a complex number may be flushed, and each product that makes one.
  if (has_parts)
    return each(std::move(bound), [&](double error, size_t) { return error + 3 * most; });
  const Tensor sizes = magnitudes(result);
  std::vector<Tensor> operands;
  for (const Tensor* value : values)
    operands.push_back(magnitudes(*value));
  return each(std::move(bound), [&](double error, size_t i) {
    const bool exact = element(sizes, i) != 0 || is_exact_zero(op, operands, i);
    return exact ? error : error + most;
  });
}

}  // namespace orrery
