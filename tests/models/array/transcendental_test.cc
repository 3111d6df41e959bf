// Compares the ops of transcendental.h with the long doubles of the C library. These have 11 bits
// more than f64, so errors are right to 2^-10 of a unit in the last place of f64.

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/array/functions.h"
#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/base/hash.h"
#include "models/base/random.h"
#include "tests/models/array/tensors.h"

namespace orrery {

namespace {

using test::set_element_from_double;

using test::kInf;
using test::kNan;
using test::of;

long double exact(Unary op, long double x) {
  switch (op) {
    case Unary::Neg:
      return -x;
    case Unary::Exp:
      return expl(x);
    case Unary::Log:
      return logl(x);
    case Unary::Sqrt:
      return sqrtl(x);
    case Unary::Rsqrt:
      return 1 / sqrtl(x);
    case Unary::Logistic:
      return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x));
    case Unary::Sin:
      return sinl(x);
    case Unary::Cos:
      return cosl(x);
  }
  return 0;
}

/// A `Precision` is a float's fraction bits, smallest normal exponent, and largest number.
struct Precision {
  int fraction;
  int least_exponent;
  double largest;

  long double unit(long double x) const {
    const int exponent = x == 0 ? least_exponent : std::max(ilogbl(x), least_exponent);
    return ldexpl(1, exponent - fraction);
  }
};

Precision precision(Dtype dtype) {
  switch (dtype) {
    case Dtype::F8E4M3FN:
      return {3, -6, 448};
    case Dtype::F8E5M2:
      return {2, -14, 57344};
    case Dtype::F16:
      return {10, -14, 65504};
    case Dtype::BF16:
      return {7, -126, 0x1.fep127};
    case Dtype::F32:
      return {23, -126, 0x1.fffffep127};
    default:
      return {52, -1022, std::numeric_limits<double>::max()};
  }
}

/// Returns the error in units in the last place. It is infinite if one of the two is NaN or
/// infinite and the other is different.
double error(double got, long double want, const Precision& in) {
  const bool is_beyond = std::abs(want) > in.largest + in.unit(in.largest) / 2;
  if (std::isnan(want) || (is_beyond && in.fraction == 3))
    return std::isnan(got) ? 0 : kInf;
  if (is_beyond)
    return got == (want > 0 ? kInf : -kInf) ? 0 : kInf;
  if (!std::isfinite(got))  // exactly half a unit beyond the largest would be a tie
    return kInf;
  return static_cast<double>(std::abs(static_cast<long double>(got) - want) / in.unit(want));
}

struct Worst {
  double error = 0;
  double at = 0;
};

Worst worst(Unary op, const Tensor& operand) {
  const Tensor result = elementwise(op, operand);
  const Precision in = precision(operand.dtype());
  Worst found;
  for (int64_t i = 0; i < operand.elements(); ++i) {
    const double x = element_as_double(operand, i);
    const double e = error(element_as_double(result, i), exact(op, x), in);
    if (e > found.error)
      found = {e, x};
  }
  return found;
}

constexpr Unary kAll[] = {Unary::Neg,   Unary::Exp,      Unary::Log, Unary::Sqrt,
                          Unary::Rsqrt, Unary::Logistic, Unary::Sin, Unary::Cos};

/// Returns the bound that transcendental.h states, in units in the last place.
double bound(Unary op, Dtype dtype) {
  if (op == Unary::Neg || op == Unary::Sqrt || itemsize(dtype) < Bytes(4))
    return 0.5;
  if (dtype == Dtype::F32)
    return 0.5 + 0x1p-27;
  return op == Unary::Logistic ? 3 : op == Unary::Rsqrt ? 1.5 : 1;
}

void check_within_bound(const Tensor& operand) {
  for (const Unary op : kAll) {
    CAPTURE(static_cast<int>(op));
    const Worst found = worst(op, operand);
    CAPTURE(found.at);
    CHECK(found.error <= bound(op, operand.dtype()));
  }
}

template <class Next>
Tensor sampled(Dtype dtype, int64_t count, Next next) {
  Tensor tensor(dtype, {count});
  for (int64_t i = 0; i < count; ++i)
    next(tensor, i);
  return tensor;
}

/// Returns numbers of random bits: all magnitudes, subnormals, infinities and NaNs.
Tensor any_bits(Dtype dtype, int64_t count) {
  Random random(1);
  const auto width = static_cast<unsigned>(8 * itemsize(dtype).count());
  return sampled(dtype, count, [&](Tensor& tensor, int64_t i) {
    set_element_bits(tensor, i, random.next() >> (64 - width));
  });
}

Tensor uniform(Dtype dtype, int64_t count, double low, double high) {
  Random random(2);
  return sampled(dtype, count, [&](Tensor& tensor, int64_t i) {
    const double part = static_cast<double>(random.next() >> 11U) * 0x1p-53;
    set_element_from_double(tensor, i, low + (high - low) * part);
  });
}

/// Returns the floats next to multiples of pi/2, where sin or cos is smallest.
Tensor near_quarter_turns(Dtype dtype, int64_t count) {
  return sampled(dtype, count, [&](Tensor& tensor, int64_t i) {
    set_element_from_double(tensor, i, static_cast<double>(i * 977 + 1) * 1.5707963267948966);
  });
}

double of(Unary op, double x) {
  return element_as_double(elementwise(op, full(Dtype::F64, {}, x)), 0);
}

}  // namespace

TEST_CASE("transcendental: every element of the narrow floats is the correctly rounded one") {
  for (const Dtype dtype : {Dtype::F16, Dtype::BF16, Dtype::F8E4M3FN, Dtype::F8E5M2}) {
    CAPTURE(name(dtype));
    const int64_t patterns = int64_t{1} << (8 * itemsize(dtype).count());
    check_within_bound(sampled(dtype, patterns, [](Tensor& tensor, int64_t i) {
      set_element_bits(tensor, i, static_cast<uint64_t>(i));
    }));
  }
}

TEST_CASE("transcendental: f32 and f64 are within their bounds, wherever it is looked") {
  for (const Dtype dtype : {Dtype::F32, Dtype::F64}) {
    CAPTURE(name(dtype));
    check_within_bound(any_bits(dtype, 200'000));
    check_within_bound(uniform(dtype, 100'000, -1, 1));
    check_within_bound(uniform(dtype, 100'000, -20, 20));
    check_within_bound(uniform(dtype, 100'000, 0.5, 2));
    check_within_bound(uniform(dtype, 100'000, -750, 750));  // exp under- and overflows
    check_within_bound(uniform(dtype, 100'000, -1e6, 1e6));
    check_within_bound(near_quarter_turns(dtype, 20'000));
  }
}

TEST_CASE("transcendental: the double that is nearest to a multiple of pi/2") {
  // By Muller, "Elementary Functions", table 11.1, 6381956970095103 x 2^797 differs from a multiple
  // of pi/2 by 4.7e-19.
  const double x = std::ldexp(6381956970095103.0, 797);
  CHECK(error(of(Unary::Cos, x), cosl(x), precision(Dtype::F64)) <= 1);
  CHECK(std::abs(of(Unary::Cos, x)) < 4.7e-19);
  CHECK(of(Unary::Sin, x) == 1);
}

TEST_CASE("transcendental: of zeros, infinities and beyond the domain") {
  struct Row {
    Unary op;
    double x, y;
  };
  const Row rows[] = {
      {Unary::Exp, 0, 1},
      {Unary::Exp, -0.0, 1},
      {Unary::Exp, kInf, kInf},
      {Unary::Exp, -kInf, 0},
      {Unary::Exp, 709.78, 1.7928227943945155e308},
      {Unary::Exp, 709.79, kInf},
      {Unary::Exp, -745.13, 5e-324},
      {Unary::Exp, -745.14, 0},
      {Unary::Log, 0, -kInf},
      {Unary::Log, -0.0, -kInf},
      {Unary::Log, 1, 0},
      {Unary::Log, kInf, kInf},
      {Unary::Log, -1, kNan},
      {Unary::Log, -kInf, kNan},
      {Unary::Sqrt, -0.0, -0.0},
      {Unary::Sqrt, kInf, kInf},
      {Unary::Sqrt, -5e-324, kNan},
      {Unary::Rsqrt, 0, kInf},
      {Unary::Rsqrt, -0.0, -kInf},
      {Unary::Rsqrt, kInf, 0},
      {Unary::Rsqrt, -1, kNan},
      {Unary::Logistic, 0, 0.5},
      {Unary::Logistic, kInf, 1},
      {Unary::Logistic, -kInf, 0},
      {Unary::Sin, 0, 0},
      {Unary::Sin, -0.0, -0.0},
      {Unary::Sin, 5e-324, 5e-324},
      {Unary::Sin, kInf, kNan},
      {Unary::Sin, -kInf, kNan},
      {Unary::Cos, 0, 1},
      {Unary::Cos, -0.0, 1},
      {Unary::Cos, -kInf, kNan},
      {Unary::Neg, 0, -0.0},
      {Unary::Neg, -kInf, kInf},
  };
  for (const Row& row : rows) {
    CAPTURE(static_cast<int>(row.op));
    CAPTURE(row.x);
    CHECK(arith::same_value(arith::F64{of(row.op, row.x)}, arith::F64{row.y}));
  }
}

TEST_CASE("transcendental: a NaN gives the type's one NaN") {
  for (const Dtype dtype :
       {Dtype::F8E4M3FN, Dtype::F8E5M2, Dtype::F16, Dtype::BF16, Dtype::F32, Dtype::F64}) {
    CAPTURE(name(dtype));
    Tensor nan(dtype, {});
    const auto width = static_cast<unsigned>(8 * itemsize(dtype).count());
    set_element_bits(nan, 0, ~uint64_t{0} >> (64 - width));
    for (const Unary op : kAll)
      CHECK(element_bits(elementwise(op, nan), 0) == element_bits(full(dtype, {}, kNan), 0));
  }
}

TEST_CASE("transcendental: the bits do not depend on compiler and optimisation") {
  // The library is optimised, and this file is not. The hash is from g++ 12 and clang++ 14 at -O0,
  // -O2 and -O3 -march=native.
  const Tensor any = any_bits(Dtype::F64, 20'000);
  const Tensor near = uniform(Dtype::F64, 20'000, -30, 30);
  Hasher hasher;
  for (const Tensor* operand : {&any, &near}) {
    const std::span<const arith::F64> x = operand->as<arith::F64>();
    const auto add = [&](Unary op, auto here) {
      const Tensor there = elementwise(op, *operand);
      int64_t different = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const uint64_t bits = arith::bits_of(there.as<arith::F64>()[i]);
        different += arith::bits_of(here(x[i])) == bits ? 0 : 1;
        hasher.add(bits);
      }
      CAPTURE(static_cast<int>(op));
      CHECK(different == 0);
    };
    add(Unary::Exp, [](arith::F64 e) { return arith::exp(e); });
    add(Unary::Log, [](arith::F64 e) { return arith::log(e); });
    add(Unary::Sqrt, [](arith::F64 e) { return arith::sqrt(e); });
    add(Unary::Rsqrt, [](arith::F64 e) { return arith::rsqrt(e); });
    add(Unary::Logistic, [](arith::F64 e) { return arith::logistic(e); });
    add(Unary::Sin, [](arith::F64 e) { return arith::sin(e); });
    add(Unary::Cos, [](arith::F64 e) { return arith::cos(e); });
  }
  CHECK(hasher.word() == 0xd56e263e777e35f6U);
}

// All functions of the header except the roots can run at compile time.
static_assert(arith::exp64(0) == 1);
static_assert(arith::cos64(0) == 1);
static_assert(arith::log64(1) == 0);

}  // namespace orrery
