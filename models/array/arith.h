#pragma once

// What an element's bits mean, and how elements convert and combine. Freestanding, so that the host
// executor, the oracle and the CUDA kernels compile this same text and agree bit for bit.
//
// Relies on: IEEE 754 float and double, rounding to nearest even, no flush to zero, and no fused
// multiply-add (-ffp-contract=off; nvcc: --fmad=false).
//
// Rules:
//  - A computed or converted result that is NaN has one bit pattern per type: quiet, no sign, no
//  payload
//    (f16 7e00, bf16 7fc0, f32 7fc00000, f64 7ff8000000000000).
//  - Integers wrap modulo 2^width.
//  - f16 and bf16 compute in f32 and round each operation to nearest even. For +, - and * that is
//  the
//    correctly rounded result.
//  - maximum and minimum are those of IEEE 754-2019: NaN wins, and -0 < +0.
//  - Conversion to a float rounds once, to nearest even; what is too large becomes infinite. Float
//  to
//    integer truncates toward zero, saturates, and makes 0 of NaN. Integer to integer wraps. To
//    pred: whether it is not zero (NaN is not). To the same type: the same bits.

#include <stdint.h>

#if defined(__CUDA__) || defined(__CUDACC__)
#define ORRERY_HOST_DEVICE __attribute__((host)) __attribute__((device))
#else
#define ORRERY_HOST_DEVICE
#endif

namespace orrery::arith {

struct Pred {
  uint8_t value;  // 0 or 1
};

template <class Int>
struct Integer {
  Int value;
};
using S8 = Integer<int8_t>;
using S32 = Integer<int32_t>;
using S64 = Integer<int64_t>;  // no dtype: for conversions to and from counts
using U8 = Integer<uint8_t>;
using U32 = Integer<uint32_t>;

struct F16 {
  uint16_t bits;  // sign, 5 bits of exponent, 10 of fraction
};
struct BF16 {
  uint16_t bits;  // the upper half of an f32
};
struct F32 {
  float value;
};
struct F64 {
  double value;
};

template <class A, class B>
inline constexpr bool kSame = false;
template <class A>
inline constexpr bool kSame<A, A> = true;

template <class E>
inline constexpr bool kIsInteger = false;
template <class Int>
inline constexpr bool kIsInteger<Integer<Int>> = true;

template <class E>
inline constexpr bool kIsFloat = kSame<E, F16> || kSame<E, BF16> || kSame<E, F32> || kSame<E, F64>;

/// The types that add, subtract and multiply: every dtype's but pred's.
template <class E>
inline constexpr bool kIsNumber = (kIsInteger<E> && !kSame<E, S64>) || kIsFloat<E>;

ORRERY_HOST_DEVICE constexpr uint32_t bits_of(float x) {
  return __builtin_bit_cast(uint32_t, x);
}
ORRERY_HOST_DEVICE constexpr uint64_t bits_of(double x) {
  return __builtin_bit_cast(uint64_t, x);
}
ORRERY_HOST_DEVICE constexpr float float_of(uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}
ORRERY_HOST_DEVICE constexpr double double_of(uint64_t bits) {
  return __builtin_bit_cast(double, bits);
}

ORRERY_HOST_DEVICE constexpr float canonical(float x) {
  return x != x ? float_of(0x7fc00000U) : x;
}
ORRERY_HOST_DEVICE constexpr double canonical(double x) {
  return x != x ? double_of(0x7ff8000000000000U) : x;
}

// widen: the value in the type that E computes in, exactly. Selections rather than branches here
// and in round, so that loops over them vectorise.

ORRERY_HOST_DEVICE constexpr float widen(F16 x) {
  const uint32_t sign = (x.bits & 0x8000U) << 16U;
  const uint32_t magnitude = (x.bits & 0x7fffU) << 13U;  // fraction and exponent in f32's places
  // The biases, 15 and 127, differ by 112: exact, also for subnormals. Exponent 31 must become 255.
  const uint32_t number = bits_of(float_of(magnitude) * 0x1p112F);
  const uint32_t special = magnitude < (31U << 23U) ? 0U : (112U << 23U);
  return float_of(sign | (number + special));
}
ORRERY_HOST_DEVICE constexpr float widen(BF16 x) {
  return float_of(uint32_t{x.bits} << 16U);
}
ORRERY_HOST_DEVICE constexpr float widen(F32 x) {
  return x.value;
}
ORRERY_HOST_DEVICE constexpr double widen(F64 x) {
  return x.value;
}

// round<E>: the nearest value of E, ties to even; a NaN becomes E's one NaN.

template <class E>
struct Rounding;

template <>
struct Rounding<F16> {
  ORRERY_HOST_DEVICE static constexpr F16 round(float x) {
    const uint32_t magnitude = bits_of(x) & 0x7fffffffU;
    const uint32_t sign = (bits_of(x) >> 16U) & 0x8000U;
    // Half a unit less one, plus one where the last kept bit is odd: ties go to even.
    const uint32_t normal = (magnitude + 0xfffU + ((magnitude >> 13U) & 1U) - (112U << 23U)) >> 13U;
    // Next to 0.5 a float's unit is 2^-24, which is that of the f16 subnormals: the sum rounds to
    // it.
    const uint32_t subnormal = bits_of(float_of(magnitude) + 0.5F) - bits_of(0.5F);
    const uint32_t finite = magnitude < bits_of(0x1p-14F) ? subnormal : normal;
    const uint32_t number = magnitude < bits_of(65520.0F) ? finite : 0x7c00U;
    return {static_cast<uint16_t>(magnitude > 0x7f800000U ? 0x7e00U : (sign | number))};
  }
  ORRERY_HOST_DEVICE static constexpr F16 round(double x) {
    const uint64_t magnitude = bits_of(x) & 0x7fffffffffffffffU;
    const uint64_t sign = (bits_of(x) >> 48U) & 0x8000U;
    const uint64_t half = (uint64_t{1} << 41U) - 1 + ((magnitude >> 42U) & 1U);
    const uint64_t normal = (magnitude + half - (uint64_t{1023 - 15} << 52U)) >> 42U;
    const uint64_t subnormal = bits_of(double_of(magnitude) + 0x1p28) - bits_of(0x1p28);
    const uint64_t finite = magnitude < bits_of(0x1p-14) ? subnormal : normal;
    const uint64_t number = magnitude < bits_of(65520.0) ? finite : 0x7c00U;
    return {static_cast<uint16_t>(magnitude > 0x7ff0000000000000U ? uint64_t{0x7e00}
                                                                  : (sign | number))};
  }
};

template <>
struct Rounding<BF16> {
  ORRERY_HOST_DEVICE static constexpr BF16 round(float x) {
    const uint32_t bits = bits_of(x);
    const uint32_t number = (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U;
    return {static_cast<uint16_t>(x != x ? 0x7fc0U : number)};
  }
  ORRERY_HOST_DEVICE static constexpr BF16 round(double x) {
    const uint64_t magnitude = bits_of(x) & 0x7fffffffffffffffU;
    const uint64_t sign = (bits_of(x) >> 48U) & 0x8000U;
    const uint64_t half = (uint64_t{1} << 44U) - 1 + ((magnitude >> 45U) & 1U);
    const uint64_t normal = (magnitude + half - (uint64_t{1023 - 127} << 52U)) >> 45U;
    // Next to 2^-81 a double's unit is 2^-133, which is that of the bf16 subnormals.
    const uint64_t subnormal = bits_of(double_of(magnitude) + 0x1p-81) - bits_of(0x1p-81);
    const uint64_t finite = magnitude < bits_of(0x1p-126) ? subnormal : normal;
    const uint64_t number = magnitude < bits_of(0x1.ffp127) ? finite : 0x7f80U;
    return {static_cast<uint16_t>(magnitude > 0x7ff0000000000000U ? uint64_t{0x7fc0}
                                                                  : (sign | number))};
  }
};

template <>
struct Rounding<F32> {
  ORRERY_HOST_DEVICE static constexpr F32 round(float x) { return {canonical(x)}; }
  ORRERY_HOST_DEVICE static constexpr F32 round(double x) {
    return {canonical(static_cast<float>(x))};
  }
};

template <>
struct Rounding<F64> {
  ORRERY_HOST_DEVICE static constexpr F64 round(double x) { return {canonical(x)}; }
};

template <class E, class Wide>
ORRERY_HOST_DEVICE constexpr E round(Wide x) {
  return Rounding<E>::round(x);
}

template <class Int>
inline constexpr bool kIsSigned = static_cast<Int>(-1) < static_cast<Int>(0);
template <class Int>
inline constexpr Int kLargest = static_cast<Int>(~uint64_t{0} >> (64U - 8U * sizeof(Int) +
                                                                  (kIsSigned<Int> ? 1U : 0U)));
template <class Int>
inline constexpr Int kSmallest = static_cast<Int>(kIsSigned<Int> ? -1 - int64_t{kLargest<Int>} : 0);

/// Truncated toward zero; the nearest limit where it is outside; 0 for NaN.
template <class Int>
ORRERY_HOST_DEVICE constexpr Int truncate(double x) {
  if (x != x)
    return 0;
  if (x <= static_cast<double>(kSmallest<Int>))
    return kSmallest<Int>;
  if (x >= static_cast<double>(kLargest<Int>))
    return kLargest<Int>;
  return static_cast<Int>(x);
}

/// A double that rounds to f16 and bf16 as x does. Beyond 53 bits the bits that a double cannot
/// hold are gathered into its last one, so that no tie appears where there was none.
ORRERY_HOST_DEVICE constexpr double sticky_double(int64_t x) {
  const uint64_t magnitude = x < 0 ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  const uint64_t gathered = ((magnitude >> 11U) | ((magnitude & 0x7ffU) != 0 ? 1U : 0U)) << 11U;
  const auto held = static_cast<double>((magnitude >> 53U) == 0 ? magnitude : gathered);
  return x < 0 ? -held : held;
}

template <class To, class From>
ORRERY_HOST_DEVICE constexpr To convert(From x) {
  if constexpr (kSame<To, From>) {
    return x;
  } else if constexpr (kSame<To, Pred> && kIsFloat<From>) {
    return {static_cast<uint8_t>(widen(x) != 0 ? 1 : 0)};
  } else if constexpr (kSame<To, Pred>) {
    return {static_cast<uint8_t>(x.value != 0 ? 1 : 0)};
  } else if constexpr (kIsInteger<To> && kIsFloat<From>) {
    return {truncate<decltype(To::value)>(static_cast<double>(widen(x)))};
  } else if constexpr (kIsInteger<To>) {
    return {static_cast<decltype(To::value)>(x.value)};
  } else if constexpr (kSame<To, F64> && kIsFloat<From>) {
    return round<F64>(static_cast<double>(widen(x)));
  } else if constexpr (kIsFloat<From>) {
    return round<To>(widen(x));
  } else if constexpr (kSame<To, F32> || kSame<To, F64>) {
    return {static_cast<decltype(To::value)>(x.value)};
  } else {
    return round<To>(sticky_double(int64_t{x.value}));
  }
}

template <class E>
ORRERY_HOST_DEVICE constexpr bool is_nan(E x) {
  if constexpr (kIsFloat<E>)
    return widen(x) != widen(x);
  else
    return false;
}

/// The element's own bits.
ORRERY_HOST_DEVICE constexpr uint8_t bits_of(Pred x) {
  return x.value;
}
ORRERY_HOST_DEVICE constexpr uint8_t bits_of(S8 x) {
  return static_cast<uint8_t>(x.value);
}
ORRERY_HOST_DEVICE constexpr uint32_t bits_of(S32 x) {
  return static_cast<uint32_t>(x.value);
}
ORRERY_HOST_DEVICE constexpr uint8_t bits_of(U8 x) {
  return x.value;
}
ORRERY_HOST_DEVICE constexpr uint32_t bits_of(U32 x) {
  return x.value;
}
ORRERY_HOST_DEVICE constexpr uint16_t bits_of(F16 x) {
  return x.bits;
}
ORRERY_HOST_DEVICE constexpr uint16_t bits_of(BF16 x) {
  return x.bits;
}
ORRERY_HOST_DEVICE constexpr uint32_t bits_of(F32 x) {
  return bits_of(x.value);
}
ORRERY_HOST_DEVICE constexpr uint64_t bits_of(F64 x) {
  return bits_of(x.value);
}

/// Equal bits, or both NaN.
template <class E>
ORRERY_HOST_DEVICE constexpr bool same_value(E x, E y) {
  return bits_of(x) == bits_of(y) || (is_nan(x) && is_nan(y));
}

// Integers compute in 32 unsigned bits, which wrap; the result keeps the low ones.

template <class E>
ORRERY_HOST_DEVICE constexpr E add(E x, E y) {
  static_assert(kIsNumber<E>);
  if constexpr (kIsFloat<E>)
    return round<E>(widen(x) + widen(y));
  else
    return {static_cast<decltype(E::value)>(static_cast<uint32_t>(x.value) +
                                            static_cast<uint32_t>(y.value))};
}

template <class E>
ORRERY_HOST_DEVICE constexpr E subtract(E x, E y) {
  static_assert(kIsNumber<E>);
  if constexpr (kIsFloat<E>)
    return round<E>(widen(x) - widen(y));
  else
    return {static_cast<decltype(E::value)>(static_cast<uint32_t>(x.value) -
                                            static_cast<uint32_t>(y.value))};
}

template <class E>
ORRERY_HOST_DEVICE constexpr E multiply(E x, E y) {
  static_assert(kIsNumber<E>);
  if constexpr (kIsFloat<E>)
    return round<E>(widen(x) * widen(y));
  else
    return {static_cast<decltype(E::value)>(static_cast<uint32_t>(x.value) *
                                            static_cast<uint32_t>(y.value))};
}

// Floats that compare equal have equal bits, except +0 and -0: `and` of those bits is +0, `or` is
// -0.

ORRERY_HOST_DEVICE constexpr float larger(float x, float y) {
  const float number = x > y ? x : (y > x ? y : float_of(bits_of(x) & bits_of(y)));
  return x != x || y != y ? float_of(0x7fc00000U) : number;
}
ORRERY_HOST_DEVICE constexpr double larger(double x, double y) {
  const double number = x > y ? x : (y > x ? y : double_of(bits_of(x) & bits_of(y)));
  return x != x || y != y ? double_of(0x7ff8000000000000U) : number;
}
ORRERY_HOST_DEVICE constexpr float smaller(float x, float y) {
  const float number = x < y ? x : (y < x ? y : float_of(bits_of(x) | bits_of(y)));
  return x != x || y != y ? float_of(0x7fc00000U) : number;
}
ORRERY_HOST_DEVICE constexpr double smaller(double x, double y) {
  const double number = x < y ? x : (y < x ? y : double_of(bits_of(x) | bits_of(y)));
  return x != x || y != y ? double_of(0x7ff8000000000000U) : number;
}

template <class E>
ORRERY_HOST_DEVICE constexpr E maximum(E x, E y) {
  if constexpr (kIsFloat<E>)
    return round<E>(larger(widen(x), widen(y)));
  else
    return x.value < y.value ? y : x;
}

template <class E>
ORRERY_HOST_DEVICE constexpr E minimum(E x, E y) {
  if constexpr (kIsFloat<E>)
    return round<E>(smaller(widen(x), widen(y)));
  else
    return y.value < x.value ? y : x;
}

}  // namespace orrery::arith

#undef ORRERY_HOST_DEVICE
