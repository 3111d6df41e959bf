#pragma once

// A box of elements, of which each has a place in what is read and in what is written.
// Freestanding.

#include "models/array/host_device.h"
#include "simulator/values/cuda/kernels/device_pointer.h"

namespace orrery::cuda {

/// Dimensions of one index are left out, and no memory has 2^48 elements.
inline constexpr int kMostBoxDims = 48;

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

template <class Int>
ORRERY_HOST_DEVICE Places places_by(const Box& box, int64_t item) {
  Places places = {0, 0};
  auto rest = static_cast<Int>(item);
  ORRERY_ROLLED
  for (int d = box.rank - 1; d > 0; --d) {
    const auto dim = static_cast<Int>(box.dims[d]);
    const Int quotient = rest / dim;
    const auto coordinate = static_cast<int64_t>(rest - quotient * dim);
    places.from += coordinate * box.from[d];
    places.to += coordinate * box.to[d];
    rest = quotient;
  }
  if (box.rank > 0) {
    places.from += static_cast<int64_t>(rest) * box.from[0];
    places.to += static_cast<int64_t>(rest) * box.to[0];
  }
  return places;
}

/// Divides by numbers of 32 bits where it can: GPUs have no instruction for more.
ORRERY_HOST_DEVICE inline Places places_of(const Box& box, int64_t item) {
  return box.items <= int64_t{1} << 32 ? places_by<uint32_t>(box, item)
                                       : places_by<uint64_t>(box, item);
}

}  // namespace orrery::cuda
