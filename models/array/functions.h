#pragma once

// This file has exp, log and similar functions of float and complex elements, and the quotient of
// complex ones. Each is computed in f64 and each part is rounded once: floats by transcendental.h,
// complex numbers by the functions of Wide here. This header is freestanding, and made as
// transcendental.h is, so that every compiler gives the same bits. (How std::complex computes is
// left to the compiler.)
//
// Complex functions in f64 have this accuracy. Let r be the exact result and u = 2^-53. The
// computed number is at most this far from r in the plane:
//   sqrt                     4 u |r|
//   quotient                 6 u |r|
//   exp, rsqrt, sin, cos     8 u |r|
//   log                     24 u |r|
//   logistic                16 u |r| (1 + |r|)     (more near its poles, where |r| is large)
// If a part is subnormal, add 4 times the smallest positive number. For sqrt, exp, rsqrt, sin and
// cos the bound holds for each part too: the real part is off by at most k u |re r|, and the
// imaginary part by k u |im r|. An element of c64 is the result with both parts rounded to f32,
// which adds 2^-24 |r|.
//
// If a part of an operand is NaN, both parts of the result are NaN. A quotient follows C's Annex G
// (of 2011, G.5.1) instead: a number with an infinite part is infinite, even if its other part is
// NaN. A number divided by zero is infinite; a finite one divided by an infinite one is zero.
//
// Zero times infinity is zero where the zero is exact, as in exp(-inf + 1i) = 0 and in
// sin(inf i) = inf i.
//
// The branch cuts of log, sqrt and rsqrt are the negative real axis. On it, the sign of the zero
// imaginary part says from which side the cut is reached, as in C and NumPy. (sqrt of JAX 0.10.2 on
// the CPU ignores that sign.)

#include <stdint.h>

#include "models/array/arith.h"
#include "models/array/host_device.h"
#include "models/array/transcendental.h"

namespace orrery::arith {

/// A Wide is a complex number in f64.
struct Wide {
  double re;
  double im;
};

inline constexpr double kInfinite = __builtin_inf();
inline constexpr Wide kNotComplex = {__builtin_nan(""), __builtin_nan("")};

ORRERY_HOST_DEVICE constexpr double size_of(double x) {
  return double_of(bits_of(x) & 0x7fffffffffffffffU);
}
/// Returns `size` with the sign of `of`. Requires a `size` that is not negative.
ORRERY_HOST_DEVICE constexpr double with_sign(double size, double of) {
  return double_of(bits_of(size) | (bits_of(of) & 0x8000000000000000U));
}
ORRERY_HOST_DEVICE constexpr bool is_finite(double x) {
  return size_of(x) < kInfinite;
}
ORRERY_HOST_DEVICE constexpr bool is_finite(Wide x) {
  return is_finite(x.re) && is_finite(x.im);
}
ORRERY_HOST_DEVICE constexpr bool is_infinite(Wide x) {
  return size_of(x.re) == kInfinite || size_of(x.im) == kInfinite;
}
ORRERY_HOST_DEVICE constexpr bool is_nan(Wide x) {
  return x.re != x.re || x.im != x.im;
}
ORRERY_HOST_DEVICE constexpr double larger_part(Wide x) {
  return size_of(x.re) > size_of(x.im) ? size_of(x.re) : size_of(x.im);
}
ORRERY_HOST_DEVICE constexpr double smaller_part(Wide x) {
  return size_of(x.re) > size_of(x.im) ? size_of(x.im) : size_of(x.re);
}

/// Returns x 2^n, for any n.
ORRERY_HOST_DEVICE constexpr double scaled(double x, int64_t n) {
  for (; n > 1000; n -= 1000)
    x *= power_of_two(1000);
  for (; n < -1000; n += 1000)
    x *= power_of_two(-1000);
  return x * power_of_two(n);
}
ORRERY_HOST_DEVICE constexpr Wide scaled(Wide x, int64_t n) {
  return {scaled(x.re, n), scaled(x.im, n)};
}
/// Returns the e with 2^e <= x < 2^(e+1) for a normal x > 0, or -1023 for a subnormal one.
ORRERY_HOST_DEVICE constexpr int64_t exponent_of(double x) {
  return static_cast<int64_t>(bits_of(x) >> 52U) - 1023;
}

/// Returns exact * other, but zero if `exact` is zero, even times an infinity.
ORRERY_HOST_DEVICE constexpr double times(double exact, double other) {
  return exact == 0 ? exact : exact * other;
}

/// Returns x / y, as x times the conjugate of y, divided by |y|^2. Both operands are scaled first
/// by powers of two, so that nothing overflows, and any underflow is negligible. Infinities and
/// zeros are those of C's Annex G (example 2 of G.5.1).
///
/// Each part of the numerator is off by 2 u |x y| at most, the denominator by 2 u |y|^2.
ORRERY_HOST_DEVICE constexpr Wide divided(Wide x, Wide y) {
  if (y.re == 0 && y.im == 0) {
    const double infinite = with_sign(kInfinite, y.re);
    return {infinite * x.re, infinite * x.im};
  }
  const bool diverges = is_infinite(x) && is_finite(y);
  const bool vanishes = is_finite(x) && is_infinite(y);
  // Only the directions of the infinite parts of an infinite operand count.
  const auto unit = [](double part) {
    return with_sign(size_of(part) == kInfinite ? 1.0 : 0.0, part);
  };
  const Wide a = diverges ? Wide{unit(x.re), unit(x.im)} : x;
  const Wide b = vanishes ? Wide{unit(y.re), unit(y.im)} : y;
  if (diverges || vanishes) {
    const double factor = diverges ? kInfinite : 0;
    return {factor * (a.re * b.re + a.im * b.im), factor * (a.im * b.re - a.re * b.im)};
  }
  const int64_t of_x = exponent_of(larger_part(x));
  const int64_t of_y = exponent_of(larger_part(y));
  const Wide p = scaled(x, -of_x);
  const Wide q = scaled(y, -of_y);
  const double square = q.re * q.re + q.im * q.im;
  const Wide quotient = {(p.re * q.re + p.im * q.im) / square,
                         (p.im * q.re - p.re * q.im) / square};
  return scaled(quotient, of_x - of_y);
}

/// Returns |x|, which overflows only if it is too large itself. It is infinite if a part is
/// infinite, else NaN if a part is NaN.
ORRERY_HOST_DEVICE inline double magnitude(Wide x) {
  if (is_infinite(x))
    return kInfinite;
  if (is_nan(x) || larger_part(x) == 0)
    return larger_part(x) + smaller_part(x);
  const int64_t n = exponent_of(larger_part(x));
  const Wide s = scaled(x, -n);
  return scaled(sqrt64(s.re * s.re + s.im * s.im), n);
}

/// Returns e^x times each of two factors. If e^x alone would overflow, the factors are multiplied
/// twice by its square root, since a product with a small factor may still be finite.
ORRERY_HOST_DEVICE constexpr Wide exp_times(double x, Wide factors) {
  if (!(x > 709))
    return {times(factors.re, exp64(x)), times(factors.im, exp64(x))};
  const double root = exp64(x / 2);
  return {times(times(factors.re, root), root), times(times(factors.im, root), root)};
}

/// Returns e^a (cos b + i sin b) for x = a + bi.
ORRERY_HOST_DEVICE constexpr Wide exp64(Wide x) {
  if (is_nan(x))
    return kNotComplex;
  return exp_times(x.re, {cos64(x.im), x.im == 0 ? x.im : sin64(x.im)});
}

/// Returns log(1 + f) for -1/2 <= f <= 1, off by at most 6 u |log(1 + f)|.
///
/// 1 + f is rounded, to `sum`. If f is small, that loses most of f. But log(1 + f) / f changes
/// slowly with f. So its value nearby, log(sum) / (sum - 1), which has no error from that rounding,
/// is multiplied by the true f. (Goldberg, "What every computer scientist should know about
/// floating-point arithmetic", ACM Computing Surveys 23, 1991, theorem 4.)
ORRERY_HOST_DEVICE constexpr double log_of_one_plus(double f) {
  const double sum = 1 + f;
  return sum == 1 ? f : log64(sum) * f / (sum - 1);
}

/// Returns log |x|. Let a be the larger part's size and b the smaller one's.
///
/// If |x| is near 1, its logarithm is near 0, and would lose its digits if |x| were rounded first.
/// So it is computed as log(1 + (|x|^2 - 1)) / 2, with |x|^2 - 1 = (a - 1)(a + 1) + b^2. Here a - 1
/// is exact.
///
/// Otherwise |x| = a sqrt(1 + (b/a)^2), so its logarithm is log a + log(1 + (b/a)^2) / 2. The ratio
/// is at most 1, so nothing overflows.
ORRERY_HOST_DEVICE constexpr double log_magnitude(Wide x) {
  const double a = larger_part(x);
  const double b = smaller_part(x);
  if (is_infinite(x))
    return kInfinite;
  if (a == 0)
    return -kInfinite;
  const double square = a * a + b * b;
  if (square >= 0.5 && square <= 2)
    return log_of_one_plus((a - 1) * (a + 1) + b * b) / 2;
  const double ratio = b / a;
  return log64(a) + log_of_one_plus(ratio * ratio) / 2;
}

/// Returns atan(b / a) for 0 <= b <= a and a > 0.
///
/// Let c be the multiple of 1/8 nearest to b / a. Then
///   atan(b / a) = atan(c) + atan(r)   with r = (b - c a) / (a + c b), |r| <= 1/16.
/// atan(c) is in a table. atan(r) is Taylor's series up to r^13; the terms left out add less than
/// 2^-60.
ORRERY_HOST_DEVICE constexpr double atan_of_ratio(double b, double a) {
  constexpr double kAtan[][2] = {// atan(0/8) to atan(8/8), each as a sum of two doubles
                                 {0, 0},
                                 {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
                                 {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
                                 {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
                                 {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
                                 {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
                                 {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
                                 {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
                                 {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};
  constexpr double kSeries[] = {-1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11, 1.0 / 13};
  // Very large and very small numbers are scaled, so that products neither overflow nor lose bits.
  const int64_t n = exponent_of(a) > 1000 ? -200 : (exponent_of(a) < -800 ? 200 : 0);
  const double x = scaled(a, n);
  const double y = scaled(b, n);
  const auto eighths = static_cast<int32_t>(8 * (y / x) + 0.5);
  const double c = eighths / 8.0;
  const double r = (y - c * x) / (x + c * y);
  const double z = r * r;
  return kAtan[eighths][0] + (kAtan[eighths][1] + (r + r * z * polynomial(z, kSeries)));
}

/// Returns the angle of x, from -pi to pi, off by at most 6 u times itself. Requires no NaN.
ORRERY_HOST_DEVICE constexpr double angle(Wide x) {
  constexpr double kPi[] = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
  // A number with two infinite parts lies on a diagonal.
  const bool diagonal = size_of(x.re) == kInfinite && size_of(x.im) == kInfinite;
  const double a = larger_part(x);
  const double ratio = a == 0 || (a == kInfinite && !diagonal) ? 0
                       : diagonal                              ? atan_of_ratio(1, 1)
                                                               : atan_of_ratio(smaller_part(x), a);
  const bool is_steep = size_of(x.im) > size_of(x.re);
  const double first = is_steep ? kPi[0] / 2 - (ratio - kPi[1] / 2) : ratio;
  const bool is_left = (bits_of(x.re) >> 63U) != 0;
  return with_sign(is_left ? kPi[0] - (first - kPi[1]) : first, x.im);
}

ORRERY_HOST_DEVICE constexpr Wide log64(Wide x) {
  if (is_nan(x))
    return kNotComplex;
  return {log_magnitude(x), angle(x)};
}

/// A ScaledRoot is the square root of s = x / 4^half. `half` makes the larger part of s at least 1
/// and less than 4.
struct ScaledRoot {
  Wide root;
  double square;  // |s|, the square of the root's magnitude
  int64_t half;
};

/// Returns the scaled root. For s = a + bi with a >= 0 it is w + (b / 2w) i, with w = sqrt((a +
/// |s|) / 2). For a < 0 it is (|b| / 2w) +- w i, with |a| in place of a and the sign of b. So no
/// difference of nearly equal numbers is taken. Requires a finite x other than 0.
ORRERY_HOST_DEVICE inline ScaledRoot scaled_root(Wide x) {
  const int64_t n = exponent_of(larger_part(x));
  const int64_t half = (n - (n & 1)) / 2;
  const Wide s = scaled(x, -2 * half);
  const double square = sqrt64(s.re * s.re + s.im * s.im);
  const double w = sqrt64((size_of(s.re) + square) / 2);
  const double other = size_of(s.im) / (2 * w);
  const bool is_left = s.re < 0;
  return {{is_left ? other : w, with_sign(is_left ? w : other, x.im)}, square, half};
}

ORRERY_HOST_DEVICE inline Wide sqrt64(Wide x) {
  if (is_nan(x))
    return kNotComplex;
  if (size_of(x.im) == kInfinite)
    return {kInfinite, x.im};
  if (size_of(x.re) == kInfinite)
    return x.re > 0 ? Wide{kInfinite, with_sign(0, x.im)} : Wide{0, with_sign(kInfinite, x.im)};
  if (larger_part(x) == 0)
    return {0, x.im};
  const ScaledRoot found = scaled_root(x);
  return scaled(found.root, found.half);
}

/// Returns 1 / sqrt(x), which is the root's conjugate divided by the square of the root's
/// magnitude. For zero it gives the quotient 1 / 0.
ORRERY_HOST_DEVICE inline Wide rsqrt64(Wide x) {
  if (is_nan(x))
    return kNotComplex;
  if (is_infinite(x))
    return {0, -with_sign(0, x.im)};
  if (larger_part(x) == 0)
    return {kInfinite, kNotComplex.im};
  const ScaledRoot found = scaled_root(x);
  return scaled(Wide{found.root.re / found.square, -found.root.im / found.square}, -found.half);
}

/// Returns sinh y for |y| < 1, by Taylor's series up to y^19. The terms left out add less than
/// 2^-65. The difference e^y - e^-y would lose digits there.
ORRERY_HOST_DEVICE constexpr double sinh_near_zero(double y) {
  constexpr double kSeries[] = {1.0 / 6,
                                1.0 / 120,
                                1.0 / 5040,
                                1.0 / 362880,
                                1.0 / 39916800,
                                1.0 / 6227020800,
                                1.0 / 1307674368000,
                                1.0 / 355687428096000,
                                1.0 / 121645100408832000};
  const double z = y * y;
  return y + y * z * polynomial(z, kSeries);
}

/// Returns (a cosh y, b sinh y). Beyond |y| = 40 the size of cosh y and of sinh y is e^|y| / 2,
/// since e^-|y| is lost in rounding.
ORRERY_HOST_DEVICE constexpr Wide hyperbolic(double y, double a, double b) {
  const double size = size_of(y);
  const double sign = with_sign(1, y);
  if (size > 40)
    return exp_times(size, {a / 2, b * sign / 2});
  const double e = exp64(size);
  const double sinh = size < 1 ? sinh_near_zero(size) : (e - 1 / e) / 2;
  return {a * ((e + 1 / e) / 2), b * sign * sinh};
}

/// Returns sin(a + bi) = sin a cosh b + i cos a sinh b.
ORRERY_HOST_DEVICE constexpr Wide sin64(Wide x) {
  if (is_nan(x))
    return kNotComplex;
  return hyperbolic(x.im, sin64(x.re), cos64(x.re));
}

/// Returns cos(a + bi) = cos a cosh b - i sin a sinh b.
ORRERY_HOST_DEVICE constexpr Wide cos64(Wide x) {
  if (is_nan(x))
    return kNotComplex;
  return hyperbolic(x.im, cos64(x.re), -sin64(x.re));
}

/// Returns 1 / (1 + exp(-x)). If the real part is negative, exp(-x) may overflow, so the same is
/// computed as exp(x) / (1 + exp(x)).
ORRERY_HOST_DEVICE constexpr Wide logistic64(Wide x) {
  const bool is_left = x.re < 0;
  const Wide e = exp64(is_left ? x : Wide{-x.re, -x.im});
  return divided(is_left ? e : Wide{1, 0}, {1 + e.re, e.im});
}

// The functions below are of elements.

/// Returns an element in the type that functions compute in.
template <class E>
ORRERY_HOST_DEVICE constexpr auto wide(E x) {
  if constexpr (kIsComplex<E>) {
    return Wide{wide(x.re), wide(x.im)};
  } else {
    static_assert(kIsFloat<E>);
    return static_cast<double>(widen(x));
  }
}

template <class E>
ORRERY_HOST_DEVICE constexpr E rounded(double x) {
  return round<E>(x);
}
template <class E>
ORRERY_HOST_DEVICE constexpr E rounded(Wide x) {
  return {round<typename E::Component>(x.re), round<typename E::Component>(x.im)};
}

template <class E>
ORRERY_HOST_DEVICE constexpr E exp(E x) {
  return rounded<E>(exp64(wide(x)));
}
template <class E>
ORRERY_HOST_DEVICE constexpr E log(E x) {
  return rounded<E>(log64(wide(x)));
}
/// The root of a float is correctly rounded, even of a narrow one: 53 bits are at least 2 * 24 + 2.
template <class E>
ORRERY_HOST_DEVICE inline E sqrt(E x) {
  return rounded<E>(sqrt64(wide(x)));
}
template <class E>
ORRERY_HOST_DEVICE inline E rsqrt(E x) {
  return rounded<E>(rsqrt64(wide(x)));
}
template <class E>
ORRERY_HOST_DEVICE constexpr E logistic(E x) {
  return rounded<E>(logistic64(wide(x)));
}
template <class E>
ORRERY_HOST_DEVICE constexpr E sin(E x) {
  return rounded<E>(sin64(wide(x)));
}
template <class E>
ORRERY_HOST_DEVICE constexpr E cos(E x) {
  return rounded<E>(cos64(wide(x)));
}

/// Returns the quotient of complex numbers. arith.h divides floats and integers.
template <class Component>
ORRERY_HOST_DEVICE constexpr Complex<Component> divide(Complex<Component> x, Complex<Component> y) {
  return rounded<Complex<Component>>(divided(wide(x), wide(y)));
}

template <class Component>
ORRERY_HOST_DEVICE constexpr Complex<Component> conjugate(Complex<Component> x) {
  return {x.re, negate(x.im)};
}

/// Returns |x|, which is not finite if a part of x is not.
template <class E>
ORRERY_HOST_DEVICE inline double magnitude(E x) {
  if constexpr (kIsComplex<E>)
    return magnitude(wide(x));
  else
    return size_of(wide(x));
}

}  // namespace orrery::arith
