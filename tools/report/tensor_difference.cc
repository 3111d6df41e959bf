#include <algorithm>
#include <cmath>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/base/compiler.h"
#include "tools/report/difference.h"

namespace orrery {

namespace {

bool is_nan(const Tensor& tensor, int64_t element) {
  return is_float(tensor.dtype()) && std::isnan(element_as_double(tensor, element));
}

/// Returns the rank of a float among all floats of its dtype by value. Both zeros have 0.
Int128 ordinal(const Tensor& tensor, int64_t element) {
  const auto width = static_cast<unsigned>(8 * itemsize(tensor.dtype()).count());
  const uint64_t sign = uint64_t{1} << (width - 1);
  const uint64_t bits = element_bits(tensor, element);
  const auto magnitude = static_cast<Int128>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

bool same(const Tensor& a, const Tensor& b, int64_t element) {
  if (is_nan(a, element) || is_nan(b, element))
    return is_nan(a, element) && is_nan(b, element);
  if (a.dtype() == b.dtype())
    return element_bits(a, element) == element_bits(b, element);
  // Every dtype but 64-bit integers fits f64. Those integers fit int64 where they may be equal at
  // all.
  return element_as_double(a, element) == element_as_double(b, element) &&
         (is_float(a.dtype()) || is_float(b.dtype()) ||
          element_as_int64(a, element) == element_as_int64(b, element));
}

/// Returns the distance of two floats of one dtype. The result is empty if one is NaN and the other
/// is not.
std::optional<uint64_t> ulps_between(const Tensor& a, const Tensor& b, int64_t element) {
  if (same(a, b, element))
    return 0;
  if (is_nan(a, element) || is_nan(b, element))
    return std::nullopt;
  const Int128 apart = ordinal(a, element) - ordinal(b, element);
  return static_cast<uint64_t>(apart < 0 ? -apart : apart);
}

/// Returns the parts of complex numbers as a tensor. Other numbers become doubles with imaginary
/// parts of 0.
Tensor parts_of(const Tensor& tensor) {
  return parts(is_complex(tensor.dtype()) ? tensor : convert(tensor, Dtype::C128));
}

/// Returns the first difference if each element is `parts` numbers side by side.
std::optional<TensorDifference> first_difference(const Tensor& a, const Tensor& b, int64_t parts) {
  std::optional<TensorDifference> difference;
  const bool counts_ulps = is_float(a.dtype()) && a.dtype() == b.dtype();
  for (int64_t i = 0; i < a.elements() / parts; ++i) {
    bool differs = false;
    std::optional<uint64_t> ulps;  // those of the part that is furthest off
    if (counts_ulps)
      ulps = 0;
    for (int64_t part = parts * i; part < parts * (i + 1); ++part) {
      differs = differs || !same(a, b, part);
      const std::optional<uint64_t> apart = counts_ulps ? ulps_between(a, b, part) : std::nullopt;
      ulps = ulps && apart ? std::optional(std::max(*ulps, *apart)) : std::nullopt;
    }
    if (!differs)
      continue;
    if (!difference)
      difference = TensorDifference{i, 0, ulps, ulps};
    ++difference->count;
    if (!ulps || !difference->most_ulps)
      difference->most_ulps = std::nullopt;
    else
      difference->most_ulps = std::max(*difference->most_ulps, *ulps);
  }
  return difference;
}

}  // namespace

std::optional<TensorDifference> first_difference(const Tensor& a, const Tensor& b) {
  if (is_complex(a.dtype()) || is_complex(b.dtype()))
    return first_difference(parts_of(a), parts_of(b), 2);
  return first_difference(a, b, 1);
}

}  // namespace orrery
