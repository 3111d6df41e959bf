#pragma once

// This file has exp, log, sqrt, rsqrt, logistic, sin and cos in f64. It is freestanding, as is
// arith.h. The functions are made of +, -, *, / and sqrt of doubles, each rounded to nearest even,
// so that every compiler gives the same bits.
//
// functions.h applies them to elements of every float type, and rounds once. The largest errors
// are, in units in the last place of the result (subnormals have the unit of the smallest number):
//
//                  f64    f32               f16, bf16, f8e4m3fn, f8e5m2
//   sqrt           0.5    0.5               0.5: correctly rounded
//   exp, log       1      0.5 + 2^-27       0.5
//   sin, cos       1      0.5 + 2^-27       0.5
//   rsqrt          1.5    0.5 + 2^-27       0.5
//   logistic       3      0.5 + 2^-27       0.5
//
// A result that is not a number is the type's NaN. Infinities and zeros give exp(-inf) = +0,
// log(+-0) = -inf, sqrt(-0) = -0, rsqrt(+-0) = +-inf, logistic(-inf) = +0 and sin(-0) = -0. sin and
// cos of an infinity, and log, sqrt and rsqrt below zero, are NaN.

#include <stdint.h>

#include "models/array/arith.h"
#include "models/array/host_device.h"
#include "models/base/compiler.h"

namespace orrery::arith {

/// Returns c[0] + c[1] z + c[2] z^2 + ..., summed from the last coefficient on.
template <int kCount>
ORRERY_HOST_DEVICE constexpr double polynomial(double z, const double (&c)[kCount]) {
  double sum = c[kCount - 1];
  for (int i = kCount - 2; i >= 0; --i)
    sum = sum * z + c[i];
  return sum;
}

/// Returns 2^n. Requires n from -1022 to 1023.
ORRERY_HOST_DEVICE constexpr double power_of_two(int64_t n) {
  return double_of(static_cast<uint64_t>(n + 1023) << 52U);
}

// Two parts of ln 2. k * kLn2High is exact for whole |k| < 2^21.
inline constexpr double kLn2High = 0x1.62e42feep-1;
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

/// Returns exp(x). Let k be the whole number nearest to x / ln 2, and r = x - k ln 2, so |r| <= ln
/// 2 / 2. Then exp(x) = 2^k exp(r). exp(r) is Taylor's series up to r^13. The terms left out add
/// less than 2^-57.
ORRERY_HOST_DEVICE constexpr double exp64(double x) {
  constexpr double kSeries[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                                1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                                1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  constexpr double kShift = 0x1.8p52;  // adding it rounds to an integer, which is in the low bits
  const double limited = x > 710 ? 710 : (x < -746 ? -746 : x);
  const double shifted = limited * 0x1.71547652b82fep+0 + kShift;  // 1 / ln 2
  const double k = shifted - kShift;
  const double high = limited - k * kLn2High;
  const double low = k * kLn2Low;
  const double r = high - low;
  const double lost = (high - r) - low;
  const double y = 1 + (r + (lost + r * r * polynomial(r, kSeries)));
  // The scale is applied in two steps, since results may be subnormal and 2^1024 overflows. Only
  // the last step can round.
  const auto n = static_cast<int32_t>(static_cast<uint32_t>(bits_of(shifted)));
  const int32_t half = n / 2;
  return y * power_of_two(half) * power_of_two(n - half);
}

/// Returns log(x). Let x = 2^k m with sqrt(1/2) <= m < sqrt(2). Then log(x) = k ln 2 + log(m). With
/// f = m - 1 and s = f / (2 + f), log(m) = 2 (s + s^3/3 + s^5/5 + ...). The terms after s^21 add
/// less than 2^-60. The series is summed as f - (f^2/2 - s (f^2/2 + ...)), as in fdlibm's log: its
/// first and largest term, f, has no error.
ORRERY_HOST_DEVICE constexpr double log64(double x) {
  constexpr double kSeries[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                                2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  const bool is_subnormal = x < 0x1p-1022;
  const uint64_t bits = bits_of(is_subnormal ? x * 0x1p54 : x);
  const int64_t exponent = static_cast<int64_t>(bits - kSqrtHalf) >> 52;
  const auto k = static_cast<double>(exponent - (is_subnormal ? 54 : 0));
  const double f = double_of(bits - (static_cast<uint64_t>(exponent) << 52U)) - 1;
  const double s = f / (2 + f);
  const double z = s * s;
  const double half_square = 0.5 * f * f;
  const double series = z * polynomial(z, kSeries);
  const double number =
      k * kLn2High - ((half_square - (s * (half_square + series) + k * kLn2Low)) - f);
  const double infinite = double_of(0x7ff0000000000000U);
  const double positive = x == infinite ? x : number;
  const double result = x > 0 ? positive : (x == 0 ? -infinite : double_of(0x7ff8000000000000U));
  return x != x ? x : result;
}

/// A Turn has the n and r of |x| = n pi/2 + r with |r| <= pi/4: n modulo 4, and r as the sum high +
/// low.
struct Turn {
  uint32_t quadrant;
  double high;
  double low;
};

/// Reduces x as in Payne and Hanek, "Radian reduction for trigonometric functions" (SIGNUM
/// Newsletter, 1983). x is M 2^e with M of 53 bits. Its product with 2/pi is only needed modulo 4,
/// so the high bits of 2/pi do not matter: they make multiples of 4. The next 192 bits are enough.
/// No double is nearer than 2^-62 to a multiple of pi/2, so at least 64 good bits are left in r.
/// Requires a finite |x| >= pi/4.
ORRERY_HOST_DEVICE constexpr Turn reduced(double x) {
  // This is 2/pi, after a word of zeros.
  constexpr uint64_t kTwoOverPi[] = {
      0x0000000000000000U, 0xa2f9836e4e441529U, 0xfc2757d1f534ddc0U, 0xdb6295993c439041U,
      0xfe5163abdebbc561U, 0xb7246e3a424dd2e0U, 0x06492eea09d1921cU, 0xfe1deb1cb129a73eU,
      0xe88235f52ebb4484U, 0xe99c7026b45f7e41U, 0x3991d639835339f4U, 0x9c845f8bbdf9283bU,
      0x1ff897ffde05980fU, 0xef2f118b5a0a6d1fU, 0x6d367ecf27cb09b7U, 0x4f463f669e5fea2dU,
      0x7527bac7ebe5f17bU, 0x3d0739f78a5292eaU, 0x6bfb5fb11f8d5d08U, 0x56033046fc7b6babU};
  const uint64_t bits = bits_of(x) & 0x7fffffffffffffffU;
  const uint64_t m = (bits & 0xfffffffffffffU) | (uint64_t{1} << 52U);
  // The first of the needed bits has weight 2 in 2^e * 2/pi, where e = exponent - 1075; bit 64 of
  // the table has weight 1/2 in 2/pi.
  const uint64_t first = (bits >> 52U) - 1075 + 62;
  const uint64_t* const word = kTwoOverPi + (first >> 6U);
  const unsigned shift = first & 63U;
  uint64_t needed[3] = {};
  for (int i = 0; i < 3; ++i)
    needed[i] = shift == 0 ? word[i] : (word[i] << shift) | (word[i + 1] >> (64 - shift));

  // This is the product modulo 4, of which the 128 upper bits are kept.
  const UInt128 middle = UInt128{m} * needed[1] + ((UInt128{m} * needed[2]) >> 64U);
  const UInt128 product = (static_cast<UInt128>(m * needed[0]) << 64U) + middle;
  const UInt128 fraction = product << 2U;
  const bool is_upper = (fraction >> 127U) != 0;
  const auto quadrant = static_cast<uint32_t>(product >> 126U) + (is_upper ? 1U : 0U);
  UInt128 distance = is_upper ? UInt128{0} - fraction : fraction;  // from the nearest quarter turn

  int zeros = 0;
  while ((distance >> 127U) == 0 && zeros < 127) {
    distance <<= 1U;
    ++zeros;
  }
  // This multiplies by pi/2 (the constant is 2^63 pi/2), and splits the upper 64 bits into 53 and
  // 11.
  const auto r = static_cast<uint64_t>(
      (UInt128{static_cast<uint64_t>(distance >> 64U)} * 0xc90fdaa22168c235U) >> 64U);
  const double scale = power_of_two(-63 - zeros);
  const auto high = static_cast<double>(r & ~uint64_t{0x7ff}) * scale;
  const auto low = static_cast<double>(r & 0x7ffU) * scale;
  return {quadrant & 3U, is_upper ? -high : high, is_upper ? -low : low};
}

/// Returns sin(turn.high + turn.low), by Taylor's series to the 17th power (the rest is below
/// 2^-62).
ORRERY_HOST_DEVICE constexpr double sine_near_zero(const Turn& turn) {
  constexpr double kSeries[] = {
      1.0 / 120,        -1.0 / 5040,          1.0 / 362880,         -1.0 / 39916800,
      1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
  const double x = turn.high;
  const double z = x * x;
  const double cube = z * x;
  const double rest = z * (0.5 * turn.low - cube * polynomial(z, kSeries)) - turn.low;
  return x - (rest + cube * (1.0 / 6));
}

/// Returns cos(turn.high + turn.low), by Taylor's series to the 16th power (the rest is below
/// 2^-58).
ORRERY_HOST_DEVICE constexpr double cosine_near_zero(const Turn& turn) {
  constexpr double kSeries[] = {
      1.0 / 24,        -1.0 / 720,         1.0 / 40320,         -1.0 / 3628800,
      1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};
  const double z = turn.high * turn.high;
  const double half = 0.5 * z;
  const double first = 1 - half;
  const double rest = z * (z * polynomial(z, kSeries)) - turn.high * turn.low;
  return first + (((1 - first) - half) + rest);
}

/// Returns sin(|x| + quarters pi/2), or NaN if x is not finite.
ORRERY_HOST_DEVICE constexpr double turned_sine(double x, uint32_t quarters) {
  const double size = double_of(bits_of(x) & 0x7fffffffffffffffU);
  if (!(size < double_of(0x7ff0000000000000U)))
    return double_of(0x7ff8000000000000U);
  const Turn turn = size < 0x1.921fb54442d18p-1 ? Turn{0, size, 0} : reduced(size);
  const uint32_t quadrant = turn.quadrant + quarters;
  const double value = (quadrant & 1U) != 0 ? cosine_near_zero(turn) : sine_near_zero(turn);
  return (quadrant & 2U) != 0 ? -value : value;
}

ORRERY_HOST_DEVICE constexpr double sin64(double x) {
  const double value = turned_sine(x, 0);
  return (bits_of(x) >> 63U) != 0 ? -value : value;
}

ORRERY_HOST_DEVICE constexpr double cos64(double x) {
  return turned_sine(x, 1);
}

/// Returns 1 / (1 + exp(-x)). Below zero that is exp(x) / (1 + exp(x)), which does not overflow.
ORRERY_HOST_DEVICE constexpr double logistic64(double x) {
  const double e = exp64(x < 0 ? x : -x);
  return (x < 0 ? e : 1.0) / (1 + e);
}

/// Returns IEEE 754's squareRoot, which is correctly rounded.
ORRERY_HOST_DEVICE inline double sqrt64(double x) {
  return __builtin_sqrt(x);
}

ORRERY_HOST_DEVICE inline double rsqrt64(double x) {
  return 1 / sqrt64(x);
}

}  // namespace orrery::arith
