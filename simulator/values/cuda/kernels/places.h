#pragma once

// This file says where kernels find elements: at addresses, and in boxes. Each element of a box has
// a place where it is read, and one where it is written. The file is freestanding.

#include <stdint.h>

#include "models/array/host_device.h"

namespace orrery::cuda {

/// A DevicePointer is an address in device memory, as libcuda has it. On the host, where the same
/// kernels run in tests, it is an address in the host's memory.
using DevicePointer = uint64_t;

template <class T>
ORRERY_HOST_DEVICE T* at(DevicePointer address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

/// This is enough: dimensions of one index are left out, and no GPU has memory of 2^40 elements.
inline constexpr int kMostBoxDims = 40;

/// Element i has a row-major index over `dims`. Its place is the sum of coordinate x stride.
struct Box {
  int64_t items;  // elements
  int32_t rank;
  int64_t dims[kMostBoxDims];
  int64_t from[kMostBoxDims];  // strides, in elements
  int64_t to[kMostBoxDims];
};

struct Places {
  int64_t from;
  int64_t to;
};

/// A Quotient is item / divisor and the rest; the divisor is not 0. If all items are `small`,
/// divide() uses numbers of 32 bits, since GPUs have no instruction for more.
struct Quotient {
  int64_t quotient;
  int64_t rest;
};
ORRERY_HOST_DEVICE inline Quotient divide(int64_t item, int64_t divisor, bool small) {
  const int64_t quotient =
      small ? int64_t{static_cast<uint32_t>(item) / static_cast<uint32_t>(divisor)}
            : item / divisor;
  return {quotient, item - quotient * divisor};
}
ORRERY_HOST_DEVICE inline bool is_small(int64_t items) {
  return items < int64_t{1} << 32;
}

ORRERY_HOST_DEVICE inline Places places_of(const Box& box, int64_t item) {
  const bool small = is_small(box.items);
  Places places = {0, 0};
  ORRERY_ROLLED
  for (int d = box.rank - 1; d >= 0; --d) {
    // The first dimension gets all that is left.
    const Quotient division = d == 0 ? Quotient{0, item} : divide(item, box.dims[d], small);
    places.from += division.rest * box.from[d];
    places.to += division.rest * box.to[d];
    item = division.quotient;
  }
  return places;
}

}  // namespace orrery::cuda
