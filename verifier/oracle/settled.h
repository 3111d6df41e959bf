#pragma once

// Bounds of results that are not finite.

#include <cmath>
#include <span>
#include <utility>

#include "models/array/tensor.h"
#include "verifier/oracle/bound_tensor.h"

namespace orrery {

/// What is known of results that are not finite: nothing, as where a sum overflowed that another
/// order may not. But where made_exactly(i), exact arithmetic gives the same infinity or NaN.
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

/// Of sums of terms with these magnitudes, together, whose errors together are `carried`. A term
/// that is not finite makes no finite sum.
inline Tensor settled_sums(Tensor bound, const Tensor& result, const Tensor& terms,
                           const Tensor& carried) {
  return settled(std::move(bound), result, [&](size_t i) {
    return !std::isfinite(terms.as<double>()[i]) && std::isfinite(carried.as<double>()[i]);
  });
}

}  // namespace orrery
