#pragma once

// How kernels read and write a row of elements: packs of up to 16 bytes at once, as fast as memory
// goes, and the elements before and after them one by one. Freestanding.

#include "models/array/element_types.h"
#include "simulator/values/cuda/kernels/device_pointer.h"

namespace orrery::cuda {

/// Bytes of a pack, which lies at a multiple of them. Of floats narrower than f32 four make a pack:
/// their arithmetic is long, and is written out for each.
template <class E>
inline constexpr int64_t kPackSize = arith::Layout<E>::kIsNarrow ? 4 * int64_t{sizeof(E)} : 16;

/// The items of a row of elements: the packs, and then each element before and after them.
struct Packing {
  int64_t head;  // elements before the first pack
  int64_t packs;
  int64_t items;
};

/// The words that one instruction loads or stores.
template <int64_t kSize>
struct PackWords;
template <>
struct alignas(16) PackWords<16> {
  uint32_t words[4];
};
template <>
struct alignas(8) PackWords<8> {
  uint32_t words[2];
};
template <>
struct PackWords<4> {
  uint32_t word;
};

template <class E>
struct Pack {
  static constexpr int kElements = static_cast<int>(kPackSize<E> / int64_t{sizeof(E)});
  E elements[kElements];
};

template <class E>
ORRERY_HOST_DEVICE Pack<E> load_pack(const E* from) {
  const auto words = *reinterpret_cast<const PackWords<kPackSize<E>>*>(from);
  return __builtin_bit_cast(Pack<E>, words);
}
template <class E>
ORRERY_HOST_DEVICE void store_pack(E* to, const Pack<E>& pack) {
  using Words = PackWords<kPackSize<E>>;
  *reinterpret_cast<Words*>(to) = __builtin_bit_cast(Words, pack);
}

/// For every item of first, first + stride, ...: calls pack(e) for a pack that begins with element
/// e, one(e) for an element.
template <class E, class OnPack, class OnElement>
ORRERY_HOST_DEVICE void for_each_pack(const Packing& packing, int64_t first, int64_t stride,
                                      OnPack pack, OnElement one) {
  constexpr int64_t kEach = Pack<E>::kElements;
  ORRERY_ROLLED
  for (int64_t i = first; i < packing.items; i += stride) {
    const int64_t lone = i - packing.packs;
    if (lone < 0)
      pack(packing.head + i * kEach);
    else
      one(lone < packing.head ? lone : lone + packing.packs * kEach);
  }
}

}  // namespace orrery::cuda
