#pragma once

// This file has the dtypes by number, the type of an element of each, and the kinds of numbers. It
// has the only way from a dtype known at run time to an element type known at compile time. This
// header is freestanding, as is arith.h, which says what the bits of an element mean and how
// elements combine. dtype.h says more about dtypes, for the host.

#include <stdint.h>

#include "models/array/host_device.h"

namespace orrery {

enum class Dtype : uint8_t {
  Pred,
  S8,
  S16,
  S32,
  S64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  F8E4M3FN,
  F8E5M2,
  C64,
  C128,
};

}  // namespace orrery

namespace orrery::arith {

struct Pred {
  uint8_t value;  // 0 or 1
};

template <class Int>
struct Integer {
  Int value;
};
using S8 = Integer<int8_t>;
using S16 = Integer<int16_t>;
using S32 = Integer<int32_t>;
using S64 = Integer<int64_t>;
using U8 = Integer<uint8_t>;
using U16 = Integer<uint16_t>;
using U32 = Integer<uint32_t>;
using U64 = Integer<uint64_t>;

struct F16 {
  uint16_t bits;  // sign, 5 bits of exponent, 10 of fraction
};
struct BF16 {
  uint16_t bits;  // the upper half of an f32
};
struct F8E4M3FN {
  uint8_t bits;  // sign, 4 bits of exponent, 3 of fraction; all ones are NaN, nothing is infinite
};
struct F8E5M2 {
  uint8_t bits;  // the upper half of an f16
};
struct F32 {
  float value;
};
struct F64 {
  double value;
};

template <class Float>
struct Complex {
  using Component = Float;
  Component re;
  Component im;
};
using C64 = Complex<F32>;
using C128 = Complex<F64>;

template <class A, class B>
inline constexpr bool kSame = false;
template <class A>
inline constexpr bool kSame<A, A> = true;

template <class E>
inline constexpr bool kIsInteger = false;
template <class Int>
inline constexpr bool kIsInteger<Integer<Int>> = true;

/// A NarrowFloat has the parameters of a float narrower than f32. Values are as in IEEE 754 up to
/// kLargest.
template <class E>
struct NarrowFloat {
  static constexpr bool kIsNarrow = false;
};
template <>
struct NarrowFloat<F16> {
  static constexpr bool kIsNarrow = true;
  static constexpr int kFraction = 10;
  static constexpr int kBias = 15;
  static constexpr uint16_t kLargest = 0x7bff;
  static constexpr uint16_t kBeyond = 0x7c00;  // what is larger
  static constexpr uint16_t kNan = 0x7e00;
};
template <>
struct NarrowFloat<BF16> {
  static constexpr bool kIsNarrow = true;
  static constexpr int kFraction = 7;
  static constexpr int kBias = 127;
  static constexpr uint16_t kLargest = 0x7f7f;
  static constexpr uint16_t kBeyond = 0x7f80;
  static constexpr uint16_t kNan = 0x7fc0;
};
template <>
struct NarrowFloat<F8E4M3FN> {
  static constexpr bool kIsNarrow = true;
  static constexpr int kFraction = 3;
  static constexpr int kBias = 7;
  static constexpr uint8_t kLargest = 0x7e;
  static constexpr uint8_t kBeyond = 0x7f;
  static constexpr uint8_t kNan = 0x7f;
};
template <>
struct NarrowFloat<F8E5M2> {
  static constexpr bool kIsNarrow = true;
  static constexpr int kFraction = 2;
  static constexpr int kBias = 15;
  static constexpr uint8_t kLargest = 0x7b;
  static constexpr uint8_t kBeyond = 0x7c;
  static constexpr uint8_t kNan = 0x7e;
};

template <class E>
inline constexpr bool kIsFloat = NarrowFloat<E>::kIsNarrow || kSame<E, F32> || kSame<E, F64>;

template <class E>
inline constexpr bool kIsComplex = false;
template <class Float>
inline constexpr bool kIsComplex<Complex<Float>> = true;

/// Numbers add, subtract and multiply. The elements of all dtypes but pred are numbers.
template <class E>
inline constexpr bool kIsNumber = kIsInteger<E> || kIsFloat<E> || kIsComplex<E>;
/// Ordered types have a maximum and a minimum, and "less than".
template <class E>
inline constexpr bool kIsOrdered = !kIsComplex<E>;

}  // namespace orrery::arith

namespace orrery {

template <class E>
struct ElementTag {
  using type = E;
};

/// Calls `use` with the tag of the element type of `dtype`, and returns its result. Requires an
/// enumerator.
template <class Use>
ORRERY_HOST_DEVICE constexpr decltype(auto) with_element_type(Dtype dtype, Use&& use) {
  switch (dtype) {
    case Dtype::Pred:
      return use(ElementTag<arith::Pred>{});
    case Dtype::S8:
      return use(ElementTag<arith::S8>{});
    case Dtype::S16:
      return use(ElementTag<arith::S16>{});
    case Dtype::S32:
      return use(ElementTag<arith::S32>{});
    case Dtype::S64:
      return use(ElementTag<arith::S64>{});
    case Dtype::U8:
      return use(ElementTag<arith::U8>{});
    case Dtype::U16:
      return use(ElementTag<arith::U16>{});
    case Dtype::U32:
      return use(ElementTag<arith::U32>{});
    case Dtype::U64:
      return use(ElementTag<arith::U64>{});
    case Dtype::F16:
      return use(ElementTag<arith::F16>{});
    case Dtype::BF16:
      return use(ElementTag<arith::BF16>{});
    case Dtype::F32:
      return use(ElementTag<arith::F32>{});
    case Dtype::F64:
      return use(ElementTag<arith::F64>{});
    case Dtype::F8E4M3FN:
      return use(ElementTag<arith::F8E4M3FN>{});
    case Dtype::F8E5M2:
      return use(ElementTag<arith::F8E5M2>{});
    case Dtype::C64:
      return use(ElementTag<arith::C64>{});
    case Dtype::C128:
      return use(ElementTag<arith::C128>{});
  }
  __builtin_unreachable();
}

}  // namespace orrery
