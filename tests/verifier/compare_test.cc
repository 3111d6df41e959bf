#include "verifier/oracle/compare.h"

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

/// The sum (or another reduction) of one element of each operand, against `got`.
std::optional<Mismatch> compare(Combine combine, Dtype dtype, const std::vector<double>& operands,
                                double expected, double got, Gives gives = Gives::Fold) {
  std::vector<Tensor> tensors;
  std::vector<const Tensor*> pointers;
  for (const double operand : operands)
    tensors.push_back(scalar(dtype, operand));
  for (const Tensor& tensor : tensors)
    pointers.push_back(&tensor);
  const Definition definition{
      combine, {{0, 0, Rank(0), static_cast<uint32_t>(operands.size()), {}}}, gives};
  return first_mismatch(definition, pointers, scalar(dtype, expected), scalar(dtype, got));
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
  // f32, three terms of magnitude 4: 2 x 2 x 2^-24 x 12 = 48 x 2^-24 = 6 x 2^-21, the bound. The
  // spacing of floats next to 4 is 2^-21: six of them are allowed, and seven are not.
  CHECK_FALSE(compare(Combine::Add, Dtype::F32, {4, -4, 4}, 4, 4 + 6 * 0x1p-21));
  const auto mismatch = compare(Combine::Add, Dtype::F32, {4, -4, 4}, 4, 4 + 7 * 0x1p-21);
  REQUIRE(mismatch);
  CHECK(*mismatch->bound == doctest::Approx(48 * 0x1p-24).epsilon(1e-5));
}

TEST_CASE("comparing float sums: one term has no rounding") {
  CHECK(compare(Combine::Add, Dtype::F32, {4}, 4, 4 + 0x1p-21));
}

TEST_CASE("comparing float means: the bound of the sums over n, and a rounding of each quotient") {
  // f32, three terms of magnitude 4, whose sums are off by 48 x 2^-24 (above): 16 x 2^-24 of their
  // thirds, and u x 4/3 for each of two quotients, 8/3 x 2^-24. Next to 4/3 the spacing is 2^-23:
  // nine are allowed (18 < 18.67), and ten are not.
  const double third = 0x1.555556p0;
  CHECK_FALSE(
      compare(Combine::Add, Dtype::F32, {4, -4, 4}, third, third + 9 * 0x1p-23, Gives::Mean));
  const auto mismatch =
      compare(Combine::Add, Dtype::F32, {4, -4, 4}, third, third + 10 * 0x1p-23, Gives::Mean);
  REQUIRE(mismatch);
  CHECK(*mismatch->bound == doctest::Approx((16 + 8.0 / 3) * 0x1p-24).epsilon(1e-5));
}

TEST_CASE("comparing means whose sums can overflow in one order and not in another") {
  CHECK_FALSE(compare(Combine::Add, Dtype::F16, {40000, 40000, -40000}, kInfinity, 40000.0 / 3,
                      Gives::Mean));
}

TEST_CASE("exactness: float sums and means have bounds, integer ones none") {
  const Definition mean{Combine::Add, {}, Gives::Mean};
  CHECK(exactness(mean, Dtype::F32) == Exactness::FoldBound);
  CHECK(exactness(mean, Dtype::S32) == Exactness::Bitwise);
  CHECK(exactness({Combine::Max, {}, Gives::LowestRank}, Dtype::F32) == Exactness::Bitwise);
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

TEST_CASE("comparing sums whose terms can overflow in one order and not in another") {
  // 40000 + 40000 overflows f16, and 40000 - 40000 + 40000 does not.
  CHECK_FALSE(compare(Combine::Add, Dtype::F16, {40000, 40000, -40000}, kInfinity, 40000));
}
