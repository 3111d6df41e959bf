#pragma once

// Bounds are tensors of f64, with one bound for each element. This file has arithmetic with bounds,
// and the rules for results that are not finite, are discrete, or were flushed.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "models/array/tensor.h"
#include "verifier/definition/rounding.h"

namespace orrery {

/// With this bound the exact value may be anything.
inline constexpr double kNoBound = std::numeric_limits<double>::infinity();

/// Sets target[i] to next(target[i], i), enlarged by kBoundSlack. All bounds are made here. If
/// next() gives NaN, as zero times infinite does, there is no bound.
template <class Next>
Tensor each(Tensor target, Next&& next) {
  const std::span<double> elements = target.as<double>();
  for (size_t i = 0; i < elements.size(); ++i) {
    const double bound = next(elements[i], i) * kBoundSlack;
    elements[i] = std::isnan(bound) ? kNoBound : bound;
  }
  return target;
}

/// Returns whether all elements are exact.
inline bool all_zero(const Tensor& bound) {
  const std::span<const double> elements = bound.as<double>();
  return std::all_of(elements.begin(), elements.end(), [](double e) { return e == 0; });
}

/// Returns element i of a tensor of f64. For a scalar it is its only element, whatever i is.
inline double element(const Tensor& tensor, size_t i) {
  return tensor.as<double>()[tensor.shape().rank() == 0 ? 0 : i];
}

/// Returns |x| of each element, as f64. For a complex number it is the root of the squares of its
/// parts, and is not finite where a part is not.
Tensor magnitudes(const Tensor& x);

/// Returns |x - y| of each pair, as f64. Parts that are the same, also infinite or NaN, are 0
/// apart. Requires one dtype and one shape, or a scalar.
Tensor distances(const Tensor& x, const Tensor& y);

/// Returns the bound, with kNoBound where the result is not finite: another order of adding might
/// not overflow. Where made_exactly(i) is true, exact arithmetic gives the same infinity or NaN, so
/// a float has a bound of 0.
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

/// Does the same for sums. The magnitudes of the terms add up to `terms`, and their errors to
/// `carried`. A sum with a term that is not finite is not finite itself.
inline Tensor settled_sums(Tensor bound, const Tensor& result, const Tensor& terms,
                           const Tensor& carried) {
  return settled(std::move(bound), result, [&](size_t i) {
    return !std::isfinite(terms.as<double>()[i]) && std::isfinite(carried.as<double>()[i]);
  });
}

/// Returns the bound of integers and preds, which are exact or unknown: 0 where `errors` is 0.
Tensor exact_or_unknown(Tensor errors);

/// This is an operand as an op that flushes subnormals (Numerics::XlaCpu, and XLA itself) takes it,
/// and how far that value is from the exact one.
struct Flushed {
  Tensor value;
  Tensor error;
};
Flushed taken_with_error(const Tensor& value, const Tensor& error);

/// Returns how far a flushed result may be from its value before.
double most_flushed(Dtype dtype);

}  // namespace orrery
