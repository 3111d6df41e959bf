// Compares dot_general with products worked out by hand, and with a naive product.

#include <algorithm>

#include <doctest/doctest.h>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/base/check.h"
#include "tests/models/array/random_tensors.h"
#include "tests/models/array/tensors.h"
#include "tests/support/property.h"

namespace orrery {

namespace {

using test::random_normalish;

using test::identical;
using test::of;

/// Multiplies lhs [rows, depth] by rhs [depth, columns], by arith.h, one element at a time.
/// Products and sums are of type Sum.
template <class Sum>
Tensor naive_matmul(const Tensor& lhs, const Tensor& rhs, Dtype preferred) {
  const int64_t rows = lhs.shape()[0];
  const int64_t depth = lhs.shape()[1];
  const int64_t columns = rhs.shape()[1];
  const auto element = [](const Tensor& tensor, int64_t place) {
    return dispatch(tensor.dtype(), [&](auto tag) {
      using E = typename decltype(tag)::type;
      return arith::convert<Sum>(tensor.as<E>()[static_cast<size_t>(place)]);
    });
  };
  Tensor result(preferred, {rows, columns});
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      Sum sum = {0};
      for (int64_t k = 0; k < depth; ++k) {
        sum = arith::add(
            sum, arith::multiply(element(lhs, i * depth + k), element(rhs, k * columns + j)));
      }
      dispatch(preferred, [&](auto tag) {
        using E = typename decltype(tag)::type;
        result.as<E>()[static_cast<size_t>(i * columns + j)] = arith::convert<E>(sum);
      });
    }
  }
  return result;
}

const DotDimensions kMatmul = {{1}, {0}, {}, {}};

/// Compares dot_general for random sizes with the naive product.
template <class Sum>
void check_against_naive(Dtype lhs, Dtype rhs, Dtype preferred) {
  test::holds_for_all("any sizes", [&] {
    const auto rows = test::in_range<int64_t>(0, 12);
    const auto depth = test::in_range<int64_t>(0, 40);
    const auto columns = test::in_range<int64_t>(0, 35);
    Random random(test::any_int<uint64_t>());
    const Tensor a = random_normalish(lhs, {rows, depth}, random);
    const Tensor b = random_normalish(rhs, {depth, columns}, random);
    RC_ASSERT(identical(dot_general(a, b, kMatmul, preferred), naive_matmul<Sum>(a, b, preferred)));
  });
}

}  // namespace

TEST_CASE("dot_general: a product of matrices") {
  // 1 2 3   1 0     1+4+9  0+2+3     14  5
  // 4 5 6 * 2 1  =  4+10+18 5+6   =  32 11
  //         3 1
  const Tensor a = of(Dtype::S32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor b = of(Dtype::S32, {3, 2}, {1, 0, 2, 1, 3, 1});
  CHECK(dot_general(a, b, kMatmul, Dtype::S32) == of(Dtype::S32, {2, 2}, {14, 5, 32, 11}));
}

TEST_CASE("dot_general: the same bits as a loop that adds products in ascending order") {
  SUBCASE("bf16, summed in f32") {
    check_against_naive<arith::F32>(Dtype::BF16, Dtype::BF16, Dtype::BF16);
  }
  SUBCASE("bf16 to f32") {
    check_against_naive<arith::F32>(Dtype::BF16, Dtype::BF16, Dtype::F32);
  }
  SUBCASE("f16") {
    check_against_naive<arith::F32>(Dtype::F16, Dtype::F16, Dtype::F16);
  }
  SUBCASE("f32") {
    check_against_naive<arith::F32>(Dtype::F32, Dtype::F32, Dtype::F32);
  }
  SUBCASE("f32 to f64") {
    check_against_naive<arith::F64>(Dtype::F32, Dtype::F32, Dtype::F64);
  }
  SUBCASE("f64") {
    check_against_naive<arith::F64>(Dtype::F64, Dtype::F64, Dtype::F64);
  }
  SUBCASE("s32") {
    check_against_naive<arith::S32>(Dtype::S32, Dtype::S32, Dtype::S32);
  }
  SUBCASE("u32") {
    check_against_naive<arith::U32>(Dtype::U32, Dtype::U32, Dtype::U32);
  }
  SUBCASE("s8 to s32") {
    check_against_naive<arith::S32>(Dtype::S8, Dtype::S8, Dtype::S32);
  }
  SUBCASE("s8") {
    check_against_naive<arith::S8>(Dtype::S8, Dtype::S8, Dtype::S8);
  }
  SUBCASE("s64") {
    check_against_naive<arith::S64>(Dtype::S64, Dtype::S64, Dtype::S64);
  }
  SUBCASE("s8 to s64") {
    check_against_naive<arith::S64>(Dtype::S8, Dtype::S8, Dtype::S64);
  }
  SUBCASE("u64") {
    check_against_naive<arith::U64>(Dtype::U64, Dtype::U64, Dtype::U64);
  }
  SUBCASE("u16") {
    check_against_naive<arith::U16>(Dtype::U16, Dtype::U16, Dtype::U16);
  }
  SUBCASE("f8e4m3fn, summed in f32") {
    check_against_naive<arith::F32>(Dtype::F8E4M3FN, Dtype::F8E4M3FN, Dtype::F8E4M3FN);
  }
  SUBCASE("f8e5m2 to f32") {
    check_against_naive<arith::F32>(Dtype::F8E5M2, Dtype::F8E5M2, Dtype::F32);
  }
  SUBCASE("u8") {
    check_against_naive<arith::U8>(Dtype::U8, Dtype::U8, Dtype::U8);
  }
}

TEST_CASE("dot_general: the order of the sum, where it decides") {
  // From the left, in f32, (2^24 + 1) + 1 = 2^24: each 1 is half a unit, and ties go to even. With
  // the two ones first, the sum is 2^24 + 2.
  const Tensor ones = of(Dtype::F32, {1, 3}, {1, 1, 1});
  const Tensor falling = of(Dtype::F32, {3, 1}, {0x1p24, 1, 1});
  CHECK(dot_general(ones, falling, kMatmul, Dtype::F32) == of(Dtype::F32, {1, 1}, {0x1p24}));
  const Tensor rising = of(Dtype::F32, {3, 1}, {1, 1, 0x1p24});
  CHECK(dot_general(ones, rising, kMatmul, Dtype::F32) == of(Dtype::F32, {1, 1}, {0x1p24 + 2}));
}

TEST_CASE("dot_general: bf16 sums are rounded once, at the end") {
  // bf16 has 8 bits, so 256 + 1 would round back to 256 each time. In f32 the sum is 258.
  const Tensor ones = of(Dtype::BF16, {1, 3}, {1, 1, 1});
  const Tensor terms = of(Dtype::BF16, {3, 1}, {256, 1, 1});
  CHECK(dot_general(ones, terms, kMatmul, Dtype::BF16) == of(Dtype::BF16, {1, 1}, {258}));
}

TEST_CASE("dot_general: multiplies and adds are not fused") {
  // The sum is 1 * -(1 + 2^-11) + (1 + 2^-12)^2. The square rounds to 1 + 2^-11 in f32; a fused
  // multiply-add would leave 2^-24.
  const Tensor a = of(Dtype::F32, {1, 2}, {1, 1 + 0x1p-12});
  const Tensor b = of(Dtype::F32, {2, 1}, {-(1 + 0x1p-11), 1 + 0x1p-12});
  CHECK(dot_general(a, b, kMatmul, Dtype::F32) == of(Dtype::F32, {1, 1}, {0}));
}

TEST_CASE("dot_general: sums begin at +0, NaN is canonical, nothing to sum is zero") {
  const Tensor minus_zero = of(Dtype::F32, {1, 1}, {-0.0});
  const Tensor one = of(Dtype::F32, {1, 1}, {1});
  CHECK(element_bits(dot_general(minus_zero, one, kMatmul, Dtype::F32), 0) == 0);
  Tensor nan(Dtype::F32, {1, 1});
  set_element_bits(nan, 0, 0xffc12345U);
  CHECK(element_bits(dot_general(nan, one, kMatmul, Dtype::F32), 0) == 0x7fc00000U);
  CHECK(dot_general(Tensor(Dtype::F32, {2, 0}), Tensor(Dtype::F32, {0, 3}), kMatmul, Dtype::F32) ==
        Tensor(Dtype::F32, {2, 3}));
}

TEST_CASE("dot_general: of pred it is or of ands") {
  const Tensor a = of(Dtype::Pred, {2, 3}, {1, 0, 1, 0, 1, 0});
  const Tensor b = of(Dtype::Pred, {3, 2}, {1, 0, 0, 0, 1, 1});
  // 1&1|0&0|1&1  1&0|0&0|1&1 / 0|1&0|0  0
  CHECK(dot_general(a, b, kMatmul, Dtype::Pred) == of(Dtype::Pred, {2, 2}, {1, 1, 0, 0}));
}

TEST_CASE("dot_general: dimensions of the result are batch, then free of lhs, then free of rhs") {
  // The operands are lhs [m=2, b=3, k=2, l=5] and rhs [l=5, n=4, k=2, b=3]; k and l are contracted,
  // and b is a batch dimension. By definition, result[b, m, n] = sum over (k, l) of lhs[m, b, k, l]
  // * rhs[l, n, k, b], where l runs fastest.
  Random random(3);
  const Tensor lhs = random_normalish(Dtype::F32, {2, 3, 2, 5}, random);
  const Tensor rhs = random_normalish(Dtype::F32, {5, 4, 2, 3}, random);
  const Tensor result = dot_general(lhs, rhs, {{2, 3}, {2, 0}, {1}, {3}}, Dtype::F32);
  REQUIRE(result.shape() == Shape({3, 2, 4}));
  for (int64_t b = 0; b < 3; ++b) {
    for (int64_t m = 0; m < 2; ++m) {
      for (int64_t n = 0; n < 4; ++n) {
        float sum = 0;
        for (int64_t k = 0; k < 2; ++k) {
          for (int64_t l = 0; l < 5; ++l) {
            const float product =
                lhs.as<float>()[static_cast<size_t>(((m * 3 + b) * 2 + k) * 5 + l)] *
                rhs.as<float>()[static_cast<size_t>(((l * 4 + n) * 2 + k) * 3 + b)];
            sum = sum + product;
          }
        }
        CHECK(result.as<float>()[static_cast<size_t>((b * 2 + m) * 4 + n)] == sum);
      }
    }
  }
}

TEST_CASE("dot_general: vectors give a scalar, and nothing contracted an outer product") {
  const Tensor a = of(Dtype::F32, {2}, {2, 3});
  const Tensor b = of(Dtype::F32, {2}, {5, 7});
  CHECK(dot_general(a, b, {{0}, {0}, {}, {}}, Dtype::F32) == of(Dtype::F32, {}, {31}));
  CHECK(dot_general(a, b, {}, Dtype::F32) == of(Dtype::F32, {2, 2}, {10, 14, 15, 21}));
  CHECK(dot_general(a, b, {{}, {}, {0}, {0}}, Dtype::F32) == of(Dtype::F32, {2}, {10, 21}));
}

TEST_CASE("dot_general: dimensions that do not fit are a bug of the caller") {
  const Tensor a(Dtype::F32, {2, 3});
  const Tensor b(Dtype::F32, {3, 2});
  CHECK_THROWS_AS(dot_general(a, b, {{0}, {0}, {}, {}}, Dtype::F32), InternalError);
  CHECK_THROWS_AS(dot_general(a, b, {{1}, {0}, {1}, {1}}, Dtype::F32), InternalError);
  CHECK_THROWS_AS(dot_general(a, b, {{1}, {}, {}, {}}, Dtype::F32), InternalError);
  CHECK_THROWS_AS(dot_general(a, b, {{2}, {0}, {}, {}}, Dtype::F32), InternalError);
  CHECK_THROWS_AS(dot_general(a, b, {{}, {}, {0}, {0}}, Dtype::F32), InternalError);
}

}  // namespace orrery
