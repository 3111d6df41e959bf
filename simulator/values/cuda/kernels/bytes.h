#pragma once

// Elements at addresses that are not multiples of their size: those that have a rank beside them,
// without padding. Freestanding.

#include "models/array/folds.h"
#include "simulator/values/cuda/kernels/device_pointer.h"

namespace orrery::cuda {

/// Of an element and its rank.
template <class E>
inline constexpr int64_t kRankedSize = int64_t{sizeof(E)} + int64_t{sizeof(int32_t)};

template <class T>
ORRERY_HOST_DEVICE T load_bytes(DevicePointer from) {
  T loaded;
  __builtin_memcpy(&loaded, at<const unsigned char>(from), sizeof(T));
  return loaded;
}
template <class T>
ORRERY_HOST_DEVICE void store_bytes(DevicePointer to, const T& value) {
  __builtin_memcpy(at<unsigned char>(to), &value, sizeof(T));
}

template <class E>
ORRERY_HOST_DEVICE arith::Ranked<E> load_ranked(DevicePointer from, int64_t index) {
  const DevicePointer place = from + static_cast<uint64_t>(index * kRankedSize<E>);
  return {load_bytes<E>(place), load_bytes<int32_t>(place + sizeof(E))};
}
template <class E>
ORRERY_HOST_DEVICE void store_ranked(DevicePointer to, int64_t index,
                                     const arith::Ranked<E>& element) {
  const DevicePointer place = to + static_cast<uint64_t>(index * kRankedSize<E>);
  store_bytes(place, element.value);
  store_bytes(place + sizeof(E), element.rank);
}

}  // namespace orrery::cuda
