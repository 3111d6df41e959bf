// Compares the functions of functions.h for complex elements with the long doubles of the C++
// library, which have 11 bits more than f64, and with the results of JAX 0.10.2 on the CPU.

#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/functions.h"
#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/array/work.h"
#include "models/base/check.h"
#include "models/base/hash.h"
#include "models/base/random.h"
#include "tests/models/array/tensors.h"

namespace orrery {

namespace {

using test::complex_numbers;
using test::kInf;
using test::kNan;
using test::of;

using Number = std::complex<long double>;

constexpr Unary kComplexFunctions[] = {Unary::Exp,      Unary::Log, Unary::Sqrt, Unary::Rsqrt,
                                       Unary::Logistic, Unary::Sin, Unary::Cos};

Number exact(Unary op, Number x) {
  switch (op) {
    case Unary::Neg:
      return -x;
    case Unary::Exp:
      return std::exp(x);
    case Unary::Log: {
      // The library's logarithm of the magnitude loses its bits near 1.
      const long double a = std::max(std::abs(x.real()), std::abs(x.imag()));
      const long double b = std::min(std::abs(x.real()), std::abs(x.imag()));
      const bool is_near = a > 0.1L && a < 2;
      return {is_near ? std::log1p((a - 1) * (a + 1) + b * b) / 2 : std::log(std::abs(x)),
              std::arg(x)};
    }
    case Unary::Sqrt:
      return std::sqrt(x);
    case Unary::Rsqrt:
      return Number(1) / std::sqrt(x);
    case Unary::Logistic:
      return x.real() < 0 ? std::exp(x) / (Number(1) + std::exp(x))
                          : Number(1) / (Number(1) + std::exp(-x));
    case Unary::Sin:
      return std::sin(x);
    case Unary::Cos:
      return std::cos(x);
  }
  return 0;
}

/// Returns the bound that functions.h states, in units of 2^-53 of the result.
long double units(Unary op, long double result) {
  switch (op) {
    case Unary::Sqrt:
      return 4;
    case Unary::Log:
      return 24;
    case Unary::Logistic:
      return 16 * (1 + result);
    default:
      return 8;
  }
}

constexpr long double kQuotientUnits = 6;

long double most_off(Dtype dtype, long double units, long double result) {
  const bool is_narrow = dtype == Dtype::C64;
  const long double smallest = is_narrow ? 0x1p-149L : 0x1p-1074L;
  return (units * 0x1p-53L + (is_narrow ? 0x1p-24L : 0)) * result + 6 * smallest;
}

Number number(const Tensor& tensor, int64_t element) {
  const Tensor wide = parts(convert(tensor, Dtype::C128));
  const auto i = static_cast<size_t>(2 * element);
  return {wide.as<double>()[i], wide.as<double>()[i + 1]};
}

bool is_finite(Number x) {
  return std::isfinite(x.real()) && std::isfinite(x.imag());
}

/// Returns numbers of random size and direction. A spread of 1 draws all parts from one range.
Tensor random_numbers(Dtype dtype, int64_t count, double size, double spread, Random& random) {
  const auto unit = [&] { return static_cast<double>(random.next() >> 11U) * 0x1p-53; };
  std::vector<std::complex<double>> numbers;
  for (int64_t i = 0; i < count; ++i) {
    const double re = (2 * unit() - 1) * size * std::pow(spread, -unit());
    const double im = (2 * unit() - 1) * size * std::pow(spread, -unit());
    numbers.emplace_back(re, im);
  }
  return complex_numbers(dtype, numbers);
}

void check_complex_within_bound(const Tensor& operand) {
  const Tensor x = parts(convert(operand, Dtype::C128));
  for (const Unary op : kComplexFunctions) {
    const Tensor result = elementwise(op, operand);
    const Tensor got = parts(convert(result, Dtype::C128));
    int64_t wrong = 0;
    int64_t compared = 0;
    Number worst;
    for (size_t i = 0; i < x.as<double>().size(); i += 2) {
      const Number at(x.as<double>()[i], x.as<double>()[i + 1]);
      const Number want = exact(op, at);
      const Number have(got.as<double>()[i], got.as<double>()[i + 1]);
      if (!is_finite(have) || !is_finite(want))
        continue;
      ++compared;
      const long double size = std::abs(want);
      // Near a pole the long doubles themselves are off by as much, relative to their result.
      if (std::abs(have - want) <= most_off(operand.dtype(), units(op, size), size))
        continue;
      ++wrong;
      worst = at;
    }
    CAPTURE(static_cast<int>(op));
    CAPTURE(static_cast<double>(worst.real()));
    CAPTURE(static_cast<double>(worst.imag()));
    CHECK(compared > 0);
    CHECK(wrong == 0);
  }
}

Tensor scalar(Dtype dtype, std::complex<double> number) {
  return complex_numbers(dtype, {number}).reshaped({});
}

std::string text(Unary op, std::complex<double> x) {
  return element_text(elementwise(op, scalar(Dtype::C128, x)), 0);
}

std::string text(Binary op, std::complex<double> x, std::complex<double> y) {
  return element_text(elementwise(op, scalar(Dtype::C128, x), scalar(Dtype::C128, y)), 0);
}

}  // namespace

TEST_CASE("complex: functions are within their bounds, on the plane") {
  for (const Dtype dtype : {Dtype::C64, Dtype::C128}) {
    CAPTURE(name(dtype));
    Random random(1);
    check_complex_within_bound(random_numbers(dtype, 5'000, 1, 1, random));
    check_complex_within_bound(random_numbers(dtype, 5'000, 30, 1, random));
    check_complex_within_bound(random_numbers(dtype, 5'000, 700, 1, random));
    check_complex_within_bound(random_numbers(dtype, 5'000, 2, 0x1p60, random));  // near the axes
    check_complex_within_bound(random_numbers(dtype, 5'000, 0x1p60, 0x1p120, random));
  }
  Random random(2);
  check_complex_within_bound(random_numbers(Dtype::C128, 5'000, 0x1p1000, 0x1p1000, random));
  check_complex_within_bound(random_numbers(Dtype::C128, 5'000, 0x1p-1000, 0x1p50, random));
}

TEST_CASE("complex: the logarithm near 1, where it is near 0") {
  Random random(3);
  for (const double size : {0.5, 0x1p-10, 0x1p-30, 0x1p-50}) {
    const Tensor around = random_numbers(Dtype::C128, 5'000, size, 1, random);
    const Tensor one = scalar(Dtype::C128, 1);
    check_complex_within_bound(elementwise(Binary::Add, around, one));
  }
}

TEST_CASE("complex: quotients are within their bound, where parts cancel or are far apart") {
  for (const Dtype dtype : {Dtype::C64, Dtype::C128}) {
    CAPTURE(name(dtype));
    Random random(4);
    const bool is_wide = dtype == Dtype::C128;
    for (const double size : {1.0, is_wide ? 0x1p1020 : 0x1p120, is_wide ? 0x1p-900 : 0x1p-100}) {
      for (const double spread : {1.0, 0x1p30}) {
        const Tensor x = random_numbers(dtype, 5'000, size, spread, random);
        const Tensor y = random_numbers(dtype, 5'000, size, spread, random);
        const Tensor a = parts(convert(x, Dtype::C128));
        const Tensor b = parts(convert(y, Dtype::C128));
        const Tensor c = parts(convert(elementwise(Binary::Div, x, y), Dtype::C128));
        int64_t wrong = 0;
        for (size_t i = 0; i < a.as<double>().size(); i += 2) {
          // Powers of two change no bits, and keep the long doubles in their range.
          const Number p(a.as<double>()[i] / size, a.as<double>()[i + 1] / size);
          const Number q(b.as<double>()[i] / size, b.as<double>()[i + 1] / size);
          const Number want = p * std::conj(q) / std::norm(q);
          const Number have(c.as<double>()[i], c.as<double>()[i + 1]);
          const long double most = most_off(dtype, kQuotientUnits, std::abs(want));
          if (!(std::abs(have - want) <= most))
            ++wrong;
        }
        CAPTURE(size);
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("complex: functions and quotients are near those of JAX 0.10.2 on the CPU") {
  // JAX states no bound. The test allows 8 units of 2^-53 more than our own bound.
  const auto check = [](const Tensor& result, std::complex<double> jax, long double own) {
    const Number want(jax);
    const long double size = std::abs(want);
    CHECK(std::abs(number(result, 0) - want) <= most_off(Dtype::C128, own + 8, size));
  };
  struct Row {
    Unary op;
    std::complex<double> x, y;
  };
  const Row rows[] = {
      {Unary::Exp, {0.75, -1.25}, {0.6675374464291316, -2.009000454940949}},
      {Unary::Exp, {-3.5, 0.125}, {0.029961773388054027, 0.0037648507271090537}},
      {Unary::Exp, {0.001, 0.002}, {1.0009984981663753, 0.00200199966566635}},
      {Unary::Log, {0.75, -1.25}, {0.3768859011881901, -1.0303768265243125}},
      {Unary::Log, {-3.5, 0.125}, {1.2534003172113684, 3.1058935409104693}},
      {Unary::Log, {0.001, 0.002}, {-6.103036322765086, 1.1071487177940904}},
      {Unary::Sqrt, {0.75, -1.25}, {1.050651696260784, -0.594868882070379}},
      {Unary::Sqrt, {-3.5, 0.125}, {0.033402331733540486, 1.8711268572080402}},
      {Unary::Sqrt, {0.001, 0.002}, {0.04022479320953552, 0.02486028939392892}},
      {Unary::Rsqrt, {0.75, -1.25}, {0.7207411175452056, 0.4080766864815039}},
      {Unary::Rsqrt, {-3.5, 0.125}, {0.009537442738027058, -0.5342670505330819}},
      {Unary::Rsqrt, {0.001, 0.002}, {17.989074399478675, -11.117859405028423}},
      {Unary::Logistic, {0.75, -1.25}, {0.7553769713265478, -0.29471468658553107}},
      {Unary::Logistic, {-3.5, 0.125}, {0.029103152588173017, 0.0035489488992414497}},
      {Unary::Logistic, {0.001, 0.002}, {0.5002500002291668, 0.0005000000416665876}},
      {Unary::Sin, {0.75, -1.25}, {1.2872229100264918, -1.1721063598927026}},
      {Unary::Sin, {-3.5, 0.125}, {0.3535272918664987, -0.11736216031444589}},
      {Unary::Sin, {0.001, 0.002}, {0.001000001833333675, 0.0020000003333330166}},
      {Unary::Cos, {0.75, -1.25}, {1.381738730634259, 1.0919301355539746}},
      {Unary::Cos, {-3.5, 0.125}, {-0.9437822862532047, -0.043962179951782324}},
      {Unary::Cos, {0.001, 0.002}, {1.0000014999997082, -2.000001000000061e-06}},
  };
  for (const Row& row : rows) {
    CAPTURE(static_cast<int>(row.op));
    CAPTURE(row.x.real());
    check(elementwise(row.op, scalar(Dtype::C128, row.x)), row.y,
          units(row.op, std::abs(Number(row.y))));
  }
  struct Quotient {
    std::complex<double> x, y, quotient;
  };
  const Quotient quotients[] = {
      {{0.75, -1.25}, {-3.5, 0.125}, {-0.2267515923566879, 0.3490445859872612}},
      {{-3.5, 0.125}, {0.001, 0.002}, {-650.0, 1425.0}},
      {{0.001, 0.002}, {0.75, -1.25}, {-0.0008235294117647059, 0.0012941176470588236}},
  };
  for (const Quotient& row : quotients)
    check(elementwise(Binary::Div, scalar(Dtype::C128, row.x), scalar(Dtype::C128, row.y)),
          row.quotient, kQuotientUnits);
}

TEST_CASE("complex: a product is (ac - bd) + (ad + bc)i, each step rounded") {
  // In f32, of 24 bits: (1 + 2^-12)^2 is 1 + 2^-11 + 2^-24, which rounds to 1 + 2^-11. A fused
  // multiply-add would keep the 2^-24 in ac - bd, which is then not 0.
  const double x = 1 + 0x1p-12;
  const Tensor z = scalar(Dtype::C64, {x, x});
  CHECK(elementwise(Binary::Mul, z, z) == scalar(Dtype::C64, {0, 2 * (1 + 0x1p-11)}));
  CHECK(text(Binary::Mul, {1, 2}, {3, 4}) == "[-5,10]");
  // By the formula, and unlike C, an infinite number times a finite one may be NaN.
  CHECK(text(Binary::Mul, {kInf, 1}, {0, 1}) == "[NaN,Infinity]");
}

TEST_CASE("complex: sums, differences and negation are part by part") {
  CHECK(text(Binary::Add, {1, -2}, {0.5, 0.25}) == "[1.5,-1.75]");
  CHECK(text(Binary::Sub, {1, -2}, {0.5, 0.25}) == "[0.5,-2.25]");
  CHECK(text(Unary::Neg, {1, 0}) == "[-1,-0]");
  CHECK(text(Binary::Add, {kInf, 1}, {-kInf, 1}) == "[NaN,2]");
}

TEST_CASE("complex: quotients of zeros and infinities are those of C's Annex G") {
  CHECK(text(Binary::Div, {1, 0}, {0, 0}) == "[Infinity,NaN]");
  CHECK(text(Binary::Div, {1, 1}, {0, 0}) == "[Infinity,Infinity]");
  CHECK(text(Binary::Div, {1, 1}, {-0.0, 0}) == "[-Infinity,-Infinity]");
  CHECK(text(Binary::Div, {0, 0}, {0, 0}) == "[NaN,NaN]");
  CHECK(text(Binary::Div, {kInf, 0}, {1, 1}) == "[Infinity,-Infinity]");
  CHECK(text(Binary::Div, {1, 1}, {kInf, 0}) == "[0,0]");
  CHECK(text(Binary::Div, {1, 0}, {kInf, kNan}) == "[0,0]");
  CHECK(text(Binary::Div, {1e300, 1e300}, {1e300, 1e300}) == "[1,0]");
  CHECK(text(Binary::Div, {1e-300, 1e-300}, {1e-300, 1e-300}) == "[1,0]");
}

TEST_CASE("complex: of zeros, infinities and NaN") {
  struct Row {
    Unary op;
    std::complex<double> x;
    std::string_view y;
  };
  const Row rows[] = {
      {Unary::Exp, {0, -0.0}, "[1,-0]"},
      {Unary::Exp, {kInf, 0}, "[Infinity,0]"},
      {Unary::Exp, {-kInf, 1}, "[0,0]"},
      {Unary::Exp, {0, kInf}, "[NaN,NaN]"},
      {Unary::Log, {0, 0}, "[-Infinity,0]"},
      {Unary::Log, {-0.0, 0}, "[-Infinity,3.141592653589793]"},
      {Unary::Log, {-1, 0}, "[0,3.141592653589793]"},
      {Unary::Log, {-1, -0.0}, "[0,-3.141592653589793]"},
      {Unary::Log, {kInf, 1}, "[Infinity,0]"},
      {Unary::Log, {0, kInf}, "[Infinity,1.5707963267948966]"},
      {Unary::Log, {kInf, kInf}, "[Infinity,0.7853981633974483]"},
      {Unary::Log, {-kInf, kInf}, "[Infinity,2.356194490192345]"},
      {Unary::Sqrt, {0, -0.0}, "[0,-0]"},
      {Unary::Sqrt, {-1, 0}, "[0,1]"},
      {Unary::Sqrt, {-1, -0.0}, "[0,-1]"},
      {Unary::Sqrt, {-4, 0}, "[0,2]"},
      {Unary::Sqrt, {3, 4}, "[2,1]"},
      {Unary::Sqrt, {kInf, -1}, "[Infinity,-0]"},
      {Unary::Sqrt, {-kInf, 1}, "[0,Infinity]"},
      {Unary::Sqrt, {-kInf, kInf}, "[Infinity,Infinity]"},
      {Unary::Rsqrt, {0, 0}, "[Infinity,NaN]"},
      {Unary::Rsqrt, {3, 4}, "[0.4,-0.2]"},
      {Unary::Rsqrt, {kInf, 0}, "[0,-0]"},
      {Unary::Logistic, {0, 0}, "[0.5,0]"},
      {Unary::Logistic, {kInf, 0}, "[1,0]"},
      {Unary::Logistic, {-kInf, 1}, "[0,0]"},
      {Unary::Sin, {0, -0.0}, "[0,-0]"},
      {Unary::Sin, {0, kInf}, "[0,Infinity]"},
      {Unary::Sin, {kInf, 0}, "[NaN,NaN]"},
      {Unary::Cos, {0, kInf}, "[Infinity,-0]"},
      {Unary::Cos, {kInf, 1}, "[NaN,NaN]"},
  };
  for (const Row& row : rows) {
    CAPTURE(static_cast<int>(row.op));
    CAPTURE(row.x.real());
    CAPTURE(row.x.imag());
    CHECK(text(row.op, row.x) == row.y);
  }
  for (const Unary op : kComplexFunctions) {
    CAPTURE(static_cast<int>(op));
    CHECK(text(op, {kNan, 1}) == "[NaN,NaN]");
    CHECK(text(op, {1, kNan}) == "[NaN,NaN]");
  }
}

TEST_CASE("complex: exp, sin and cos do not overflow before their results do") {
  // exp(710) = 2.2e308 is beyond f64, but half of it is not.
  CHECK(std::isfinite(static_cast<double>(
      number(elementwise(Unary::Exp, scalar(Dtype::C128, {710, 1.5})), 0).real())));
  CHECK(is_finite(number(elementwise(Unary::Sin, scalar(Dtype::C128, {0.7, 710})), 0)));
  CHECK(is_finite(number(elementwise(Unary::Cos, scalar(Dtype::C128, {0.7, -710})), 0)));
  CHECK(text(Unary::Exp, {1500, 1}) == "[Infinity,Infinity]");
}

TEST_CASE("complex: the bits do not depend on compiler and optimisation") {
  // The library is optimised, and this file is not. The hash is from g++ 12 and clang++ 14.
  Random random(5);
  const Tensor x = random_numbers(Dtype::C128, 20'000, 30, 0x1p40, random);
  const Tensor y = random_numbers(Dtype::C128, 20'000, 30, 0x1p40, random);
  Hasher hasher;
  for (const Unary op : kComplexFunctions)
    hasher.add(elementwise(op, x).bytes());
  for (const Binary op : {Binary::Mul, Binary::Div})
    hasher.add(elementwise(op, x, y).bytes());
  CHECK(hasher.word() == 14793644619988924303U);
}

TEST_CASE("real, imag, conj, complex: parts are kept bit for bit") {
  const Tensor z = complex_numbers(Dtype::C64, {{1, -2}, {-0.0, kInf}});
  CHECK(real(z) == of(Dtype::F32, {1, -0.0}));
  CHECK(imag(z) == of(Dtype::F32, {-2, kInf}));
  CHECK(complex(real(z), imag(z)) == z);
  CHECK(conj(z) == complex_numbers(Dtype::C64, {{1, 2}, {-0.0, -kInf}}));
  // conj takes real numbers too, as in JAX.
  CHECK(conj(of(Dtype::F64, {3})) == complex_numbers(Dtype::C128, {{3, 0}}));
  CHECK(complex(of(Dtype::F64, {1, 2}), of(Dtype::F64, {5}).reshaped({})) ==
        complex_numbers(Dtype::C128, {{1, 5}, {2, 5}}));
  CHECK_THROWS_AS(complex(of(Dtype::F16, {1}), of(Dtype::F16, {1})), InternalError);
  CHECK_THROWS_AS(imag(of(Dtype::F32, {1})), InternalError);
}

TEST_CASE("complex: eq and ne look at both parts; there is no order") {
  const Tensor x =
      complex_numbers(Dtype::C128, {{1, 2}, {1, 2}, {0.0, -0.0}, {kNan, 0}, {0, kNan}});
  const Tensor y =
      complex_numbers(Dtype::C128, {{1, 2}, {1, 3}, {-0.0, 0.0}, {kNan, 0}, {0, kNan}});
  CHECK(elementwise(Comparison::Eq, x, y) == of(Dtype::Pred, {1, 0, 1, 0, 0}));
  CHECK(elementwise(Comparison::Ne, x, y) == of(Dtype::Pred, {0, 1, 0, 1, 1}));
  CHECK_THROWS_AS(elementwise(Comparison::Lt, x, y), InternalError);
  CHECK_THROWS_AS(elementwise(Binary::Max, x, y), InternalError);
  const int64_t axes[] = {0};
  CHECK_THROWS_AS(reduce(x, Combine::Min, axes), InternalError);
}

TEST_CASE("complex: conversions take the real part, and add an imaginary part of +0") {
  const Tensor z = complex_numbers(Dtype::C64, {{-1.5, 3}, {0, 2}, {kNan, 0}});
  CHECK(convert(z, Dtype::S32) == of(Dtype::S32, {-1, 0, 0}));
  CHECK(convert(z, Dtype::Pred) == of(Dtype::Pred, {1, 0, 1}));
  CHECK(convert(z, Dtype::C128) == complex_numbers(Dtype::C128, {{-1.5, 3}, {0, 2}, {kNan, 0}}));
  CHECK(convert(of(Dtype::BF16, {-0.0}), Dtype::C64) == complex_numbers(Dtype::C64, {{-0.0, 0}}));
  // An f32 cannot hold 1 + 2^-30.
  CHECK(convert(complex_numbers(Dtype::C128, {{1 + 0x1p-30, 1e300}}), Dtype::C64) ==
        complex_numbers(Dtype::C64, {{1, kInf}}));
}

TEST_CASE("complex: dot_general multiplies and adds in the order of the contracting index") {
  // (1+2i)(3-i) + (i)(2+2i) = (5+5i) + (-2+2i)
  const Tensor x = complex_numbers(Dtype::C64, {{1, 2}, {0, 1}});
  const Tensor y = complex_numbers(Dtype::C64, {{3, -1}, {2, 2}});
  const DotDimensions inner{{0}, {0}, {}, {}};
  CHECK(dot_general(x, y, inner, Dtype::C64) == scalar(Dtype::C64, {3, 7}));
  CHECK(dot_general(x, y, inner, Dtype::C128) == scalar(Dtype::C128, {3, 7}));
  // f32 has 24 bits: 2^24 + 1 + 1 is 2^24, and the real and the imaginary sum round in the same
  // way.
  const Tensor ones = complex_numbers(Dtype::C64, {{1, 0}, {1, 0}, {1, 0}});
  const Tensor big = complex_numbers(Dtype::C64, {{0x1p24, 0x1p24}, {1, 1}, {1, 1}});
  CHECK(dot_general(ones, big, inner, Dtype::C64) == scalar(Dtype::C64, {0x1p24, 0x1p24}));
  const Tensor matrix =
      complex_numbers(Dtype::C64, {{1, 0}, {0, 1}, {2, 0}, {0, 2}}).reshaped({2, 2});
  CHECK(dot_general(matrix, matrix, {{1}, {0}, {}, {}}, Dtype::C64) ==
        complex_numbers(Dtype::C64, {{1, 2}, {-2, 1}, {2, 4}, {-4, 2}}).reshaped({2, 2}));
}

TEST_CASE("complex: a row that take fills is NaN + 0i, as in JAX") {
  const Tensor rows = complex_numbers(Dtype::C64, {{1, 2}});
  CHECK(element_text(take(rows, of(Dtype::S32, {5}), 0, OutOfRange::Fill), 0) == "[NaN,0]");
}

TEST_CASE("complex: a mean divides both parts") {
  const Tensor sum = complex_numbers(Dtype::C64, {{3, -6}});
  const Folding held{{Dtype::C64}};
  CHECK(leave(Leaving::Mean, held, Tensor(sum).take_bytes(), Dtype::C64, {1}, 3) ==
        complex_numbers(Dtype::C64, {{1, -2}}));
}

}  // namespace orrery
