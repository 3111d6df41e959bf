#pragma once

// This file has the element functions of reductions, in both numerics: the start of a fold, a step
// of it, and the mean of its sum. work.h says which collective uses which. This header is
// freestanding.

#include <stdint.h>

#include "models/array/arith.h"
#include "models/array/combine.h"
#include "models/array/host_device.h"
#include "models/array/xla_cpu.h"

namespace orrery::arith {

/// Returns the identity of a reduction. It is +0 for Add. For Max it is the least value of the
/// dtype, -infinity if there is one; for Min it is the largest. Complex dtypes have an identity for
/// Add only.
template <class E>
ORRERY_HOST_DEVICE constexpr E identity(Combine combine) {
  if (combine == Combine::Add)
    return convert<E>(S64{0});
  const bool low = combine == Combine::Max;
  if constexpr (kIsComplex<E>) {
    return {};                                // complex numbers have no order
  } else if constexpr (kSame<E, F8E4M3FN>) {  // nothing is infinite
    return convert<E>(F64{low ? -448.0 : 448.0});
  } else if constexpr (kIsFloat<E>) {
    const double infinity = __builtin_inf();
    return convert<E>(F64{low ? -infinity : infinity});
  } else if constexpr (kIsInteger<E>) {
    using Int = decltype(E::value);
    return {low ? kSmallest<Int> : kLargest<Int>};
  } else {
    return {static_cast<uint8_t>(low ? 0 : 1)};
  }
}

/// Calls `use` with a function of two elements that does a step of the fold: acc = step(acc, x).
/// Returns false if there is none: pred has no Add, complex dtypes have no Max and Min, and None
/// does not fold. The numerics matter only for inexact dtypes.
template <class E, class Use>
ORRERY_HOST_DEVICE constexpr bool with_step(Combine combine, Numerics numerics, Use&& use) {
  constexpr bool kDiffers = kIsFloat<E> || kIsComplex<E>;
  const bool xla = kDiffers && numerics == Numerics::XlaCpu;
  if constexpr (kIsNumber<E>) {
    if (combine == Combine::Add && !xla)
      return use([](E acc, E x) { return add(acc, x); }), true;
    if constexpr (kDiffers) {
      if (combine == Combine::Add)
        return use([](E acc, E x) { return xla_cpu::add(acc, x); }), true;
    }
  }
  if constexpr (kIsOrdered<E>) {
    if (combine == Combine::Max && !xla)
      return use([](E acc, E x) { return maximum(acc, x); }), true;
    if (combine == Combine::Min && !xla)
      return use([](E acc, E x) { return minimum(acc, x); }), true;
    if constexpr (kDiffers) {
      if (combine == Combine::Max)
        return use([](E acc, E x) { return xla_cpu::later_if_larger(acc, x); }), true;
      if (combine == Combine::Min)
        return use([](E acc, E x) { return xla_cpu::later_if_smaller(acc, x); }), true;
    }
  }
  return false;
}

/// Returns the element folded with the value from which XLA on the CPU starts a sum or an extremum.
/// An extremum starts from an infinity if the dtype has one, else from NaN.
template <class E>
ORRERY_HOST_DEVICE constexpr E started(Combine combine, E x) {
  if constexpr (kIsComplex<E>) {
    return {started(combine, x.re), started(combine, x.im)};
  } else if constexpr (kIsFloat<E>) {
    if (combine == Combine::Add)
      return xla_cpu::add(convert<E>(S64{0}), x);
    const double infinity = __builtin_inf();
    const E start = convert<E>(F64{combine == Combine::Max ? -infinity : infinity});
    return combine == Combine::Max ? xla_cpu::later_if_larger(start, x)
                                   : xla_cpu::later_if_smaller(start, x);
  } else {
    return x;
  }
}

/// A Ranked is an element and the rank that it came from.
template <class E>
struct Ranked {
  E value;
  int32_t rank;
};

/// This rank is reported with a NaN. It is JAX's answer if no operand equals the extremum.
inline constexpr int32_t kNoRank = 2147483647;

/// Returns an operand's element as it enters an extremum with ranks. A NaN belongs to no rank. With
/// XlaCpu, whose folds pass over NaN, it becomes the value from which the fold starts.
template <class E>
ORRERY_HOST_DEVICE constexpr Ranked<E> ranked(Combine combine, Numerics numerics, E operand,
                                              int32_t rank) {
  return {numerics == Numerics::XlaCpu ? started(combine, operand) : operand,
          is_nan(operand) ? kNoRank : rank};
}

/// Returns whether `a` precedes `b` in a total order (NaN first; with XlaCpu last), so that a
/// reduction gives the same result in any order. Requires Max or Min.
template <class E>
ORRERY_HOST_DEVICE constexpr bool comes_first(Combine combine, Numerics numerics,
                                              const Ranked<E>& a, const Ranked<E>& b) {
  static_assert(kIsOrdered<E>);
  if (is_nan(a.value) || is_nan(b.value))
    return is_nan(numerics == Numerics::XlaCpu ? b.value : a.value);
  const E& x = combine == Combine::Max ? b.value : a.value;
  const E& y = combine == Combine::Max ? a.value : b.value;
  return less(x, y) || (!less(y, x) && a.rank < b.rank);
}

/// Returns the sum divided by the number of ranks, in doubles, since the dtype may lack that
/// number. The double, rounded to the dtype, is the exact quotient rounded once. Each part of a
/// complex number is divided. A sum over one rank keeps the bits of its NaNs.
template <class E>
ORRERY_HOST_DEVICE constexpr E divided(E sum, int64_t ranks) {
  if constexpr (kIsComplex<E>)
    return {divided(sum.re, ranks), divided(sum.im, ranks)};
  else
    return ranks == 1 ? sum
                      : round<E>(static_cast<double>(widen(sum)) / static_cast<double>(ranks));
}

/// Multiplies by 1 / ranks, or divides, as XLA on the CPU does. XLA divides complex numbers by
/// Smith's formula (Communications of the ACM 5, 1962), even if the divisor's imaginary part is 0.
template <class E>
ORRERY_HOST_DEVICE constexpr E xla_mean(E sum, int64_t ranks) {
  if constexpr (kIsComplex<E>) {
    if (ranks == 1)
      return sum;
    constexpr typename E::Component kZero = {0};
    return {xla_mean(xla_cpu::add(sum.re, xla_cpu::multiply(sum.im, kZero)), ranks),
            xla_mean(xla_cpu::subtract(sum.im, xla_cpu::multiply(sum.re, kZero)), ranks)};
  } else {
    const E count = convert<E>(S64{ranks});
    if constexpr (kSame<E, F16> || kSame<E, F32> || kSame<E, F64>)
      return xla_cpu::multiply(sum, divide(convert<E>(S64{1}), count));
    else
      return xla_cpu::divide(sum, count);
  }
}

/// Returns the mean of a sum over `ranks` ranks. Requires a float or a complex number.
template <class E>
ORRERY_HOST_DEVICE constexpr E mean(E sum, int64_t ranks, Numerics numerics) {
  return numerics == Numerics::XlaCpu ? xla_mean(sum, ranks) : divided(sum, ranks);
}

}  // namespace orrery::arith
