#include "verifier/oracle/discrete_bounds.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "models/array/kernels.h"
#include "models/program/rules.h"
#include "verifier/oracle/bound_tensor.h"
#include "verifier/oracle/scatter_sums.h"

namespace orrery {

namespace {

/// Of a comparison of x and y: exact where they are further apart than their errors.
Tensor compared(const Tensor& x, const Tensor& x_error, const Tensor& y, const Tensor& y_error,
                Tensor bound) {
  const Tensor apart = distances(x, y);
  return each(std::move(bound), [&](double, size_t i) {
    const double error = element(x_error, i) + element(y_error, i);
    return error == 0 || error < element(apart, i) ? 0 : kNoBound;
  });
}

/// Of a conversion of x: exact where all values within the error convert to the same. Of a complex
/// number by its real part, which is off by no more.
Tensor converted(const Tensor& x, const Tensor& x_error, Dtype to, Tensor bound) {
  const Tensor wide = convert(x, Dtype::F64);
  return each(std::move(bound), [&](double, size_t i) {
    const double error = element(x_error, i);
    const double least = element(wide, i) - error;
    const double most = element(wide, i) + error;
    const bool same =
        to == Dtype::Pred ? least > 0 || most < 0 : std::trunc(least) == std::trunc(most);
    return error == 0 || same ? 0 : kNoBound;
  });
}

}  // namespace

Tensor exact_or_unknown(Tensor errors) {
  return each(std::move(errors), [](double error, size_t) { return error == 0 ? 0 : kNoBound; });
}

Tensor discrete_bound(const Op& op, const std::vector<const Tensor*>& values,
                      const std::vector<const Tensor*>& errors, const Tensor& result) {
  Tensor exact(Dtype::F64, result.shape());
  if (std::all_of(errors.begin(), errors.end(), [](const Tensor* e) { return all_zero(*e); }))
    return exact;
  if (const std::optional<Elementwise>& computed = rules(op.kind).elementwise) {
    if (std::holds_alternative<Comparison>(*computed))
      return compared(*values[0], *errors[0], *values[1], *errors[1], std::move(exact));
    return each(std::move(exact), [&](double, size_t i) {
      const bool known = std::all_of(errors.begin(), errors.end(),
                                     [&](const Tensor* e) { return element(*e, i) == 0; });
      return known ? 0 : kNoBound;
    });
  }
  switch (op.kind) {
    case OpKind::ConvertElementType:
      return converted(*values[0], *errors[0], result.dtype(), std::move(exact));
    case OpKind::ReduceSum:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
      return exact_or_unknown(reduce(*errors[0], Combine::Max, op.attributes.integers("axes")));
    case OpKind::ScatterAdd:
      return exact_or_unknown(scatter_sums(op, values, errors).carried);
    default:
      return each(std::move(exact), [](double, size_t) { return kNoBound; });
  }
}

}  // namespace orrery
