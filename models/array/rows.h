#pragma once

// This file says what an index means in the ops that look elements up: take, scatter_add,
// dynamic_slice and dynamic_update_slice. It is freestanding.

#include <stdint.h>

#include "models/array/arith.h"
#include "models/array/host_device.h"

namespace orrery {

/// An OutOfRange says which row an index outside 0 ... rows - 1 names.
enum class OutOfRange : uint8_t {
  Clip,  // the nearest row
  Fill,  // a negative index counts from the end; others have no row
};

namespace arith {

/// Returns an element as an index, saturated to int64.
template <class E>
ORRERY_HOST_DEVICE constexpr int64_t as_index(E element) {
  const int64_t index = convert<S64>(element).value;
  if constexpr (kSame<E, U64>)
    return index < 0 ? kLargest<int64_t> : index;
  else
    return index;
}

/// Returns the index, which counts from the end if it is negative.
ORRERY_HOST_DEVICE constexpr int64_t counted_from_end(int64_t index, int64_t extent) {
  return index < 0 ? index + extent : index;
}

/// Returns the number in 0 ... most that is nearest to the index.
ORRERY_HOST_DEVICE constexpr int64_t clamped(int64_t index, int64_t most) {
  return index < 0 ? 0 : (index > most ? most : index);
}

struct Row {
  bool exists;
  int64_t row;
};

/// Returns the row of an index.
ORRERY_HOST_DEVICE constexpr Row row_of(int64_t index, int64_t rows, OutOfRange mode) {
  if (mode == OutOfRange::Clip)
    return {true, clamped(index, rows - 1)};
  const int64_t row = counted_from_end(index, rows);
  return {row >= 0 && row < rows, row};
}

/// Returns the value for an index without a row: NaN (floats; NaN + 0i for complex dtypes), the
/// smallest number (signed), the largest (unsigned) or true (pred).
template <class E>
ORRERY_HOST_DEVICE constexpr E fill_element() {
  if constexpr (kIsFloat<E> || kIsComplex<E>)
    return convert<E>(F64{__builtin_nan("")});
  else if constexpr (kIsInteger<E>)
    return {kIsSigned<decltype(E::value)> ? kSmallest<decltype(E::value)>
                                          : kLargest<decltype(E::value)>};
  else
    return {1};
}

}  // namespace arith

}  // namespace orrery
