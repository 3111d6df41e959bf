#pragma once

// Bounds as tensors of f64, one for each element.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "models/array/tensor.h"
#include "verifier/oracle/float_format.h"

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

inline bool all_zero(const Tensor& bound) {
  const std::span<const double> elements = bound.as<double>();
  return std::all_of(elements.begin(), elements.end(), [](double e) { return e == 0; });
}

/// Of a tensor of f64. A scalar is the same everywhere.
inline double element(const Tensor& tensor, size_t i) {
  return tensor.as<double>()[tensor.shape().rank() == 0 ? 0 : i];
}

/// |x| of each element, as f64. Of a complex number the root of the squares of its parts, not
/// finite where a part is not.
Tensor magnitudes(const Tensor& x);

/// |x - y| of each pair, as f64; parts that are the same, also infinite or NaN, are 0 apart. Of one
/// dtype and one shape, or one is a scalar.
Tensor distances(const Tensor& x, const Tensor& y);

}  // namespace orrery
