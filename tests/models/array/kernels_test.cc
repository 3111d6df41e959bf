// Compares kernels over whole tensors with arith.h, applied to one element at a time.

#include "models/array/kernels.h"

#include <array>
#include <limits>

#include <doctest/doctest.h>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "models/array/text.h"
#include "models/base/check.h"
#include "models/base/random.h"
#include "tests/models/array/tensors.h"
#include "tests/support/property.h"

namespace orrery {

namespace {

using test::identical;
using test::kNan;
using test::of;

/// Returns elements of any bits, including NaNs and subnormals. Elements of pred are 0 or 1.
Tensor random_bits(Dtype dtype, Shape shape, Random& random) {
  if (is_complex(dtype))
    return joined(random_bits(part_dtype(dtype), test::with_parts(shape), random));
  Tensor tensor(dtype, std::move(shape));
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const uint64_t bits = random.next();
    const auto width = static_cast<unsigned>(8 * itemsize(dtype).count());
    set_element_bits(tensor, i, dtype == Dtype::Pred ? bits & 1U : bits >> (64U - width));
  }
  return tensor;
}

template <class E>
E folded(Combine combine, E x, E y) {
  if constexpr (arith::kIsOrdered<E>) {
    if (combine == Combine::Max)
      return arith::maximum(x, y);
    if (combine == Combine::Min)
      return arith::minimum(x, y);
  }
  if constexpr (arith::kIsNumber<E>)
    return arith::add(x, y);
  else
    return x;
}

bool combines(Dtype dtype, Combine combine) {
  return combine == Combine::Add ? dtype != Dtype::Pred : !is_complex(dtype);
}

/// Combines one element at a time, by arith.h alone.
Tensor combined_slowly(Combine combine, const Tensor& left, const Tensor& right) {
  Tensor result(left.dtype(), left.shape());
  dispatch(left.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    for (size_t i = 0; i < result.as<E>().size(); ++i)
      result.as<E>()[i] = folded(combine, left.as<E>()[i], right.as<E>()[i]);
  });
  return result;
}

}  // namespace

TEST_CASE("combine_into: equals arith.h element by element, in place or not, at every length") {
  for (const Dtype dtype : all_dtypes()) {
    for (const Combine combine : {Combine::Add, Combine::Max, Combine::Min}) {
      if (!combines(dtype, combine))
        continue;
      Random random(1);
      // The lengths lie around those of machine vectors, so that partial vectors are tested too.
      for (const int64_t count : {0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 64, 1000}) {
        CAPTURE(name(dtype));
        CAPTURE(static_cast<int>(combine));
        CAPTURE(count);
        const Tensor left = random_bits(dtype, {count}, random);
        const Tensor right = random_bits(dtype, {count}, random);
        const Tensor expected = combined_slowly(combine, left, right);

        Tensor apart(dtype, {count});
        combine_into(dtype, combine, apart.bytes().data(), left.bytes().data(),
                     right.bytes().data(), count);
        CHECK(identical(apart, expected));

        Tensor over_left = left;
        combine_into(dtype, combine, over_left.bytes().data(), over_left.bytes().data(),
                     right.bytes().data(), count);
        CHECK(identical(over_left, expected));

        Tensor over_right = right;
        combine_into(dtype, combine, over_right.bytes().data(), left.bytes().data(),
                     over_right.bytes().data(), count);
        CHECK(identical(over_right, expected));

        Tensor over_both = left;
        combine_into(dtype, combine, over_both.bytes().data(), over_both.bytes().data(),
                     over_both.bytes().data(), count);
        CHECK(identical(over_both, combined_slowly(combine, left, left)));
      }
    }
  }
}

TEST_CASE("combine_into: order of the operands does not matter, bit for bit") {
  for (const Dtype dtype : all_dtypes()) {
    for (const Combine combine : {Combine::Add, Combine::Max, Combine::Min}) {
      if (!combines(dtype, combine))
        continue;
      CAPTURE(name(dtype));
      Random random(2);
      const Tensor left = random_bits(dtype, {1000}, random);
      const Tensor right = random_bits(dtype, {1000}, random);
      CHECK(
          identical(combined_slowly(combine, left, right), combined_slowly(combine, right, left)));
    }
  }
}

TEST_CASE("combine_into: what is no reduction is a bug of the caller") {
  Tensor tensor(Dtype::Pred, {1});
  std::byte* data = tensor.bytes().data();
  CHECK_THROWS_AS(combine_into(Dtype::Pred, Combine::Add, data, data, data, 1), InternalError);
  CHECK_THROWS_AS(combine_into(Dtype::S8, Combine::None, data, data, data, 1), InternalError);
  CHECK_THROWS_AS(combine_into(Dtype::C64, Combine::Max, data, data, data, 0), InternalError);
  CHECK_THROWS_AS(combine_into(Dtype::C64, Combine::Min, data, data, data, 0), InternalError);
}

TEST_CASE("convert: equals arith.h element by element, between all dtypes") {
  Random random(1);
  for (const Dtype from : all_dtypes()) {
    const Tensor source = random_bits(from, {67}, random);
    for (const Dtype to : all_dtypes()) {
      CAPTURE(name(from));
      CAPTURE(name(to));
      const Tensor result = convert(source, to);
      CHECK(result.dtype() == to);
      CHECK(result.shape() == source.shape());
      int64_t wrong = 0;
      dispatch(from, [&](auto from_tag) {
        using From = typename decltype(from_tag)::type;
        dispatch(to, [&](auto to_tag) {
          using To = typename decltype(to_tag)::type;
          for (size_t i = 0; i < 67; ++i) {
            const To expected = arith::convert<To>(source.as<From>()[i]);
            if (!arith::same_bits(result.as<To>()[i], expected))
              ++wrong;
          }
        });
      });
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("full: which numbers a dtype has") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK((has_number(Dtype::S8, -128) && has_number(Dtype::S8, 127)));
  CHECK_FALSE((has_number(Dtype::S8, -129) || has_number(Dtype::S8, 128)));
  CHECK((has_number(Dtype::U8, 0) && has_number(Dtype::U8, 255)));
  CHECK_FALSE((has_number(Dtype::U8, -1) || has_number(Dtype::U8, 256)));
  CHECK((has_number(Dtype::S64, -0x1p63) && has_number(Dtype::U64, 0x1p63)));
  CHECK_FALSE((has_number(Dtype::S64, 0x1p63) || has_number(Dtype::U64, 0x1p64)));
  CHECK_FALSE((has_number(Dtype::S32, 0.5) || has_number(Dtype::S32, kNan)));
  CHECK_FALSE((has_number(Dtype::Pred, 2) || has_number(Dtype::Pred, 0.5)));
  CHECK((has_number(Dtype::F16, 65519) && has_number(Dtype::F16, 0.1)));
  CHECK_FALSE((has_number(Dtype::F16, 65520) || has_number(Dtype::F16, 1e-9)));
  CHECK((has_number(Dtype::F8E5M2, kInfinity) && has_number(Dtype::F8E5M2, kNan)));
  CHECK((has_number(Dtype::C64, 0.1) && !has_number(Dtype::C64, 1e39)));
  CHECK((has_number(Dtype::C64, {0, kNan}) && !has_number(Dtype::C64, {0, 1e39})));
  CHECK((has_number(Dtype::C128, {0, 1e39}) && !has_number(Dtype::F64, {1, 0})));
  CHECK((!has_number(Dtype::F8E4M3FN, kInfinity) && has_number(Dtype::F8E4M3FN, kNan)));
}

TEST_CASE("full: one value everywhere, converted") {
  CHECK(full(Dtype::S32, {3}, -7) == of(Dtype::S32, {-7, -7, -7}));
  CHECK(full(Dtype::BF16, {2}, 1.5) == of(Dtype::BF16, {1.5, 1.5}));
  CHECK(full(Dtype::Pred, {2}, 1).as<uint8_t>()[1] == 1);
  CHECK(full(Dtype::F16, {}, 1e6).as<uint16_t>()[0] == 0x7c00);
  CHECK(element_text(full(Dtype::C64, {2}, {0.1, -2}), 1) == "[0.1,-2]");
  CHECK(element_text(full(Dtype::C128, {}, 3), 0) == "[3,0]");
  CHECK(full(Dtype::F32, {}, -std::numeric_limits<double>::quiet_NaN()).as<uint32_t>()[0] ==
        0x7fc00000U);
}

TEST_CASE("iota: row-major counting, converted") {
  CHECK(iota(Dtype::F32, {2, 3}) == of(Dtype::F32, {0, 1, 2, 3, 4, 5}).reshaped({2, 3}));
  const Tensor wrapped = iota(Dtype::S8, {257});
  CHECK(wrapped.as<int8_t>()[127] == 127);
  CHECK(wrapped.as<int8_t>()[128] == -128);
  CHECK(wrapped.as<int8_t>()[256] == 0);
  // bf16 has 8 bits: 257 is a tie between 256 and 258, and 256 is even.
  CHECK(element_as_double(iota(Dtype::BF16, {258}), 257) == 256);
  CHECK(iota(Dtype::Pred, {3}) == of(Dtype::Pred, {0, 1, 1}));
}

TEST_CASE("small_integers: what eight of them sum to is exact in every dtype") {
  CHECK(small_integers(Dtype::Pred).high == 1);
  for (const Dtype dtype : all_dtypes()) {
    if (dtype == Dtype::Pred)
      continue;
    CAPTURE(name(dtype));
    for (const int64_t x : {small_integers(dtype).low, small_integers(dtype).high}) {
      const Tensor sum = full(dtype, {}, static_cast<double>(8 * x));
      CHECK(element_as_int64(sum, 0) == 8 * x);
    }
  }
}

}  // namespace orrery
