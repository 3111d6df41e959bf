#pragma once

// Bounds as tensors of f64, one for each element: arithmetic with them, and what is known where
// results are not finite, are discrete, or were flushed.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "models/array/tensor.h"
#include "verifier/oracle/rounding.h"

namespace orrery {

/// The exact value may be anything.
inline constexpr double kNoBound = std::numeric_limits<double>::infinity();

/// target[i] = next(target[i], i), enlarged; all bounds are made here. What is not a number, such
/// as zero times infinite, is no bound.
template <class Next>
Tensor each(Tensor target, Next&& next) {
  const std::span<double> elements = target.as<double>();
  for (size_t i = 0; i < elements.size(); ++i) {
    const double bound = next(elements[i], i) * kBoundSlack;
    elements[i] = std::isnan(bound) ? kNoBound : bound;
  }
  return target;
}

/// Whether all elements are exact.
inline bool all_zero(const Tensor& bound) {
  const std::span<const double> elements = bound.as<double>();
  return std::all_of(elements.begin(), elements.end(), [](double e) { return e == 0; });
}

/// Element i of a tensor of f64. A scalar is the same everywhere.
inline double element(const Tensor& tensor, size_t i) {
  return tensor.as<double>()[tensor.shape().rank() == 0 ? 0 : i];
}

/// |x| of each element, as f64. That of a complex number is the root of the squares of its parts,
/// and is not finite where a part is not.
Tensor magnitudes(const Tensor& x);

/// |x - y| of each pair, as f64; parts that are the same, also infinite or NaN, are 0 apart.
/// Requires one dtype and one shape; or one is a scalar.
Tensor distances(const Tensor& x, const Tensor& y);

/// The bound where results that are not finite are unknown: a sum may have overflowed that another
/// order would not. But where made_exactly(i), exact arithmetic gives the same infinity or NaN.
template <class MadeExactly>
Tensor settled(Tensor bound, const Tensor& result, MadeExactly made_exactly) {
  const Tensor sizes = magnitudes(result);
  const bool has_parts = is_complex(result.dtype());  // one may be finite, and rounded
  const std::span<double> bounds = bound.as<double>();
  for (size_t i = 0; i < bounds.size(); ++i)
    if (!std::isfinite(sizes.as<double>()[i]))
      bounds[i] = !has_parts && made_exactly(i) ? 0 : kNoBound;
  return bound;
}

/// The same for sums, whose terms have magnitudes that add up to `terms` and errors that add up to
/// `carried`. A term that is not finite makes no finite sum.
inline Tensor settled_sums(Tensor bound, const Tensor& result, const Tensor& terms,
                           const Tensor& carried) {
  return settled(std::move(bound), result, [&](size_t i) {
    return !std::isfinite(terms.as<double>()[i]) && std::isfinite(carried.as<double>()[i]);
  });
}

/// The bound of integers and preds, which are exact or unknown: 0 where `errors` is 0.
Tensor exact_or_unknown(Tensor errors);

/// An operand as an op that flushes subnormals (Numerics::XlaCpu, and XLA itself) takes it, and how
/// far that is from the exact one.
struct Flushed {
  Tensor value;
  Tensor error;
};
Flushed taken_with_error(const Tensor& value, const Tensor& error);

/// How far a result may be from what it was before it was flushed.
double most_flushed(Dtype dtype);

}  // namespace orrery
