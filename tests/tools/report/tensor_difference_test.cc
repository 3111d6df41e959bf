#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/text.h"
#include "tools/report/difference.h"

namespace orrery::test {
namespace {

Tensor of(Dtype dtype, const std::vector<std::string>& elements) {
  Tensor tensor(dtype, Shape{static_cast<int64_t>(elements.size())});
  for (size_t i = 0; i < elements.size(); ++i)
    REQUIRE(parse_element(elements[i], tensor, static_cast<int64_t>(i)));
  return tensor;
}

Tensor of_bits(Dtype dtype, const std::vector<uint64_t>& bits) {
  Tensor tensor(dtype, Shape{static_cast<int64_t>(bits.size())});
  for (size_t i = 0; i < bits.size(); ++i)
    set_element_bits(tensor, static_cast<int64_t>(i), bits[i]);
  return tensor;
}

std::optional<uint64_t> ulps(Dtype dtype, uint64_t a, uint64_t b) {
  const auto difference = first_difference(of_bits(dtype, {a}), of_bits(dtype, {b}));
  REQUIRE(difference);
  return difference->ulps;
}

TEST_CASE("tensor difference: none between equal bits, and none between NaNs") {
  const Tensor a = of(Dtype::F32, {"1", "NaN", "-0"});
  CHECK_FALSE(first_difference(a, a));
  CHECK_FALSE(first_difference(of_bits(Dtype::F16, {0x7e00}), of_bits(Dtype::F16, {0xfe01})));
}

TEST_CASE("tensor difference: ulps count the values of the dtype from one to the other") {
  CHECK(ulps(Dtype::F32, 0x3f800000, 0x3f800001) == 1);  // 1 and the next
  CHECK(ulps(Dtype::F32, 0x3f800000, 0x3f7fffff) == 1);  // and the one before, half as far
  CHECK(ulps(Dtype::F32, 0x00000001, 0x80000001) == 2);  // the least on both sides of zero
  CHECK(ulps(Dtype::F32, 0x00000000, 0x80000000) == 0);  // 0 and -0 are one value, of other bits
  CHECK(ulps(Dtype::BF16, 0x3f80, 0x3f83) == 3);
  CHECK(ulps(Dtype::F16, 0x7bff, 0x7c00) == 1);  // the largest and infinity
  // From the least to the largest f64, the distance is twice the bits of infinity,
  // 0x7ff0000000000000.
  CHECK(ulps(Dtype::F64, 0x7ff0000000000000, 0xfff0000000000000) == 0xffe0000000000000);
}

TEST_CASE("tensor difference: no ulps where a NaN or an integer differs") {
  CHECK_FALSE(first_difference(of(Dtype::F32, {"NaN"}), of(Dtype::F32, {"1"}))->ulps);
  CHECK_FALSE(first_difference(of(Dtype::S32, {"3"}), of(Dtype::S32, {"4"}))->ulps);
}

TEST_CASE("tensor difference: the first element, how many, and the most ulps") {
  const auto difference =
      first_difference(of_bits(Dtype::F32, {0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000}),
                       of_bits(Dtype::F32, {0x3f800000, 0x3f800002, 0x3f800000, 0x3f800009}));
  REQUIRE(difference);
  CHECK(difference->element == 1);
  CHECK(difference->count == 2);
  CHECK(difference->ulps == 2);
  CHECK(difference->most_ulps == 9);
  CHECK_FALSE(
      first_difference(of(Dtype::F32, {"1", "NaN"}), of(Dtype::F32, {"2", "1"}))->most_ulps);
}

TEST_CASE("tensor difference: different dtypes are compared by their numbers") {
  CHECK_FALSE(first_difference(of(Dtype::F32, {"0.5", "-3"}), of(Dtype::BF16, {"0.5", "-3"})));
  CHECK_FALSE(first_difference(of(Dtype::S32, {"7"}), of(Dtype::F64, {"7"})));
  CHECK_FALSE(first_difference(of(Dtype::Pred, {"true"}), of(Dtype::U8, {"1"})));
  // 0.1 has different nearest values in f32 and bf16.
  const auto rounded = first_difference(of(Dtype::F32, {"0.1"}), of(Dtype::BF16, {"0.1"}));
  REQUIRE(rounded);
  CHECK_FALSE(rounded->ulps);
}

TEST_CASE("tensor difference: of complex numbers, by the part that is furthest off") {
  CHECK_FALSE(first_difference(of(Dtype::C64, {"[1,NaN]"}), of(Dtype::C64, {"[1,NaN]"})));
  const auto difference =
      first_difference(of(Dtype::C64, {"[1,2]", "[1,2]", "[0,1]"}),
                       of(Dtype::C64, {"[1,2]", "[1.0000001,2.0000005]", "[0,1.0000001]"}));
  REQUIRE(difference);
  CHECK(difference->element == 1);
  CHECK(difference->count == 2);
  CHECK(difference->ulps == 2);  // 1 of the real part; the imaginary part has steps of 2^-22
  CHECK(difference->most_ulps == 2);
  CHECK_FALSE(first_difference(of(Dtype::C64, {"[0.5,-3]"}), of(Dtype::C128, {"[0.5,-3]"})));
  CHECK_FALSE(first_difference(of(Dtype::F32, {"0.5"}), of(Dtype::C64, {"[0.5,0]"})));
  CHECK(first_difference(of(Dtype::F32, {"0.5"}), of(Dtype::C64, {"[0.5,1]"})));
}

}  // namespace
}  // namespace orrery::test
