#pragma once

// This file has the arithmetic of XLA on the CPU (Numerics::XlaCpu), as measured with jax 0.10.2.
// XLA has x86's modes "denormals are zero" and "flush to zero" on. So an operation that computes in
// f32 or f64 takes a subnormal operand as a zero of its sign. A subnormal result becomes such a
// zero, too. bf16 computes in f32, where its subnormals are subnormal too. The subnormals of f16
// and of the 8-bit floats are normal numbers of f32, and stay. The file is freestanding, as is
// arith.h.

#include "models/array/arith.h"

namespace orrery::arith::xla_cpu {

inline constexpr float kSmallestNormal = 0x1p-126F;
inline constexpr double kSmallestNormalF64 = 0x1p-1022;

ORRERY_HOST_DEVICE constexpr float flushed(float x) {
  const uint32_t magnitude = bits_of(x) & 0x7fffffffU;
  return magnitude < bits_of(kSmallestNormal) ? float_of(bits_of(x) & 0x80000000U) : x;
}
ORRERY_HOST_DEVICE constexpr double flushed(double x) {
  constexpr uint64_t kSign = uint64_t{1} << 63U;
  const uint64_t magnitude = bits_of(x) & ~kSign;
  return magnitude < bits_of(kSmallestNormalF64) ? double_of(bits_of(x) & kSign) : x;
}

/// Flushes the dtypes whose subnormals are subnormal in the type that computes: f32, f64 and bf16.
template <class E>
ORRERY_HOST_DEVICE constexpr E flushed(E x) {
  if constexpr (kIsComplex<E>)
    return {flushed(x.re), flushed(x.im)};
  else if constexpr (kSame<E, F32> || kSame<E, F64> || kSame<E, BF16>)
    return is_nan(x) ? x : round<E>(flushed(widen(x)));
  else
    return x;
}

/// Returns the operand in the type that computes, flushed.
template <class E>
ORRERY_HOST_DEVICE constexpr auto taken(E x) {
  return flushed(widen(x));
}

/// Returns a product or quotient r, flushed. If r is the smallest normal number, the exact result
/// may be smaller. The processor rounds as if there were smaller normal numbers, and flushes if the
/// result is one of them. `scaled` is 2^64 times the exact result, rounded in this way.
template <class Wide>
ORRERY_HOST_DEVICE constexpr Wide flushed_product(Wide r, Wide scaled) {
  const Wide smallest = sizeof(Wide) == 4 ? static_cast<Wide>(kSmallestNormal)
                                          : static_cast<Wide>(kSmallestNormalF64);
  const Wide magnitude = scaled < 0 ? -scaled : scaled;
  const bool tiny = magnitude < smallest * static_cast<Wide>(0x1p64);
  const bool at_edge = r == smallest || r == -smallest;
  return at_edge && tiny ? static_cast<Wide>(r < 0 ? -0.0 : 0.0) : flushed(r);
}

template <class E>
ORRERY_HOST_DEVICE constexpr E add(E x, E y) {
  if constexpr (kIsComplex<E>)
    return {xla_cpu::add(x.re, y.re), xla_cpu::add(x.im, y.im)};
  else if constexpr (kIsFloat<E>)
    return round<E>(flushed(taken(x) + taken(y)));
  else
    return arith::add(x, y);
}

template <class E>
ORRERY_HOST_DEVICE constexpr E subtract(E x, E y) {
  if constexpr (kIsComplex<E>)
    return {xla_cpu::subtract(x.re, y.re), xla_cpu::subtract(x.im, y.im)};
  else if constexpr (kIsFloat<E>)
    return round<E>(flushed(taken(x) - taken(y)));
  else
    return arith::subtract(x, y);
}

template <class E>
ORRERY_HOST_DEVICE constexpr E multiply(E x, E y) {
  if constexpr (kIsComplex<E>) {
    return {xla_cpu::subtract(xla_cpu::multiply(x.re, y.re), xla_cpu::multiply(x.im, y.im)),
            xla_cpu::add(xla_cpu::multiply(x.re, y.im), xla_cpu::multiply(x.im, y.re))};
  } else if constexpr (kIsFloat<E>) {
    using Wide = decltype(taken(x));
    const Wide a = taken(x);
    const Wide b = taken(y);
    // If the product is that small, the smaller factor has room for the scale.
    const bool first = (a < 0 ? -a : a) < (b < 0 ? -b : b);
    const Wide small = first ? a : b;
    const Wide large = first ? b : a;
    return round<E>(flushed_product(a * b, small * static_cast<Wide>(0x1p64) * large));
  } else {
    return arith::multiply(x, y);
  }
}

template <class E>
ORRERY_HOST_DEVICE constexpr E divide(E x, E y) {
  static_assert(kIsInteger<E> || kIsFloat<E>);
  if constexpr (kIsFloat<E>) {
    using Wide = decltype(taken(x));
    const Wide a = taken(x);
    const Wide b = taken(y);
    return round<E>(flushed_product(a / b, a * static_cast<Wide>(0x1p64) / b));
  } else {
    return arith::divide(x, y);
  }
}

/// Does a step of pmax (acc < x ? x : acc) or of pmin. If acc and x are +0 and -0, acc stays. A NaN
/// in x is passed over. acc begins as an infinity, or as NaN if the dtype has no infinity: a NaN in
/// acc counts as less (in pmin: more) than all numbers.
template <class E>
ORRERY_HOST_DEVICE constexpr E later_if_larger(E acc, E x) {
  return is_nan(acc) || less(flushed(acc), flushed(x)) ? flushed(x) : flushed(acc);
}
template <class E>
ORRERY_HOST_DEVICE constexpr E later_if_smaller(E acc, E x) {
  return is_nan(acc) || less(flushed(x), flushed(acc)) ? flushed(x) : flushed(acc);
}

template <class To, class From>
ORRERY_HOST_DEVICE constexpr To convert(From x) {
  return flushed(arith::convert<To>(flushed(x)));
}

}  // namespace orrery::arith::xla_cpu
