#pragma once

// Several tests use these small tensors and special numbers.

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "models/array/tensor.h"
#include "models/array/text.h"

namespace orrery::test {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Sets an element. Rounds the value as the conversions of arith.h do.
inline void set_element_from_double(Tensor& tensor, int64_t index, double value) {
  dispatch(tensor.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    tensor.as<E>()[static_cast<size_t>(index)] = arith::convert<E>(arith::round<arith::F64>(value));
  });
}

inline Tensor of(Dtype dtype, Shape shape, const std::vector<double>& values) {
  Tensor tensor(dtype, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i)
    set_element_from_double(tensor, static_cast<int64_t>(i), values[i]);
  return tensor;
}

/// Returns a vector.
inline Tensor of(Dtype dtype, const std::vector<double>& values) {
  return of(dtype, {static_cast<int64_t>(values.size())}, values);
}

/// Returns a vector of a complex dtype.
inline Tensor complex_numbers(Dtype dtype, const std::vector<std::complex<double>>& values) {
  std::vector<double> both;
  for (const std::complex<double> value : values) {
    both.push_back(value.real());
    both.push_back(value.imag());
  }
  return joined(of(part_dtype(dtype), {static_cast<int64_t>(values.size()), 2}, both));
}

/// Returns the shape of the parts of a complex tensor with this shape.
inline Shape with_parts(const Shape& shape) {
  return shape.inserted(shape.rank(), 2);
}

/// Returns whether the tensors are the same bit for bit. To == all NaNs are the same.
inline bool identical(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end());
}

}  // namespace orrery::test
