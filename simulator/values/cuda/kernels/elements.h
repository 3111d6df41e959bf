#pragma once

// This file says how kernels read, compute and write elements. It has rows of elements in packs,
// and elements with a rank beside them. Others are computed in a wider type, or have a dtype that
// is known at run time only. It is freestanding.

#include "models/array/arith.h"
#include "models/array/element_types.h"
#include "models/array/folds.h"
#include "models/array/xla_cpu.h"
#include "simulator/values/cuda/kernels/places.h"

namespace orrery::cuda {

// A row of elements is read and written in packs of up to 16 bytes at once, as fast as memory goes.
// The elements before and after the packs follow one by one.

/// A pack has this many bytes, and lies at a multiple of them. Floats narrower than f32 make packs
/// of only four, since their arithmetic is long and is written out for each.
template <class E>
inline constexpr int64_t kPackSize = arith::NarrowFloat<E>::kIsNarrow ? 4 * int64_t{sizeof(E)} : 16;

/// A Packing has the items of a row of elements: packs, then each element before and after them.
struct Packing {
  int64_t head;  // elements before the first pack
  int64_t packs;
  int64_t items;
};

/// PackWords are the words that one instruction loads or stores.
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

/// Goes through the items first, first + stride, ... Calls pack(e) for a pack that begins with
/// element e, and one(e) for a single element.
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

// Elements that have a rank beside them, without padding, lie at addresses that are not multiples
// of their size.

/// An element and its rank have this many bytes.
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

template <class E, bool kIsNarrow>
struct ComputedIn {
  using Type = E;
};
template <class E>
struct ComputedIn<E, true> {
  using Type = arith::F32;
};

/// Computed is the type that E computes in: F32 for floats narrower than f32, else E itself. A
/// function of arith.h gives the same for E as for elements that are converted to this type, once
/// the result is converted back.
template <class E>
using Computed = typename ComputedIn<E, arith::NarrowFloat<E>::kIsNarrow>::Type;

/// A Number is an element of a dtype known at run time. Every element is exactly an element of s64,
/// u64, f32, f64, c64 or c128, and converts to any other dtype as that one does (arith::convert).
/// So 17 ways in and 6 x 17 ways out are enough for 17 x 17 conversions.
class Number {
 public:
  template <class E>
  ORRERY_HOST_DEVICE explicit Number(E x) {
    if constexpr (arith::kSame<E, arith::F64>) {
      set(Kind::Double, arith::bits_of(x), 0);
    } else if constexpr (arith::kIsFloat<E>) {
      set(Kind::Single, arith::bits_of(arith::convert<arith::F32>(x)), 0);
    } else if constexpr (arith::kIsComplex<E>) {
      const Number re(x.re);
      const Number im(x.im);
      set(re.kind_ == Kind::Double ? Kind::ComplexDouble : Kind::ComplexSingle, re.first_,
          im.first_);
    } else if constexpr (arith::kSame<E, arith::Pred>) {
      set(Kind::Unsigned, x.value, 0);
    } else {
      using Int = decltype(E::value);
      set(arith::kIsSigned<Int> ? Kind::Signed : Kind::Unsigned, static_cast<uint64_t>(x.value), 0);
    }
  }

  /// Returns the number as an E. Requires another dtype than the number came from, since a
  /// conversion to the same dtype keeps all bits.
  template <class E>
  ORRERY_HOST_DEVICE E as() const {
    switch (kind_) {
      case Kind::Signed:
        return arith::convert<E>(arith::S64{static_cast<int64_t>(first_)});
      case Kind::Unsigned:
        return arith::convert<E>(arith::U64{first_});
      case Kind::Single:
        return arith::convert<E>(single(first_));
      case Kind::Double:
        return arith::convert<E>(arith::F64{arith::double_of(first_)});
      case Kind::ComplexSingle:
        return arith::convert<E>(arith::C64{single(first_), single(second_)});
      case Kind::ComplexDouble:
        break;
    }
    return arith::convert<E>(arith::C128{{arith::double_of(first_)}, {arith::double_of(second_)}});
  }

 private:
  enum class Kind : uint8_t { Signed, Unsigned, Single, Double, ComplexSingle, ComplexDouble };

  ORRERY_HOST_DEVICE static arith::F32 single(uint64_t bits) {
    return {arith::float_of(static_cast<uint32_t>(bits))};
  }
  ORRERY_HOST_DEVICE void set(Kind kind, uint64_t first, uint64_t second) {
    kind_ = kind;
    first_ = first;
    second_ = second;
  }

  Kind kind_;
  uint64_t first_;
  uint64_t second_;
};

/// Flush says whether subnormals are taken as zeros (arith::xla_cpu::flushed).
enum class Flush : uint8_t { No, Yes };

ORRERY_HOST_DEVICE inline Number load_number(Dtype dtype, DevicePointer from, int64_t index,
                                             Flush flush) {
  return with_element_type(dtype, [&](auto tag) {
    using E = typename decltype(tag)::type;
    const E x = at<const E>(from)[index];
    return Number(flush == Flush::Yes ? arith::xla_cpu::flushed(x) : x);
  });
}

}  // namespace orrery::cuda
