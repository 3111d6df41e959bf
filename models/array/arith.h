#pragma once

// This file has the arithmetic of elements: how they convert and combine, and what their bits mean.
//
// This folder computes with arrays. Its lower half is freestanding: it needs no library, so that
// the host executor, the definitions and the CUDA kernels compile the same text and agree bit for
// bit.
//   element_types.h  the dtypes and the type of an element of each
//   arith.h          IEEE arithmetic of elements; xla_cpu.h that of XLA on the CPU
//   transcendental.h, functions.h   exp, log, ... of floats and of complex numbers
//   combine.h, folds.h, rows.h, element_ops.h   which of these functions an op applies
// The upper half applies them to whole arrays, on the host: tensor.h has the arrays, kernels.h the
// local ops, work.h the elements of collectives, text.h reads and writes elements, and dtype.h and
// shape.h describe arrays.
//
// This file relies on IEEE 754 float and double, rounding to nearest even, no flush to zero, and no
// fused multiply-add (-ffp-contract=off; nvcc: --fmad=false).
//
// The rules are:
//  - A computed or converted result that is NaN has one bit pattern per type: quiet, no sign, no
//    payload (f8e4m3fn 7f, f8e5m2 7e, f16 7e00, bf16 7fc0, f32 7fc00000, f64 7ff8000000000000).
//  - Integers wrap modulo 2^width. Their division truncates toward zero. A division by zero gives
//    -1 (all bits set), as in XLA. The smallest number divided by -1 gives itself.
//  - Floats narrower than f32 compute in f32, and each operation rounds to nearest even. That is
//    the correctly rounded sum, difference, product and quotient.
//  - maximum and minimum are those of IEEE 754-2019: NaN wins, and -0 < +0. Nothing is equal to
//    NaN, less or greater; -0 equals +0.
//  - Conversion to a float rounds once, to nearest even. A number that is too large becomes
//    infinite, or NaN in f8e4m3fn, which has no infinity (as in ml_dtypes and XLA). Float to
//    integer truncates toward zero, saturates, and makes 0 of NaN. Integer to integer wraps.
//    Conversion to pred gives true for all but zero (so for NaN too). Conversion to the same type
//    keeps the bits.
//  - A complex number is two floats. It is NaN if one of them is. Sums add the parts. The product
//    of a + bi and c + di is (ac - bd) + (ad + bc)i, every product and sum rounded. There is no
//    order. A complex number converts to a real type by its real part, as in JAX. A real number
//    converts to a complex one with an imaginary part of +0. The quotient is in functions.h.

#include <stdint.h>

#include "models/array/element_types.h"
#include "models/array/host_device.h"

namespace orrery::arith {

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

// widen() returns the value, exactly, in the type that its dtype computes in. It and round() select
// rather than branch, so that loops over them vectorise.

ORRERY_HOST_DEVICE constexpr float widen(F16 x) {
  const uint32_t sign = (x.bits & 0x8000U) << 16U;
  const uint32_t magnitude = (x.bits & 0x7fffU) << 13U;  // fraction and exponent in f32's places
  // The biases, 15 and 127, differ by 112. The product is exact, even for subnormals. Exponent 31
  // must become 255.
  const uint32_t number = bits_of(float_of(magnitude) * 0x1p112F);
  const uint32_t special = magnitude < (31U << 23U) ? 0U : (112U << 23U);
  return float_of(sign | (number + special));
}
ORRERY_HOST_DEVICE constexpr float widen(BF16 x) {
  return float_of(uint32_t{x.bits} << 16U);
}
ORRERY_HOST_DEVICE constexpr float widen(F8E5M2 x) {
  return widen(F16{static_cast<uint16_t>(x.bits << 8U)});
}
ORRERY_HOST_DEVICE constexpr float widen(F8E4M3FN x) {
  const uint32_t sign = (x.bits & 0x80U) << 24U;
  const uint32_t magnitude = (x.bits & 0x7fU) << 20U;
  const uint32_t number = bits_of(float_of(magnitude) * 0x1p120F);  // biases 7 and 127
  return float_of(sign | (magnitude == (0x7fU << 20U) ? 0x7fc00000U : number));
}
ORRERY_HOST_DEVICE constexpr float widen(F32 x) {
  return x.value;
}
ORRERY_HOST_DEVICE constexpr double widen(F64 x) {
  return x.value;
}

/// Returns the value of E nearest to x, ties to even. A NaN becomes E's one NaN.
template <class E, class Wide>
ORRERY_HOST_DEVICE constexpr E round(Wide x) {
  if constexpr (kSame<E, F32>) {
    return {canonical(static_cast<float>(x))};
  } else if constexpr (kSame<E, F64>) {
    return {canonical(static_cast<double>(x))};
  } else {
    using To = NarrowFloat<E>;
    using Bits = decltype(bits_of(x));
    constexpr unsigned kFraction = sizeof(Wide) == 4 ? 23 : 52;
    constexpr int kBias = sizeof(Wide) == 4 ? 127 : 1023;
    constexpr unsigned kDrop = kFraction - To::kFraction;
    constexpr unsigned kSignShift = 8 * (sizeof(Wide) - sizeof(E));
    constexpr Bits kSign = Bits{1} << (8 * sizeof(E) - 1);

    const Bits magnitude = bits_of(x) & (~Bits{0} >> 1U);
    const Bits sign = (bits_of(x) >> kSignShift) & kSign;
    // This is half a unit less one, plus one if the last kept bit is odd. So ties go to even.
    const Bits half = (Bits{1} << (kDrop - 1)) - 1 + ((magnitude >> kDrop) & 1U);
    Bits number = (magnitude + half - (Bits{kBias - To::kBias} << kFraction)) >> kDrop;
    if constexpr (To::kBias != kBias) {
      // Near this power of two the last place of Wide is that of E's subnormals. So adding the
      // power rounds to a subnormal of E.
      constexpr Bits kNext = Bits{kBias + 1 - To::kBias + kDrop} << kFraction;
      constexpr Bits kSmallestNormal = Bits{kBias + 1 - To::kBias} << kFraction;
      const Bits subnormal =
          bits_of(__builtin_bit_cast(Wide, magnitude) + __builtin_bit_cast(Wide, kNext)) - kNext;
      number = magnitude < kSmallestNormal ? subnormal : number;
      number = number > To::kLargest ? Bits{To::kBeyond} : number;
    }
    // Where E has the exponent range of Wide, a carry out of the largest number gives infinity by
    // itself. NOLINTNEXTLINE(misc-redundant-expression): not a number is not equal to itself
    const bool is_nan = x != x || (To::kBeyond == To::kNan && number == To::kNan);
    return {static_cast<decltype(E::bits)>(is_nan ? Bits{To::kNan} : (sign | number))};
  }
}

template <class Int>
inline constexpr bool kIsSigned = static_cast<Int>(-1) < static_cast<Int>(0);
template <class Int>
inline constexpr Int kLargest = static_cast<Int>(~uint64_t{0} >> (64U - 8U * sizeof(Int) +
                                                                  (kIsSigned<Int> ? 1U : 0U)));
template <class Int>
inline constexpr Int kSmallest = static_cast<Int>(~kLargest<Int>);

/// Returns x truncated toward zero, the nearest limit of Int if x is out of range, and 0 for NaN.
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

/// Returns a double that rounds to every float narrower than f32 as x does. The bits of x beyond
/// the 53 that a double holds are OR-ed into the last one (sticky), so that no false tie appears.
template <class Int>
ORRERY_HOST_DEVICE constexpr double sticky_double(Int x) {
  const uint64_t magnitude = x < 0 ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  const uint64_t gathered = ((magnitude >> 11U) | ((magnitude & 0x7ffU) != 0 ? 1U : 0U)) << 11U;
  const auto held = static_cast<double>((magnitude >> 53U) == 0 ? magnitude : gathered);
  return x < 0 ? -held : held;
}

template <class To, class From>
ORRERY_HOST_DEVICE constexpr To convert(From x) {
  if constexpr (kSame<To, From>) {
    return x;
  } else if constexpr (kIsComplex<To> && kIsComplex<From>) {
    using Component = typename To::Component;
    return {convert<Component>(x.re), convert<Component>(x.im)};
  } else if constexpr (kIsComplex<To>) {
    return {convert<typename To::Component>(x), {0}};
  } else if constexpr (kIsComplex<From>) {
    return convert<To>(x.re);
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
    return round<To>(sticky_double(x.value));
  }
}

template <class E>
ORRERY_HOST_DEVICE constexpr bool is_nan(E x) {
  if constexpr (kIsComplex<E>)
    return is_nan(x.re) || is_nan(x.im);
  else if constexpr (kIsFloat<E>)
    return widen(x) != widen(x);
  else
    return false;
}

/// Word<n>::Type is the unsigned integer of n bytes.
template <unsigned kBytes>
struct Word;
template <>
struct Word<1> {
  using Type = uint8_t;
};
template <>
struct Word<2> {
  using Type = uint16_t;
};
template <>
struct Word<4> {
  using Type = uint32_t;
};
template <>
struct Word<8> {
  using Type = uint64_t;
};

/// These return the bits of an element that is not complex.
ORRERY_HOST_DEVICE constexpr uint8_t bits_of(Pred x) {
  return x.value;
}
template <class Int>
ORRERY_HOST_DEVICE constexpr auto bits_of(Integer<Int> x) {
  return static_cast<typename Word<sizeof(Int)>::Type>(x.value);
}
ORRERY_HOST_DEVICE constexpr uint8_t bits_of(F8E4M3FN x) {
  return x.bits;
}
ORRERY_HOST_DEVICE constexpr uint8_t bits_of(F8E5M2 x) {
  return x.bits;
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

template <class E>
ORRERY_HOST_DEVICE constexpr bool same_bits(E x, E y) {
  if constexpr (kIsComplex<E>)
    return same_bits(x.re, y.re) && same_bits(x.im, y.im);
  else
    return bits_of(x) == bits_of(y);
}

/// Returns whether x and y have equal bits or are both NaN. Complex numbers compare part by part.
template <class E>
ORRERY_HOST_DEVICE constexpr bool same_value(E x, E y) {
  if constexpr (kIsComplex<E>)
    return same_value(x.re, y.re) && same_value(x.im, y.im);
  else
    return bits_of(x) == bits_of(y) || (is_nan(x) && is_nan(y));
}

/// Integers compute in 32 or 64 unsigned bits, which wrap. The result keeps the low bits.
template <class E>
using Wrapping = typename Word<sizeof(E) < 8 ? 4 : 8>::Type;

template <class E>
ORRERY_HOST_DEVICE constexpr E add(E x, E y) {
  static_assert(kIsNumber<E>);
  if constexpr (kIsComplex<E>)
    return {add(x.re, y.re), add(x.im, y.im)};
  else if constexpr (kIsFloat<E>)
    return round<E>(widen(x) + widen(y));
  else
    return {static_cast<decltype(E::value)>(static_cast<Wrapping<E>>(x.value) +
                                            static_cast<Wrapping<E>>(y.value))};
}

template <class E>
ORRERY_HOST_DEVICE constexpr E subtract(E x, E y) {
  static_assert(kIsNumber<E>);
  if constexpr (kIsComplex<E>)
    return {subtract(x.re, y.re), subtract(x.im, y.im)};
  else if constexpr (kIsFloat<E>)
    return round<E>(widen(x) - widen(y));
  else
    return {static_cast<decltype(E::value)>(static_cast<Wrapping<E>>(x.value) -
                                            static_cast<Wrapping<E>>(y.value))};
}

template <class E>
ORRERY_HOST_DEVICE constexpr E multiply(E x, E y) {
  static_assert(kIsNumber<E>);
  if constexpr (kIsComplex<E>)
    return {subtract(multiply(x.re, y.re), multiply(x.im, y.im)),
            add(multiply(x.re, y.im), multiply(x.im, y.re))};
  else if constexpr (kIsFloat<E>)
    return round<E>(widen(x) * widen(y));
  else
    return {static_cast<decltype(E::value)>(static_cast<Wrapping<E>>(x.value) *
                                            static_cast<Wrapping<E>>(y.value))};
}

template <class E>
ORRERY_HOST_DEVICE constexpr E negate(E x) {
  static_assert(kIsNumber<E>);
  if constexpr (kIsComplex<E>)
    return {negate(x.re), negate(x.im)};
  else if constexpr (kIsFloat<E>)
    return round<E>(-widen(x));
  else
    return {static_cast<decltype(E::value)>(0 - static_cast<Wrapping<E>>(x.value))};
}

template <class E>
ORRERY_HOST_DEVICE constexpr E divide(E x, E y) {
  static_assert(kIsInteger<E> || kIsFloat<E>);
  if constexpr (kIsFloat<E>) {
    return round<E>(widen(x) / widen(y));
  } else {
    using Int = decltype(E::value);
    if (y.value == 0)
      return {static_cast<Int>(~Int{0})};
    if (kIsSigned<Int> && y.value == static_cast<Int>(-1))
      return negate(x);
    return {static_cast<Int>(x.value / y.value)};
  }
}

// Floats that compare equal have equal bits, except +0 and -0. Their bits give +0 if AND-ed, -0 if
// OR-ed.

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
  static_assert(kIsOrdered<E>);
  if constexpr (kIsFloat<E>)
    return round<E>(larger(widen(x), widen(y)));
  else
    return x.value < y.value ? y : x;
}

template <class E>
ORRERY_HOST_DEVICE constexpr E minimum(E x, E y) {
  static_assert(kIsOrdered<E>);
  if constexpr (kIsFloat<E>)
    return round<E>(smaller(widen(x), widen(y)));
  else
    return y.value < x.value ? y : x;
}

template <class E>
ORRERY_HOST_DEVICE constexpr bool equal(E x, E y) {
  if constexpr (kIsComplex<E>)
    return equal(x.re, y.re) && equal(x.im, y.im);
  else if constexpr (kIsFloat<E>)
    return widen(x) == widen(y);
  else
    return x.value == y.value;
}

template <class E>
ORRERY_HOST_DEVICE constexpr bool less(E x, E y) {
  static_assert(kIsOrdered<E>);
  if constexpr (kIsFloat<E>)
    return widen(x) < widen(y);
  else
    return x.value < y.value;
}

}  // namespace orrery::arith
