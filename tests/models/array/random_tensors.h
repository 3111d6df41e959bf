#pragma once

// Several tests use these random tensors.

#include <utility>

#include "models/array/kernels.h"
#include "models/base/random.h"
#include "tests/models/array/tensors.h"

namespace orrery::test {

/// Returns integers in the range of small_integers(), also for each part of complex numbers.
inline Tensor random_small_integers(Dtype dtype, Shape shape, Random& random) {
  if (is_complex(dtype))
    return joined(random_small_integers(part_dtype(dtype), with_parts(shape), random));
  Tensor tensor(dtype, std::move(shape));
  const IntegerBounds range = small_integers(dtype);
  for (int64_t i = 0; i < tensor.elements(); ++i)
    set_element_from_int64(tensor, i, random.between(range.low, range.high));
  return tensor;
}

/// Returns multiples of 2^-8 in [-4, 4), rounded to the dtype, for floats and for each part of
/// complex numbers. For integers it returns any bits, and for pred 0 or 1.
inline Tensor random_normalish(Dtype dtype, Shape shape, Random& random) {
  if (is_complex(dtype))
    return joined(random_normalish(part_dtype(dtype), with_parts(shape), random));
  Tensor tensor(dtype, std::move(shape));
  const uint64_t mask = dtype == Dtype::Pred ? 1 : ~uint64_t{0};
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    if (is_float(dtype))
      set_element_from_double(tensor, i, static_cast<double>(random.between(-1024, 1023)) / 256);
    else
      set_element_from_int64(tensor, i, static_cast<int64_t>(random.next() & mask));
  }
  return tensor;
}

}  // namespace orrery::test
