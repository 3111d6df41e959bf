// Tests arith.h: rounding against the fields of each format, sums and products against exact ones.

#include "models/array/arith.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/base/compiler.h"
#include "tests/models/array/tensors.h"
#include "tests/support/property.h"

namespace orrery::arith {

namespace {

using test::kInf;
using test::kNan;

/// A `Format` gives a narrow float's value from its fields, as IEEE 754, section 3.4 defines it. It
/// does not use arith.h, and is exact in double.
struct Format {
  int fraction_bits;
  int exponent_bits;
  uint32_t beyond;  // the pattern after that of the largest number
  uint32_t nan;     // with `beyond`, there is no infinity

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  uint32_t sign_bit() const { return 1U << (fraction_bits + exponent_bits); }

  /// Returns the value of a pattern, also for `beyond`, as if the exponents went on. Rounding
  /// compares with that value to decide what overflows (IEEE 754, section 4.3.1).
  double number(uint32_t magnitude) const {
    const auto exponent = static_cast<int>(magnitude >> fraction_bits);
    const auto fraction = static_cast<int>(magnitude & ((1U << fraction_bits) - 1U));
    const int hidden = exponent == 0 ? 0 : 1 << fraction_bits;
    return std::ldexp(hidden + fraction, (exponent == 0 ? 1 : exponent) - bias() - fraction_bits);
  }

  double value(uint32_t bits) const {
    const double sign = (bits & sign_bit()) != 0 ? -1 : 1;
    const uint32_t magnitude = bits & ~sign_bit();
    if (magnitude < beyond)
      return sign * number(magnitude);
    return magnitude == beyond && beyond != nan ? sign * kInf : kNan;
  }
};

template <class E>
constexpr Format kFormat = {};
template <>
constexpr Format kFormat<F16> = {10, 5, 0x7c00, 0x7e00};
template <>
constexpr Format kFormat<BF16> = {7, 8, 0x7f80, 0x7fc0};
template <>
constexpr Format kFormat<F8E4M3FN> = {3, 4, 0x7f, 0x7f};
template <>
constexpr Format kFormat<F8E5M2> = {2, 5, 0x7c, 0x7e};

template <class E>
constexpr uint32_t kPatterns = 1U << (8 * sizeof(E));

template <class E>
E of_bits(uint32_t bits) {
  return {static_cast<decltype(E::bits)>(bits)};
}

bool same_bits(float a, double b) {
  return std::bit_cast<uint64_t>(static_cast<double>(a)) == std::bit_cast<uint64_t>(b);
}

/// Returns the result of many checks in one line: "" without a failure, else how many failed and
/// the first failure.
template <class T>
std::string summary(const std::vector<T>& wrong) {
  return wrong.empty() ? "" : fmt::format("{} wrong, the first at {}", wrong.size(), wrong.front());
}

template <class E>
std::string patterns_widened_wrongly() {
  std::vector<uint32_t> wrong;
  for (uint32_t bits = 0; bits < kPatterns<E>; ++bits) {
    const double expected = kFormat<E>.value(bits);
    const float got = widen(of_bits<E>(bits));
    if (std::isnan(expected) ? !std::isnan(got) : !same_bits(got, expected))
      wrong.push_back(bits);
  }
  return summary(wrong);
}

/// Returns the numbers that rounding from Wide to E gets wrong. For each two neighbouring numbers
/// of E, of either sign and up to the overflow, it tries Wide values at, next to and between them.
template <class E, class Wide>
std::string rounded_wrongly() {
  const Format format = kFormat<E>;
  std::vector<Wide> wrong;
  const auto expect = [&](Wide x, uint32_t bits) {
    if (bits_of(round<E>(x)) != bits)
      wrong.push_back(x);
    if (bits_of(round<E>(-x)) != (bits == format.nan ? bits : bits | format.sign_bit()))
      wrong.push_back(-x);
  };
  const auto infinite = std::numeric_limits<Wide>::infinity();
  for (uint32_t low = 0; low < format.beyond; ++low) {
    const uint32_t high = low + 1;
    const double below = format.number(low);
    const double above = format.number(high);
    // Neighbours differ in one bit of precision, so their mean is exact in float as well.
    const auto middle = static_cast<Wide>((below + above) / 2);
    expect(static_cast<Wide>(below), low);
    expect(std::nextafter(static_cast<Wide>(below), infinite), low);
    expect(std::nextafter(middle, -infinite), low);
    expect(middle, (low & 1U) == 0 ? low : high);
    expect(std::nextafter(middle, infinite), high);
    expect(std::nextafter(static_cast<Wide>(above), -infinite), high);
  }
  expect(infinite, format.beyond);
  expect(std::numeric_limits<Wide>::max(), format.beyond);
  expect(std::numeric_limits<Wide>::denorm_min(), 0);
  expect(std::numeric_limits<Wide>::min(), kSame<E, BF16> && sizeof(Wide) == 4 ? 0x80U : 0U);
  return summary(wrong);
}

template <class E>
E number(double x) {
  return convert<E>(F64{x});
}

template <class E>
double value_of(E x) {
  return convert<F64>(x).value;
}

}  // namespace

// All functions of the header can run at compile time.
static_assert(bits_of(add(F16{0x3c00}, F16{0x3c00})) == 0x4000);         // 1 + 1 = 2
static_assert(bits_of(multiply(BF16{0x3fc0}, BF16{0x4000})) == 0x4040);  // 1.5 * 2 = 3
static_assert(bits_of(convert<F16>(F64{0.333251953125})) == 0x3555);     // 1365/4096
static_assert(convert<S8>(F32{-1000.0F}).value == -128);
static_assert(maximum(S32{-3}, S32{2}).value == 2);

TEST_CASE_TEMPLATE("narrow floats: all patterns mean what their formats say", E, F16, BF16,
                   F8E4M3FN, F8E5M2) {
  CHECK(patterns_widened_wrongly<E>() == "");
}

TEST_CASE_TEMPLATE("narrow floats: f32 rounds to nearest even around every value and midpoint", E,
                   F16, BF16, F8E4M3FN, F8E5M2) {
  CHECK(rounded_wrongly<E, float>() == "");
}

TEST_CASE_TEMPLATE("narrow floats: f64 rounds to nearest even around every value and midpoint", E,
                   F16, BF16, F8E4M3FN, F8E5M2) {
  CHECK(rounded_wrongly<E, double>() == "");
}

TEST_CASE("f16: rounding at the thresholds") {
  // The largest finite number is (2 - 2^-10) * 2^15 = 65504. Half a unit above it, 65520 is a tie
  // with 65536, which is even.
  CHECK(bits_of(round<F16>(65504.0F)) == 0x7bff);
  CHECK(bits_of(round<F16>(std::nextafter(65520.0F, 0.0F))) == 0x7bff);
  CHECK(bits_of(round<F16>(65520.0F)) == 0x7c00);
  // The smallest subnormal is 2^-24. Half of it is a tie with 0, which is even.
  CHECK(bits_of(round<F16>(0x1p-24F)) == 0x0001);
  CHECK(bits_of(round<F16>(0x1p-25F)) == 0x0000);
  CHECK(bits_of(round<F16>(0x1.000002p-25F)) == 0x0001);
  CHECK(bits_of(round<F16>(-0x1p-25F)) == 0x8000);
}

TEST_CASE("f8e4m3fn: rounding at the thresholds") {
  // The largest number is 448 = 1.75 * 2^8. Half a unit above it, 464 is a tie with 480, whose
  // fraction would be odd and which does not exist. The smallest subnormal is 2^-9.
  CHECK(bits_of(round<F8E4M3FN>(464.0F)) == 0x7e);
  CHECK(bits_of(round<F8E4M3FN>(std::nextafter(464.0F, 1000.0F))) == 0x7f);
  CHECK(bits_of(round<F8E4M3FN>(-1e30F)) == 0x7f);
  CHECK(bits_of(round<F8E4M3FN>(-std::numeric_limits<float>::infinity())) == 0x7f);
  CHECK(bits_of(round<F8E4M3FN>(0x1p-9F)) == 0x01);
  CHECK(bits_of(round<F8E4M3FN>(0x1p-10F)) == 0x00);
  CHECK(bits_of(add(F8E4M3FN{0x7e}, F8E4M3FN{0x58})) == 0x7e);  // 448 + 16: the tie
  CHECK(bits_of(add(F8E4M3FN{0x7e}, F8E4M3FN{0x60})) == 0x7f);  // 448 + 32
}

TEST_CASE("f8e5m2: rounding at the thresholds") {
  // The largest number is 57344 = 1.75 * 2^15; 61440 is a tie with 65536, which is even. The
  // smallest subnormal is 2^-16.
  CHECK(bits_of(round<F8E5M2>(std::nextafter(61440.0F, 0.0F))) == 0x7b);
  CHECK(bits_of(round<F8E5M2>(61440.0F)) == 0x7c);
  CHECK(bits_of(round<F8E5M2>(-61440.0F)) == 0xfc);
  CHECK(bits_of(round<F8E5M2>(0x1p-16F)) == 0x01);
  CHECK(bits_of(round<F8E5M2>(0x1p-17F)) == 0x00);
}

TEST_CASE("f64 to narrow floats: rounds once, where rounding twice would differ") {
  // Each value is above a midpoint by less than an f32 can hold. An f32 in between would be the
  // midpoint itself, which goes to the even neighbour below.
  const double f16_middle = 1 + 0x1p-11;
  CHECK(bits_of(round<F16>(f16_middle)) == 0x3c00);
  CHECK(bits_of(round<F16>(f16_middle + 0x1p-40)) == 0x3c01);
  CHECK(bits_of(round<F16>(static_cast<float>(f16_middle + 0x1p-40))) == 0x3c00);
  const double bf16_middle = 1 + 0x1p-8;
  CHECK(bits_of(round<BF16>(bf16_middle)) == 0x3f80);
  CHECK(bits_of(round<BF16>(bf16_middle + 0x1p-40)) == 0x3f81);
  CHECK(bits_of(round<BF16>(static_cast<float>(bf16_middle + 0x1p-40))) == 0x3f80);
  // The same holds where the neighbours are subnormal: 1.5 units are a midpoint.
  CHECK(bits_of(round<F16>(0x1.8p-24)) == 0x0002);
  CHECK(bits_of(round<F16>(0x1.8p-24 - 0x1p-60)) == 0x0001);
  CHECK(bits_of(round<BF16>(0x1.8p-133)) == 0x0002);
  CHECK(bits_of(round<BF16>(0x1.8p-133 - 0x1p-180)) == 0x0001);
}

TEST_CASE("f64 to narrow floats: every f32 rounds as it does from f32") {
  test::holds_for_all("any f32", [] {
    const auto bits = test::any_int<uint32_t>();
    const float x = float_of(bits);
    RC_ASSERT(bits_of(round<F16>(x)) == bits_of(round<F16>(static_cast<double>(x))));
    RC_ASSERT(bits_of(round<BF16>(x)) == bits_of(round<BF16>(static_cast<double>(x))));
    RC_ASSERT(bits_of(round<F8E4M3FN>(x)) == bits_of(round<F8E4M3FN>(static_cast<double>(x))));
    RC_ASSERT(bits_of(round<F8E5M2>(x)) == bits_of(round<F8E5M2>(static_cast<double>(x))));
  });
}

TEST_CASE("NaN: every computed or converted one has its type's single pattern") {
  for (const uint32_t bits : {0x7fc00000U, 0xffc00000U, 0x7f800001U, 0xffffffffU, 0x7fbfffffU}) {
    CAPTURE(bits);
    const F32 nan = {float_of(bits)};
    const F32 one = {1.0F};
    CHECK(bits_of(add(nan, one)) == 0x7fc00000U);
    CHECK(bits_of(add(one, nan)) == 0x7fc00000U);
    CHECK(bits_of(subtract(nan, one)) == 0x7fc00000U);
    CHECK(bits_of(multiply(one, nan)) == 0x7fc00000U);
    CHECK(bits_of(maximum(nan, one)) == 0x7fc00000U);
    CHECK(bits_of(minimum(one, nan)) == 0x7fc00000U);
    CHECK(bits_of(convert<F16>(nan)) == 0x7e00U);
    CHECK(bits_of(convert<BF16>(nan)) == 0x7fc0U);
    CHECK(bits_of(convert<F8E4M3FN>(nan)) == 0x7fU);
    CHECK(bits_of(convert<F8E5M2>(nan)) == 0x7eU);
    CHECK(bits_of(convert<F64>(nan)) == 0x7ff8000000000000U);
  }
  const F64 nan = {double_of(0xfff0000000000001U)};
  CHECK(bits_of(convert<F16>(nan)) == 0x7e00U);
  CHECK(bits_of(convert<BF16>(nan)) == 0x7fc0U);
  CHECK(bits_of(convert<F32>(nan)) == 0x7fc00000U);
  CHECK(bits_of(add(nan, nan)) == 0x7ff8000000000000U);
  CHECK(bits_of(convert<F32>(F16{0xfc01})) == 0x7fc00000U);
  CHECK(bits_of(convert<F16>(BF16{0xffff})) == 0x7e00U);
  CHECK(bits_of(add(F16{0xfc01}, F16{0})) == 0x7e00U);
  CHECK(bits_of(maximum(BF16{0xffff}, BF16{0})) == 0x7fc0U);
  // These NaNs come from numbers: inf - inf and 0 * inf.
  const F32 infinite = number<F32>(kInf);
  CHECK(bits_of(subtract(infinite, infinite)) == 0x7fc00000U);
  CHECK(bits_of(multiply(infinite, F32{0.0F})) == 0x7fc00000U);
  CHECK(bits_of(subtract(F16{0x7c00}, F16{0x7c00})) == 0x7e00U);
  CHECK(bits_of(subtract(F8E5M2{0x7c}, F8E5M2{0x7c})) == 0x7eU);
  CHECK(bits_of(maximum(F8E4M3FN{0xff}, F8E4M3FN{0})) == 0x7fU);
}

TEST_CASE("conversion to the same type keeps every bit, of a NaN too") {
  CHECK(bits_of(convert<F32>(F32{float_of(0xffc12345U)})) == 0xffc12345U);
  CHECK(bits_of(convert<F16>(F16{0xfd55})) == 0xfd55U);
}

TEST_CASE_TEMPLATE("maximum and minimum: NaN wins, -0 is below +0, else as compared", E, F16, BF16,
                   F32, F64, F8E4M3FN, F8E5M2) {
  // The numbers are in the order of maximum in IEEE 754-2019. f8e4m3fn has no infinity.
  const double most = kSame<E, F8E4M3FN> ? 448 : kInf;
  const std::array<double, 8> ascending = {-most, -2.5, -1, -0.0, 0.0, 1, 2.5, most};
  for (size_t i = 0; i < ascending.size(); ++i) {
    const E x = number<E>(ascending[i]);
    for (size_t j = 0; j < ascending.size(); ++j) {
      const E y = number<E>(ascending[j]);
      CAPTURE(ascending[i]);
      CAPTURE(ascending[j]);
      CHECK(bits_of(maximum(x, y)) == bits_of(i < j ? y : x));
      CHECK(bits_of(minimum(x, y)) == bits_of(i < j ? x : y));
    }
    const E nan = number<E>(kNan);
    CHECK(bits_of(maximum(x, nan)) == bits_of(nan));
    CHECK(bits_of(maximum(nan, x)) == bits_of(nan));
    CHECK(bits_of(minimum(x, nan)) == bits_of(nan));
    CHECK(bits_of(minimum(nan, x)) == bits_of(nan));
    CHECK(bits_of(maximum(nan, nan)) == bits_of(nan));
  }
}

TEST_CASE("maximum and minimum: of pred they are or and and, of integers by value") {
  for (const uint8_t x : {uint8_t{0}, uint8_t{1}}) {
    for (const uint8_t y : {uint8_t{0}, uint8_t{1}}) {
      CHECK(maximum(Pred{x}, Pred{y}).value == (x | y));
      CHECK(minimum(Pred{x}, Pred{y}).value == (x & y));
    }
  }
  CHECK(maximum(S8{-128}, S8{127}).value == 127);
  CHECK(minimum(S8{-128}, S8{127}).value == -128);
  CHECK(maximum(U8{128}, U8{127}).value == 128);
  CHECK(minimum(U32{0x80000000U}, U32{1}).value == 1);
  CHECK(maximum(S32{std::numeric_limits<int32_t>::min()}, S32{1}).value == 1);
}

TEST_CASE_TEMPLATE("integers: sums, differences and products are those of Z modulo 2^width", E, S8,
                   S16, S32, S64, U8, U16, U32, U64) {
  using Int = decltype(E::value);
  test::holds_for_all("any two", [] {
    const auto x = test::any_int<Int>();
    const auto y = test::any_int<Int>();
    // Results are exact modulo 2^128, and so modulo 2^width.
    const auto wide = [](Int value) { return static_cast<UInt128>(Int128{value}); };
    const auto equal = [&](Int got, UInt128 exact) {
      return ((wide(got) - exact) << (128 - 8 * sizeof(Int))) == 0;
    };
    RC_ASSERT(equal(add(E{x}, E{y}).value, wide(x) + wide(y)));
    RC_ASSERT(equal(subtract(E{x}, E{y}).value, wide(x) - wide(y)));
    RC_ASSERT(equal(multiply(E{x}, E{y}).value, wide(x) * wide(y)));
  });
}

TEST_CASE("integers: the edges wrap") {
  CHECK(add(S8{127}, S8{1}).value == -128);
  CHECK(subtract(S8{-128}, S8{1}).value == 127);
  CHECK(multiply(S8{-128}, S8{-1}).value == -128);
  CHECK(add(U8{255}, U8{1}).value == 0);
  CHECK(multiply(U8{16}, U8{16}).value == 0);
  CHECK(add(S32{2147483647}, S32{1}).value == -2147483647 - 1);
  CHECK(subtract(U32{0}, U32{1}).value == 4294967295U);
  CHECK(multiply(U16{65535}, U16{65535}).value == 1);
  CHECK(add(S16{32767}, S16{1}).value == -32768);
  CHECK(subtract(U64{0}, U64{1}).value == ~uint64_t{0});
  CHECK(add(S64{std::numeric_limits<int64_t>::max()}, S64{1}).value ==
        std::numeric_limits<int64_t>::min());
}

TEST_CASE_TEMPLATE("narrow floats: +, - and * are the exact result, rounded once", E, F16, BF16) {
  test::holds_for_all("any two patterns", [] {
    const E x = {test::any_int<uint16_t>()};
    const E y = {test::any_int<uint16_t>()};
    const double a = value_of(x);
    const double b = value_of(y);
    // In double, products are exact (22 and 16 bits), and so are sums of f16 (41 bits). A sum of
    // bf16 is exact too, unless one operand is more than 2^45 times the other. Then the result is
    // the larger operand, whether or not the double has rounded before.
    RC_ASSERT(same_value(add(x, y), round<E>(a + b)));
    RC_ASSERT(same_value(subtract(x, y), round<E>(a - b)));
    RC_ASSERT(same_value(multiply(x, y), round<E>(a * b)));
  });
}

TEST_CASE_TEMPLATE("8-bit floats: +, - and * of all pairs are the exact result, rounded once", E,
                   F8E4M3FN, F8E5M2) {
  std::vector<uint32_t> wrong;
  for (uint32_t pair = 0; pair < 0x10000U; ++pair) {
    const E x = of_bits<E>(pair >> 8U);
    const E y = of_bits<E>(pair & 0xffU);
    const double a = value_of(x);
    const double b = value_of(y);  // exact in double: at most 35 bits
    if (!same_value(add(x, y), round<E>(a + b)) || !same_value(subtract(x, y), round<E>(a - b)) ||
        !same_value(multiply(x, y), round<E>(a * b)))
      wrong.push_back(pair);
  }
  CHECK(summary(wrong) == "");
}

TEST_CASE("floats to integers: toward zero, saturated, NaN is 0") {
  struct Row {
    double x;
    int32_t s8, s32;
    uint32_t u8, u32;
  };
  constexpr int32_t kLow = std::numeric_limits<int32_t>::min();
  constexpr int32_t kHigh = std::numeric_limits<int32_t>::max();
  const std::array<Row, 16> rows = {{
      {0.0, 0, 0, 0, 0},
      {-0.0, 0, 0, 0, 0},
      {0.9, 0, 0, 0, 0},
      {-0.9, 0, 0, 0, 0},
      {1.5, 1, 1, 1, 1},
      {-1.5, -1, -1, 0, 0},
      {127.9, 127, 127, 127, 127},
      {128.0, 127, 128, 128, 128},
      {-128.9, -128, -128, 0, 0},
      {-129.0, -128, -129, 0, 0},
      {255.9, 127, 255, 255, 255},
      {2147483647.5, 127, kHigh, 255, 2147483647U},
      {-2147483648.5, -128, kLow, 0, 0},
      {4294967295.5, 127, kHigh, 255, 4294967295U},
      {kInf, 127, kHigh, 255, 4294967295U},
      {kNan, 0, 0, 0, 0},
  }};
  for (const Row& row : rows) {
    CAPTURE(row.x);
    CHECK(convert<S8>(F64{row.x}).value == row.s8);
    CHECK(convert<S32>(F64{row.x}).value == row.s32);
    CHECK(convert<U8>(F64{row.x}).value == row.u8);
    CHECK(convert<U32>(F64{row.x}).value == row.u32);
  }
  CHECK(convert<S64>(F64{0x1p63}).value == std::numeric_limits<int64_t>::max());
  CHECK(convert<S64>(F64{0x1.fffffffffffffp62}).value == 0x7ffffffffffffc00);
  CHECK(convert<S64>(F64{-kInf}).value == std::numeric_limits<int64_t>::min());
  CHECK(convert<U64>(F64{0x1p64}).value == ~uint64_t{0});
  CHECK(convert<U64>(F64{0x1.fffffffffffffp63}).value == 0xfffffffffffff800U);
  CHECK(convert<U64>(F64{-1}).value == 0);
  CHECK(convert<S16>(F32{32768}).value == 32767);
  CHECK(convert<U16>(F32{65535.9F}).value == 65535);
  CHECK(convert<S32>(F16{0x7c00}).value == kHigh);
  CHECK(convert<S32>(F32{2147483648.0F}).value == kHigh);
  CHECK(convert<S8>(BF16{0xc3ff}).value == -128);
}

TEST_CASE("integers to floats: rounded once, ties to even") {
  // f32 has 24 bits: 2^24 + 1 is a tie.
  CHECK(convert<F32>(S32{16777217}).value == 16777216.0F);
  CHECK(convert<F32>(S32{-16777219}).value == -16777220.0F);
  CHECK(convert<F32>(U32{4294967295U}).value == 4294967296.0F);
  CHECK(convert<F64>(U32{4294967295U}).value == 4294967295.0);
  // f16 has 11 bits: 2049 is a tie, and 65520 is the first number that becomes infinite.
  CHECK(bits_of(convert<F16>(S32{2049})) == bits_of(number<F16>(2048)));
  CHECK(bits_of(convert<F16>(S32{2051})) == bits_of(number<F16>(2052)));
  CHECK(bits_of(convert<F16>(S32{65519})) == 0x7bff);
  CHECK(bits_of(convert<F16>(S32{-65520})) == 0xfc00);
  // bf16 has 8 bits: 2^31 + 2^23 is a tie, and one more is not. f32 has the same value for both.
  CHECK(bits_of(convert<BF16>(U32{0x80800000U})) == bits_of(number<BF16>(0x1p31)));
  CHECK(bits_of(convert<BF16>(U32{0x80800001U})) == bits_of(number<BF16>(0x1.02p31)));
  // The same holds for 64 bits, where even f64 has the same value for both.
  CHECK(bits_of(convert<BF16>(S64{0x4040000000000000})) == bits_of(number<BF16>(0x1p62)));
  CHECK(bits_of(convert<BF16>(S64{0x4040000000000001})) == bits_of(number<BF16>(0x1.02p62)));
  CHECK(bits_of(convert<BF16>(S64{-0x4040000000000001})) == bits_of(number<BF16>(-0x1.02p62)));
  CHECK(bits_of(convert<BF16>(S64{std::numeric_limits<int64_t>::min()})) ==
        bits_of(number<BF16>(-0x1p63)));
  CHECK(convert<F32>(S64{0x4000004000000001}).value == 0x1.000002p62F);
  CHECK(bits_of(convert<BF16>(U64{0x8080000000000000U})) == bits_of(number<BF16>(0x1p63)));
  CHECK(bits_of(convert<BF16>(U64{0x8080000000000001U})) == bits_of(number<BF16>(0x1.02p63)));
  CHECK(convert<F32>(U64{0x8000008000000001U}).value == 0x1.000002p63F);
  CHECK(convert<F64>(U64{0x8000000000000400U}).value == 0x1p63);
  CHECK(convert<F64>(U64{~uint64_t{0}}).value == 0x1p64);
  CHECK(convert<F64>(S64{0x20000000000003}).value == 0x1.0000000000002p53);
  // For f8e4m3fn, 464 is a tie with the largest number, 448; larger numbers become NaN.
  CHECK(bits_of(convert<F8E4M3FN>(S32{-464})) == 0xfe);
  CHECK(bits_of(convert<F8E4M3FN>(S32{-465})) == 0x7f);
  CHECK(bits_of(convert<F8E5M2>(U64{~uint64_t{0}})) == 0x7c);
}

TEST_CASE("integers to integers: wrapped") {
  CHECK(convert<S8>(S32{200}).value == -56);
  CHECK(convert<U8>(S32{-1}).value == 255);
  CHECK(convert<U32>(S8{-1}).value == 4294967295U);
  CHECK(convert<S32>(U32{4294967295U}).value == -1);
  CHECK(convert<S32>(U8{255}).value == 255);
  CHECK(convert<S32>(S64{0x100000007}).value == 7);
  CHECK(convert<U64>(S8{-1}).value == ~uint64_t{0});
  CHECK(convert<S64>(U64{~uint64_t{0}}).value == -1);
  CHECK(convert<S16>(U16{40000}).value == 40000 - 65536);
}

TEST_CASE("pred: what is not zero is true, and true is one") {
  CHECK(convert<Pred>(S32{0}).value == 0);
  CHECK(convert<Pred>(S32{256}).value == 1);
  CHECK(convert<Pred>(F32{-0.0F}).value == 0);
  CHECK(convert<Pred>(F16{0x0001}).value == 1);
  CHECK(convert<Pred>(F64{kNan}).value == 1);
  CHECK(convert<S8>(Pred{1}).value == 1);
  CHECK(bits_of(convert<F16>(Pred{1})) == 0x3c00);
  CHECK(convert<F64>(Pred{1}).value == 1.0);
}

TEST_CASE_TEMPLATE("floats to wider floats: exact", E, F16, BF16, F8E4M3FN, F8E5M2) {
  std::vector<uint32_t> wrong;
  for (uint32_t bits = 0; bits < kPatterns<E>; ++bits) {
    const E x = of_bits<E>(bits);
    const double expected = kFormat<E>.value(bits);
    if (std::isnan(expected))
      continue;
    if (!same_bits(convert<F32>(x).value, expected) ||
        bits_of(convert<F64>(x)) != std::bit_cast<uint64_t>(expected) ||
        bits_of(convert<E>(convert<F32>(x))) != bits)
      wrong.push_back(bits);
  }
  CHECK(summary(wrong) == "");
}

}  // namespace orrery::arith
