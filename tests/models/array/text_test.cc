#include "models/array/text.h"

#include <array>
#include <limits>

#include <doctest/doctest.h>

#include "models/array/kernels.h"
#include "models/base/check.h"
#include "tests/models/array/tensors.h"
#include "tests/support/property.h"

namespace orrery {

namespace {

using test::set_element_from_double;

Tensor with_bits(Dtype dtype, uint64_t bits) {
  Tensor tensor(dtype, {1});
  set_element_bits(tensor, 0, bits);
  return tensor;
}

}  // namespace

TEST_CASE("element_text: the shortest text of each dtype") {
  struct Row {
    Dtype dtype;
    uint64_t bits;
    std::string_view text;
  };
  const std::array<Row, 40> rows = {{
      {Dtype::Pred, 0, "false"},
      {Dtype::Pred, 1, "true"},
      {Dtype::S8, 0x80, "-128"},
      {Dtype::U8, 0xff, "255"},
      {Dtype::S32, 0xffffffff, "-1"},
      {Dtype::U32, 0xffffffff, "4294967295"},
      {Dtype::F16, 0x0000, "0"},
      {Dtype::F16, 0x8000, "-0"},
      {Dtype::F16, 0x3c00, "1"},
      {Dtype::F16, 0x2e66, "0.1"},     // 1638 * 2^-14 = 0.09998
      {Dtype::F16, 0x3555, "0.3333"},  // 1365/4096 = 0.33325; units of 2^-12 = 0.00024
      {Dtype::F16, 0x7bff, "65500"},   // 65504; units of 32
      {Dtype::F16, 0x0001, "6e-08"},   // 5.96e-8
      {Dtype::F16, 0x7c00, "Infinity"},
      {Dtype::F16, 0xfc00, "-Infinity"},
      {Dtype::F16, 0xfc01, "NaN"},
      {Dtype::BF16, 0x3dcd, "0.1"},       // 0.10009765625
      {Dtype::BF16, 0x7f7f, "3.39e+38"},  // 3.3895e38; units of 1.3e36
      {Dtype::BF16, 0xc2c8, "-100"},
      {Dtype::F32, 0x3dcccccd, "0.1"},
      {Dtype::F32, 0x7f7fffff, "3.4028235e+38"},
      {Dtype::F32, 0x80000001, "-1e-45"},
      {Dtype::F32, 0x4b800000, "16777216"},
      {Dtype::F32, 0xffffffff, "NaN"},
      {Dtype::F64, 0x3fb999999999999a, "0.1"},
      {Dtype::F64, 0x7fefffffffffffff, "1.7976931348623157e+308"},
      {Dtype::F64, 0x0000000000000001, "5e-324"},
      {Dtype::F64, 0xfff0000000000000, "-Infinity"},
      {Dtype::S16, 0x8000, "-32768"},
      {Dtype::U16, 0xffff, "65535"},
      {Dtype::S64, 0x8000000000000000, "-9223372036854775808"},
      {Dtype::S64, 0x0020000000000001, "9007199254740993"},  // 2^53 + 1
      {Dtype::U64, 0xffffffffffffffff, "18446744073709551615"},
      {Dtype::F8E4M3FN, 0x7e, "450"},    // 448; units of 32, and 400 is 12.5 of them
      {Dtype::F8E4M3FN, 0x01, "0.002"},  // 2^-9 = 0.00195
      {Dtype::F8E4M3FN, 0xb8, "-1"},
      {Dtype::F8E4M3FN, 0xff, "NaN"},
      {Dtype::F8E5M2, 0x7b, "60000"},  // 57344; units of 8192
      {Dtype::F8E5M2, 0xfc, "-Infinity"},
      {Dtype::F8E5M2, 0x7d, "NaN"},
  }};
  for (const Row& row : rows) {
    CAPTURE(name(row.dtype));
    CAPTURE(row.bits);
    CHECK(element_text(with_bits(row.dtype, row.bits), 0) == row.text);
  }
}

TEST_CASE("parse_element: reads back what element_text wrote") {
  SUBCASE("all patterns of the narrow floats") {
    for (const Dtype dtype : {Dtype::F16, Dtype::BF16, Dtype::F8E4M3FN, Dtype::F8E5M2}) {
      int64_t wrong = 0;
      const uint64_t patterns = uint64_t{1} << (8 * itemsize(dtype).count());
      for (uint64_t bits = 0; bits < patterns; ++bits) {
        const Tensor tensor = with_bits(dtype, bits);
        Tensor read(dtype, {1});
        if (!parse_element(element_text(tensor, 0), read, 0) || !(read == tensor))
          ++wrong;
      }
      CAPTURE(name(dtype));
      CHECK(wrong == 0);
    }
  }
  SUBCASE("any pattern of the others") {
    test::holds_for_all("dtype and bits", [] {
      const auto which = test::in_range<size_t>(1, all_dtypes().size());
      const auto word = test::any_int<uint64_t>();
      const Dtype dtype = all_dtypes()[which];
      const Dtype part = part_dtype(dtype);
      const auto width = static_cast<unsigned>(8 * itemsize(part).count());
      Tensor tensor = with_bits(part, word >> (64U - width));
      if (is_complex(dtype)) {
        const auto other = test::any_int<uint64_t>();
        const Tensor im = with_bits(part, other >> (64U - width));
        tensor = complex(tensor, im);
      }
      Tensor read(dtype, {1});
      RC_ASSERT(parse_element(element_text(tensor, 0), read, 0));
      RC_ASSERT(read == tensor);
    });
  }
}

TEST_CASE("element_text, parse_element: both parts of a complex number") {
  const Tensor z = test::complex_numbers(Dtype::C64, {{0.1, -0.0}, {test::kNan, test::kInf}});
  CHECK(element_text(z, 0) == "[0.1,-0]");
  CHECK(element_text(z, 1) == "[NaN,Infinity]");
  Tensor read(Dtype::C128, {1});
  CHECK(parse_element("[1.5,-2]", read, 0));
  CHECK(read == test::complex_numbers(Dtype::C128, {{1.5, -2}}));
  for (const std::string_view text :
       {"1", "[1]", "[1,2", "1,2]", "[,2]", "[1,]", "[1,2,3]", "[]", "[1,1e999]"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_element(text, read, 0));
  }
  CHECK(read == test::complex_numbers(Dtype::C128, {{1.5, -2}}));
  // The bits of complex elements are those of the parts.
  CHECK(joined(parts(z)) == z);
  CHECK(parts(z) ==
        test::of(Dtype::F32, {2, 2}, {static_cast<double>(0.1F), -0.0, test::kNan, test::kInf}));
  CHECK_THROWS_AS(element_bits(z, 0), InternalError);
  CHECK_THROWS_AS(set_element_bits(read, 0, 1), InternalError);
}

TEST_CASE("parse_element: other spellings of numbers, rounded to nearest even") {
  struct Row {
    Dtype dtype;
    std::string_view text;
    uint64_t bits;
  };
  const std::array<Row, 12> rows = {{
      {Dtype::Pred, "1", 1},
      {Dtype::Pred, "0", 0},
      {Dtype::F32, "1e0", 0x3f800000},
      {Dtype::F32, "0.10", 0x3dcccccd},
      {Dtype::F32, "0e99999", 0},
      {Dtype::F32, "NaN", 0x7fc00000},
      {Dtype::F32, "-0.0", 0x80000000},
      // 1 + 2^-24 is a tie. A little more is no tie, though the nearest double is still the tie.
      {Dtype::F32, "1.000000059604644775390625", 0x3f800000},
      {Dtype::F32, "1.00000005960464477539062500001", 0x3f800001},
      {Dtype::F16, "65519", 0x7bff},
      {Dtype::S8, "-128", 0x80},
      {Dtype::S8, "007", 7},
  }};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    Tensor tensor(row.dtype, {1});
    CHECK(parse_element(row.text, tensor, 0));
    CHECK(element_bits(tensor, 0) == row.bits);
  }
}

TEST_CASE("parse_element: refuses what is no value of the dtype, and changes nothing") {
  struct Row {
    Dtype dtype;
    std::string_view text;
  };
  const std::array<Row, 42> rows = {{
      {Dtype::Pred, ""},
      {Dtype::Pred, "2"},
      {Dtype::Pred, "True"},
      {Dtype::S8, "128"},
      {Dtype::S8, "-129"},
      {Dtype::S8, "1.0"},
      {Dtype::S8, ""},
      {Dtype::S8, "+1"},
      {Dtype::S8, "1 "},
      {Dtype::S8, " 1"},
      {Dtype::S8, "0x1"},
      {Dtype::S8, "NaN"},
      {Dtype::U8, "-1"},
      {Dtype::U8, "256"},
      {Dtype::U32, "4294967296"},
      {Dtype::S32, "2147483648"},
      {Dtype::F32, ""},
      {Dtype::F32, "nan"},
      {Dtype::F32, "inf"},
      {Dtype::F32, "infinity"},
      {Dtype::F32, "+Infinity"},
      {Dtype::F32, "+1"},
      {Dtype::F32, "0x1p3"},
      {Dtype::F32, "1f"},
      {Dtype::F32, "1,5"},
      {Dtype::F32, "1e39"},
      {Dtype::F32, "1e-46"},
      {Dtype::F64, "1e309"},
      {Dtype::F64, "-1e400"},
      {Dtype::F64, "1e-400"},
      {Dtype::F16, "65520"},
      {Dtype::F16, "0.00000001"},
      {Dtype::BF16, "3.4e38"},
      {Dtype::S16, "32768"},
      {Dtype::U16, "65536"},
      {Dtype::S64, "9223372036854775808"},
      {Dtype::U64, "18446744073709551616"},
      {Dtype::U64, "-1"},
      {Dtype::F8E4M3FN, "465"},
      {Dtype::F8E4M3FN, "Infinity"},
      {Dtype::F8E4M3FN, "0.0009"},
      {Dtype::F8E5M2, "61440"},
  }};
  for (const Row& row : rows) {
    CAPTURE(name(row.dtype));
    CAPTURE(row.text);
    Tensor tensor(row.dtype, {1});
    set_element_bits(tensor, 0, 1);
    CHECK_FALSE(parse_element(row.text, tensor, 0));
    CHECK(element_bits(tensor, 0) == 1);
  }
}

TEST_CASE("elements as numbers: rounded, saturated, exact where they fit") {
  Tensor tensor(Dtype::F16, {3});
  set_element_from_double(tensor, 0, 2049);  // a tie of f16: even
  set_element_from_int64(tensor, 1, 2051);
  set_element_from_double(tensor, 2, -std::numeric_limits<double>::infinity());
  CHECK(element_as_double(tensor, 0) == 2048);
  CHECK(element_as_double(tensor, 1) == 2052);
  CHECK(element_as_int64(tensor, 1) == 2052);
  CHECK(element_as_int64(tensor, 2) == std::numeric_limits<int64_t>::min());

  Tensor integers(Dtype::U32, {1});
  set_element_from_int64(integers, 0, 4294967295);
  CHECK(element_as_int64(integers, 0) == 4294967295);
  CHECK(element_as_double(integers, 0) == 4294967295.0);
  set_element_from_double(integers, 0, 1e20);
  CHECK(element_as_int64(integers, 0) == 4294967295);
  set_element_from_int64(integers, 0, -1);  // wraps
  CHECK(element_as_int64(integers, 0) == 4294967295);
}

TEST_CASE("elements as bits: of the element's width, inside the tensor") {
  Tensor tensor(Dtype::F64, {2});
  set_element_bits(tensor, 1, 0xfff0000000000001U);
  CHECK(element_bits(tensor, 1) == 0xfff0000000000001U);
  CHECK(element_bits(tensor, 0) == 0);
  CHECK_THROWS_AS(element_bits(tensor, 2), InternalError);
  CHECK_THROWS_AS(element_bits(tensor, -1), InternalError);
  Tensor narrow(Dtype::S8, {1});
  CHECK_THROWS_AS(set_element_bits(narrow, 0, 256), InternalError);
  set_element_bits(narrow, 0, 255);
  CHECK(element_as_int64(narrow, 0) == -1);
}

}  // namespace orrery
