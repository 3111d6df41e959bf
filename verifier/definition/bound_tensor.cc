#include "verifier/definition/bound_tensor.h"

#include "models/array/arith.h"
#include "models/array/functions.h"
#include "models/array/kernels.h"
#include "models/array/work.h"

namespace orrery {

Tensor magnitudes(const Tensor& x) {
  if (!is_complex(x.dtype())) {
    Tensor result = convert(x, Dtype::F64);
    for (double& element : result.as<double>())
      element = std::fabs(element);
    return result;
  }
  const Tensor wide = convert(x, Dtype::C128);
  Tensor result(Dtype::F64, x.shape());
  for (size_t i = 0; i < static_cast<size_t>(x.elements()); ++i)
    result.as<double>()[i] = arith::magnitude(wide.as<arith::C128>()[i]);
  return result;
}

Tensor distances(const Tensor& x, const Tensor& y) {
  const bool complex = is_complex(x.dtype());
  const Dtype wide = complex ? Dtype::C128 : Dtype::F64;
  const Tensor a = convert(x, wide);
  const Tensor b = convert(y, wide);
  Tensor apart = elementwise(Binary::Sub, a, b);
  const size_t parts = complex ? 2 : 1;
  const std::span<const double> of_a = a.as<double>();
  const std::span<const double> of_b = b.as<double>();
  const std::span<double> difference = apart.as<double>();
  for (size_t i = 0; i < difference.size(); ++i) {
    const double p = of_a[x.shape().rank() == 0 ? i % parts : i];
    const double q = of_b[y.shape().rank() == 0 ? i % parts : i];
    if (p == q || (std::isnan(p) && std::isnan(q)))
      difference[i] = 0;
  }
  return magnitudes(apart);
}

Tensor exact_or_unknown(Tensor errors) {
  return each(std::move(errors), [](double error, size_t) { return error == 0 ? 0 : kNoBound; });
}

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

double most_flushed(Dtype dtype) {
  return parts_of(dtype) * flushed_below(dtype, Numerics::XlaCpu);
}

}  // namespace orrery
