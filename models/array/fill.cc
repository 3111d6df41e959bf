// This is the part of kernels.h that fills new tensors.

#include <cmath>
#include <utility>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "models/array/kernels.h"
#include "models/base/check.h"

namespace orrery {

namespace {

/// Returns a tensor whose element i is next(i), converted. `next` is called in ascending order.
template <class Next>
Tensor filled(Dtype dtype, Shape shape, Next next) {
  Tensor result(dtype, std::move(shape));
  dispatch(dtype, [&](auto tag) {
    using E = typename decltype(tag)::type;
    const std::span<E> elements = result.as<E>();
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = arith::convert<E>(next(i));
  });
  return result;
}

}  // namespace

bool has_number(Dtype dtype, const NumberOrPair& number) {
  if (is_complex(dtype))
    return has_number(part_dtype(dtype), number.re) &&
           has_number(part_dtype(dtype), number.im.value_or(0));
  if (number.im)
    return false;
  const double value = number.re;
  if (is_float(dtype)) {
    const double rounded = convert(full(dtype, Shape(), value), Dtype::F64).as<double>()[0];
    return std::isnan(value)   ? std::isnan(rounded)
           : std::isinf(value) ? rounded == value
                               : std::isfinite(rounded) && (rounded != 0 || value == 0);
  }
  if (dtype == Dtype::Pred)
    return value == 0 || value == 1;
  const int bits = static_cast<int>(8 * itemsize(dtype).count()) - (is_signed(dtype) ? 1 : 0);
  const double beyond = std::ldexp(1.0, bits);
  return value == std::trunc(value) && value < beyond && value >= (is_signed(dtype) ? -beyond : 0);
}

bool has_exactly(Dtype dtype, double value) {
  return has_number(dtype, value) &&
         convert(full(dtype, Shape(), value), Dtype::F64).as<double>()[0] == value;
}

Tensor full(Dtype dtype, Shape shape, const NumberOrPair& value) {
  ORRERY_CHECK(!value.im || is_complex(dtype), "only complex elements have an imaginary part");
  const arith::C128 element = {arith::round<arith::F64>(value.re),
                               arith::round<arith::F64>(value.im.value_or(0))};
  return filled(dtype, std::move(shape), [&](size_t) { return element; });
}

Tensor iota(Dtype dtype, Shape shape) {
  return filled(dtype, std::move(shape),
                [](size_t i) { return arith::S64{static_cast<int64_t>(i)}; });
}

Tensor iota(Dtype dtype, Shape shape, size_t dimension) {
  ORRERY_CHECK(dimension < shape.rank(), "indices run along a dimension of the shape");
  const auto inner = static_cast<size_t>(shape.elements_from(dimension + 1));
  const auto extent = static_cast<size_t>(shape[dimension]);
  return filled(dtype, std::move(shape),
                [=](size_t i) { return arith::S64{static_cast<int64_t>(i / inner % extent)}; });
}

IntegerBounds small_integers(Dtype dtype) {
  if (dtype == Dtype::Pred)
    return {0, 1};
  if (is_float(dtype) && itemsize(dtype) == Bytes(1))
    return {-1, 1};
  return is_signed(dtype) ? IntegerBounds{-4, 4} : IntegerBounds{0, 8};
}

}  // namespace orrery
