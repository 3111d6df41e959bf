// Tests the comparison of results, with bounds worked out by hand.

#include "verifier/definition/compare.h"

#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/text.h"
#include "tests/models/array/tensors.h"

using namespace orrery;

namespace {

using orrery::test::set_element_from_double;

Tensor scalar(Dtype dtype, double value) {
  Tensor tensor(dtype, {1});
  set_element_from_double(tensor, 0, value);
  return tensor;
}

/// Compares `got` with the sum (or another reduction) of one element of each operand.
Differences found(Combine combine, Dtype dtype, const std::vector<double>& operands,
                  double expected, double got, Leaving leaving = Leaving::Same) {
  std::vector<Tensor> tensors;
  std::vector<const Tensor*> pointers;
  for (const double operand : operands)
    tensors.push_back(scalar(dtype, operand));
  for (const Tensor& tensor : tensors)
    pointers.push_back(&tensor);
  const Definition definition{
      combine, {{0, 0, Rank(0), static_cast<uint32_t>(operands.size()), {}}}, leaving};
  return differences(definition, pointers, scalar(dtype, expected), scalar(dtype, got));
}

/// Returns the mismatch, if any. Checks that nothing is undecided.
std::optional<Mismatch> compare(Combine combine, Dtype dtype, const std::vector<double>& operands,
                                double expected, double got, Leaving leaving = Leaving::Same) {
  Differences differences = found(combine, dtype, operands, expected, got, leaving);
  CHECK_FALSE(differences.undecided);
  return differences.wrong;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("comparing integers: one off is a mismatch, with both values") {
  CHECK_FALSE(compare(Combine::Add, Dtype::S32, {1, 2}, 3, 3));
  const auto mismatch = compare(Combine::Add, Dtype::S32, {1, 2}, 3, 4);
  REQUIRE(mismatch);
  CHECK(mismatch->element == 0);
  CHECK(mismatch->expected == "3");
  CHECK(mismatch->got == "4");
  CHECK_FALSE(mismatch->bound);
}

TEST_CASE("comparing float sums: the bound is 2 (n - 1) u times the sum of magnitudes") {
  // For three f32 terms of magnitude 4, the bound is 2 x 2 x 2^-24 x 12 = 48 x 2^-24 = 6 x 2^-21.
  // The spacing of floats next to 4 is 2^-21, so six spacings are allowed and seven are not.
  CHECK_FALSE(compare(Combine::Add, Dtype::F32, {4, -4, 4}, 4, 4 + 6 * 0x1p-21));
  const auto mismatch = compare(Combine::Add, Dtype::F32, {4, -4, 4}, 4, 4 + 7 * 0x1p-21);
  REQUIRE(mismatch);
  CHECK(*mismatch->bound == doctest::Approx(48 * 0x1p-24).epsilon(1e-5));
}

TEST_CASE("comparing float sums: one term has no rounding") {
  CHECK(compare(Combine::Add, Dtype::F32, {4}, 4, 4 + 0x1p-21));
}

TEST_CASE("comparing float means: the bound of the sums over n, and a rounding of each quotient") {
  // For three f32 terms of magnitude 4, the sums are off by 48 x 2^-24 (above), so their thirds by
  // 16 x 2^-24. Each of the two quotients adds u x 4/3, together 8/3 x 2^-24. Next to 4/3 the
  // spacing is 2^-23, so nine spacings are allowed (18 < 18.67) and ten are not.
  const double third = 0x1.555556p0;
  CHECK_FALSE(
      compare(Combine::Add, Dtype::F32, {4, -4, 4}, third, third + 9 * 0x1p-23, Leaving::Mean));
  const auto mismatch =
      compare(Combine::Add, Dtype::F32, {4, -4, 4}, third, third + 10 * 0x1p-23, Leaving::Mean);
  REQUIRE(mismatch);
  CHECK(*mismatch->bound == doctest::Approx((16 + 8.0 / 3) * 0x1p-24).epsilon(1e-5));
}

TEST_CASE("order: sums and means of floats depend on it, those of integers and extrema do not") {
  const Definition mean{Combine::Add, {}, Leaving::Mean};
  CHECK(depends_on_order(mean, Dtype::F32));
  CHECK_FALSE(depends_on_order(mean, Dtype::S32));
  CHECK_FALSE(depends_on_order({Combine::Max, {}, Leaving::ItsRank}, Dtype::F32));
}

TEST_CASE("comparing float sums: a bound as large as the sum decides nothing") {
  // For five f8e5m2 terms of 1 the bound is 2 x 4 x 2^-3 x 5 = 5, the sum itself. For four terms it
  // is 2 x 3 x 2^-3 x 4 = 3.
  const Differences five = found(Combine::Add, Dtype::F8E5M2, {1, 1, 1, 1, 1}, 5, 0);
  CHECK_FALSE(five.wrong);
  REQUIRE(five.undecided);
  CHECK(five.undecided->got == "0");
  CHECK(compare(Combine::Add, Dtype::F8E5M2, {1, 1, 1, 1}, 4, 0));
  CHECK_FALSE(compare(Combine::Add, Dtype::F8E5M2, {1, 1, 1, 1}, 4, 3));
}

TEST_CASE("comparing float sums: large elements do not decide small ones") {
  // For 256 bf16 terms, 2 x 255 x 2^-8 is almost twice the sum. A column of ones is beside a column
  // of 4096, and the sums are exact; then the sum of ones is missing.
  constexpr int64_t kTerms = 256;
  std::vector<Tensor> tensors;
  for (int64_t i = 0; i < kTerms; ++i) {
    Tensor& tensor = tensors.emplace_back(Dtype::BF16, Shape({2}));
    set_element_from_double(tensor, 0, 4096);
    set_element_from_double(tensor, 1, 1);
  }
  std::vector<const Tensor*> operands;
  for (const Tensor& tensor : tensors)
    operands.push_back(&tensor);
  Tensor expected(Dtype::BF16, Shape({2}));
  set_element_from_double(expected, 0, 4096 * kTerms);
  set_element_from_double(expected, 1, kTerms);
  Tensor got = expected;
  set_element_from_double(got, 1, 0);
  const Definition sums{Combine::Add, {{0, 0, Rank(0), kTerms, {{2, 1, 1}}}}, Leaving::Same};
  const Differences found = differences(sums, operands, expected, got);
  CHECK_FALSE(found.wrong);
  REQUIRE(found.undecided);
  CHECK(found.undecided->element == 1);
}

TEST_CASE("comparing float sums of zeros alone: they have no bound, and their signs may differ") {
  CHECK_FALSE(compare(Combine::Add, Dtype::F32, {0, 0}, 0.0, -0.0));
  CHECK(compare(Combine::Add, Dtype::F32, {0, 0}, 0, 0x1p-149));
}

TEST_CASE("comparing complex sums: part by part") {
  // For two terms the bound is 2 u times the sum of this part's sizes, which is 2^21 and 2. An
  // imaginary part that is off by 2^-20 is wrong, however large the real part is.
  const Tensor terms[] = {test::complex_numbers(Dtype::C64, {{0x1p20, 1}}),
                          test::complex_numbers(Dtype::C64, {{0x1p20, 1}})};
  const Tensor* const operands[] = {&terms[0], &terms[1]};
  const Definition definition{Combine::Add, {{0, 0, Rank(0), 2, {}}}, Leaving::Same};
  const Tensor expected = test::complex_numbers(Dtype::C64, {{0x1p21, 2}});
  const auto got = [&](double re, double im) {
    return differences(definition, operands, expected,
                       test::complex_numbers(Dtype::C64, {{re, im}}));
  };
  CHECK_FALSE(got(0x1p21, 2).wrong);
  CHECK_FALSE(got(0x1p21 + 0.25, 2 + 0x1p-22).wrong);
  CHECK_FALSE(got(0x1p21 + 0.25, 2 + 0x1p-22).undecided);
  const Differences off = got(0x1p21, 2 + 0x1p-20);
  REQUIRE(off.wrong);
  CHECK(off.wrong->element == 0);
  CHECK(off.wrong->expected == "[2097152,2]");
  CHECK(off.wrong->got == "[2097152,2.000001]");
  CHECK(got(0, 2).wrong);
}

TEST_CASE("comparing maxima: bit for bit, so that +0 and -0 differ") {
  CHECK_FALSE(compare(Combine::Max, Dtype::F32, {1, 2}, 2, 2));
  CHECK(compare(Combine::Max, Dtype::F32, {1, 2}, 2, 2 + 0x1p-22));
  CHECK(compare(Combine::Max, Dtype::F32, {0.0, -0.0}, 0.0, -0.0));
}

TEST_CASE("comparing sums that are not finite: the same infinity or NaN") {
  CHECK_FALSE(compare(Combine::Add, Dtype::F32, {kInfinity, 1}, kInfinity, kInfinity));
  CHECK_FALSE(compare(Combine::Add, Dtype::F32, {kNaN, 1}, kNaN, kNaN));
  CHECK(compare(Combine::Add, Dtype::F32, {kInfinity, 1}, kInfinity, kNaN));
  CHECK(compare(Combine::Add, Dtype::F32, {1, 1}, 2, kInfinity));
}

TEST_CASE("comparing sums that are NaN: their bits may differ") {
  const Tensor operand = scalar(Dtype::F32, kNaN);
  const std::vector<const Tensor*> operands = {&operand, &operand};
  Tensor other(Dtype::F32, {1});
  set_element_bits(other, 0, 0xffc00001);
  const Definition sum{Combine::Add, {{0, 0, Rank(0), 2, {}}}, Leaving::Same};
  const Differences found = differences(sum, operands, operand, other);
  CHECK_FALSE(found.wrong);
  CHECK_FALSE(found.undecided);
}

TEST_CASE("comparing sums whose terms can overflow in one order and not in another") {
  // 40000 + 40000 overflows f16, and 40000 - 40000 + 40000 does not.
  for (const Leaving leaving : {Leaving::Same, Leaving::Mean}) {
    const double finite = leaving == Leaving::Mean ? 40000.0 / 3 : 40000;
    const Differences differences =
        found(Combine::Add, Dtype::F16, {40000, 40000, -40000}, kInfinity, finite, leaving);
    CHECK_FALSE(differences.wrong);
    CHECK(differences.undecided);
  }
}
