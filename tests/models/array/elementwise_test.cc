#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/base/check.h"
#include "models/base/random.h"
#include "tests/models/array/tensors.h"

namespace orrery {

namespace {

using test::set_element_from_double;

using test::kNan;
using test::of;

/// Returns the elements of a pred tensor as letters: "TTF".
std::string letters(const Tensor& pred) {
  std::string text;
  for (const uint8_t x : pred.as<uint8_t>())
    text += x != 0 ? 'T' : 'F';
  return text;
}

}  // namespace

TEST_CASE("elementwise: sum, difference and product") {
  const Tensor left = of(Dtype::F32, {1, 2.5, -3});
  const Tensor right = of(Dtype::F32, {4, -0.5, 7});
  CHECK(elementwise(Binary::Add, left, right) == of(Dtype::F32, {5, 2, 4}));
  CHECK(elementwise(Binary::Sub, left, right) == of(Dtype::F32, {-3, 3, -10}));
  CHECK(elementwise(Binary::Mul, left, right) == of(Dtype::F32, {4, -1.25, -21}));
  // 100 + 100 = 200 = -56 modulo 256.
  CHECK(elementwise(Binary::Add, of(Dtype::S8, {100}), of(Dtype::S8, {100})) ==
        of(Dtype::S8, {-56}));
  // f16 at 2048 has units of 2: 2048 + 1 is a tie, which goes to even.
  CHECK(elementwise(Binary::Add, of(Dtype::F16, {2048, 2050}), of(Dtype::F16, {1, 1})) ==
        of(Dtype::F16, {2048, 2052}));
}

TEST_CASE("elementwise: a product and a sum round twice, never once") {
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24. In f32 the last term is lost; a fused multiply-add would
  // keep it.
  const Tensor x = of(Dtype::F32, {1 + 0x1p-12});
  const Tensor product = elementwise(Binary::Mul, x, x);
  const Tensor rest = elementwise(Binary::Sub, product, of(Dtype::F32, {1 + 0x1p-11}));
  CHECK(rest == of(Dtype::F32, {0}));
}

TEST_CASE("div: integers truncate toward zero; by zero all bits; the smallest by -1 is itself") {
  const Tensor x = of(Dtype::S32, {7, -7, 7, -7, 5, 0, -2147483648.0, -2147483648.0});
  const Tensor y = of(Dtype::S32, {2, 2, -2, -2, 0, 0, -1, 1});
  CHECK(elementwise(Binary::Div, x, y) ==
        of(Dtype::S32, {3, -3, -3, 3, -1, -1, -2147483648.0, -2147483648.0}));
  CHECK(elementwise(Binary::Div, of(Dtype::S8, {-128, -128, 100}), of(Dtype::S8, {-1, 2, 0})) ==
        of(Dtype::S8, {-128, -64, -1}));
  CHECK(elementwise(Binary::Div, of(Dtype::U8, {200, 200, 0}), of(Dtype::U8, {3, 0, 0})) ==
        of(Dtype::U8, {66, 255, 255}));
  const Tensor large = elementwise(Binary::Div, full(Dtype::U64, {1}, 0x1p63), of(Dtype::U64, {0}));
  CHECK(element_bits(large, 0) == ~uint64_t{0});
  const Tensor least = full(Dtype::S64, {1}, -0x1p63);
  CHECK(elementwise(Binary::Div, least, of(Dtype::S64, {-1})) == least);
}

TEST_CASE("div: narrow floats have the exact quotient, rounded once") {
  for (const Dtype dtype : {Dtype::F8E4M3FN, Dtype::F8E5M2, Dtype::F16, Dtype::BF16}) {
    CAPTURE(name(dtype));
    Random random(1);
    const auto width = static_cast<unsigned>(8 * itemsize(dtype).count());
    Tensor x(dtype, {65536});
    Tensor y(dtype, {65536});
    for (int64_t i = 0; i < x.elements(); ++i) {  // of 8 bits, all pairs
      const bool is_byte = width == 8;
      set_element_bits(x, i, is_byte ? static_cast<uint64_t>(i) >> 8U : random.next() >> 48U);
      set_element_bits(y, i, is_byte ? static_cast<uint64_t>(i) & 0xffU : random.next() >> 48U);
    }
    const Tensor result = elementwise(Binary::Div, x, y);
    Tensor expected(dtype, {65536});
    for (int64_t i = 0; i < x.elements(); ++i)  // f64 has 53 bits, more than 2 * 11 + 2
      set_element_from_double(expected, i, element_as_double(x, i) / element_as_double(y, i));
    CHECK(result == expected);
  }
}

TEST_CASE("max, min: NaN wins, -0 is below +0; of pred or and and") {
  const Tensor x = of(Dtype::BF16, {1, 0, -0.0, kNan, 1});
  const Tensor y = of(Dtype::BF16, {2, -0.0, 0, 1, kNan});
  CHECK(elementwise(Binary::Max, x, y) == of(Dtype::BF16, {2, 0, 0, kNan, kNan}));
  CHECK(elementwise(Binary::Min, x, y) == of(Dtype::BF16, {1, -0.0, -0.0, kNan, kNan}));
  const Tensor p = of(Dtype::Pred, {0, 0, 1, 1});
  const Tensor q = of(Dtype::Pred, {0, 1, 0, 1});
  CHECK(letters(elementwise(Binary::Max, p, q)) == "FTTT");
  CHECK(letters(elementwise(Binary::Min, p, q)) == "FFFT");
}

TEST_CASE("neg: integers wrap, floats change their sign") {
  CHECK(elementwise(Unary::Neg, of(Dtype::S8, {5, -128})) == of(Dtype::S8, {-5, -128}));
  CHECK(elementwise(Unary::Neg, of(Dtype::U16, {1, 0})) == of(Dtype::U16, {65535, 0}));
  CHECK(elementwise(Unary::Neg, of(Dtype::F8E4M3FN, {448, 0})) ==
        of(Dtype::F8E4M3FN, {-448, -0.0}));
}

TEST_CASE("comparisons: by value, -0 as +0, false with NaN but for ne") {
  struct Row {
    Comparison op;
    std::string_view floats, integers, preds;
  };
  const Row rows[] = {
      {Comparison::Eq, "FTFTFF", "FTF", "TFFT"}, {Comparison::Ne, "TFTFTT", "TFT", "FTTF"},
      {Comparison::Lt, "TFFFFF", "TFF", "FTFF"}, {Comparison::Le, "TTFTFF", "TTF", "TTFT"},
      {Comparison::Gt, "FFTFFF", "FFT", "FFTF"}, {Comparison::Ge, "FTTTFF", "FTT", "TFTT"},
  };
  for (const Row& row : rows) {
    CAPTURE(static_cast<int>(row.op));
    for (const Dtype dtype : all_dtypes()) {
      if (!is_float(dtype))
        continue;
      CAPTURE(name(dtype));
      CHECK(letters(elementwise(row.op, of(dtype, {1, 2, 3, -0.0, kNan, kNan}),
                                of(dtype, {2, 2, 2, 0, 1, kNan}))) == row.floats);
    }
    CHECK(letters(elementwise(row.op, of(Dtype::S16, {-3, 2, 3}), of(Dtype::S16, {2, 2, 2}))) ==
          row.integers);
    // As an unsigned number, 2^63 is greater than 1.
    CHECK(letters(elementwise(row.op, of(Dtype::U64, {1, 2, 0x1p63}), of(Dtype::U64, {2, 2, 2}))) ==
          row.integers);
    CHECK(letters(elementwise(row.op, of(Dtype::Pred, {0, 0, 1, 1}),
                              of(Dtype::Pred, {0, 1, 0, 1}))) == row.preds);
  }
}

TEST_CASE("select_n: the case of each element; outside of their number the nearest") {
  const Tensor a = of(Dtype::F8E5M2, {1, 1, 1, 1, 1});
  const Tensor b = of(Dtype::F8E5M2, {2, 2, 2, 2, 2});
  const Tensor c = of(Dtype::F8E5M2, {3, 3, 3, 3, 3});
  const Tensor* const cases[] = {&a, &b, &c};
  CHECK(select_n(of(Dtype::S32, {-7, 0, 1, 2, 3}), cases) == of(Dtype::F8E5M2, {1, 1, 2, 3, 3}));
  CHECK(select_n(of(Dtype::Pred, {0, 1, 1, 0, 0}), std::span(cases, 2)) ==
        of(Dtype::F8E5M2, {1, 2, 2, 1, 1}));
  CHECK(select_n(of(Dtype::S32, {2}).reshaped({}), cases) == c);
}

TEST_CASE("elementwise: a scalar is the same element beside each of the other's") {
  const std::vector<double> numbers = {3, -1, 0, 2, 5};
  for (const Dtype dtype : all_dtypes()) {
    if (!is_signed(dtype) || is_complex(dtype))
      continue;
    CAPTURE(name(dtype));
    const Tensor x = of(dtype, numbers);
    const Tensor scalar = of(dtype, {2}).reshaped({});
    const Tensor same = of(dtype, {2, 2, 2, 2, 2});
    for (const Binary op :
         {Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Max, Binary::Min}) {
      CHECK(elementwise(op, x, scalar) == elementwise(op, x, same));
      CHECK(elementwise(op, scalar, x) == elementwise(op, same, x));
    }
    for (const Comparison op : {Comparison::Eq, Comparison::Ne, Comparison::Lt, Comparison::Le,
                                Comparison::Gt, Comparison::Ge}) {
      CHECK(elementwise(op, x, scalar) == elementwise(op, x, same));
      CHECK(elementwise(op, scalar, x) == elementwise(op, same, x));
    }
  }
  const Tensor none = elementwise(Binary::Add, Tensor(Dtype::F32, {0}), Tensor(Dtype::F32, {}));
  CHECK(none.shape() == Shape({0}));
}

TEST_CASE("select_n: a case that is a scalar stands for each element") {
  const Tensor a = of(Dtype::S32, {1, 2, 3});
  const Tensor zero = of(Dtype::S32, {0}).reshaped({});
  const Tensor* const cases[] = {&zero, &a};
  CHECK(select_n(of(Dtype::Pred, {0, 1, 1}), cases) == of(Dtype::S32, {0, 2, 3}));
  CHECK(select_n(of(Dtype::Pred, {0}).reshaped({}), cases) == of(Dtype::S32, {0, 0, 0}));
  const Tensor* const scalars[] = {&zero, &zero};
  CHECK(select_n(of(Dtype::Pred, {0, 1}), scalars) == of(Dtype::S32, {0, 0}));
}

TEST_CASE("select_n: every bit of an element is kept, of a NaN too") {
  Tensor nan(Dtype::F64, {1});
  set_element_bits(nan, 0, 0xfff0000000000001U);
  const Tensor* const cases[] = {&nan, &nan};
  CHECK(element_bits(select_n(of(Dtype::Pred, {1}), cases), 0) == 0xfff0000000000001U);
}

TEST_CASE("elementwise: operands that do not fit are a bug of the caller") {
  const Tensor tensor(Dtype::F32, {2});
  CHECK_THROWS_AS(elementwise(Binary::Add, tensor, Tensor(Dtype::F32, {3})), InternalError);
  CHECK_THROWS_AS(elementwise(Binary::Add, tensor, Tensor(Dtype::S32, {2})), InternalError);
  CHECK_THROWS_AS(elementwise(Comparison::Eq, tensor, Tensor(Dtype::S32, {2})), InternalError);
  const Tensor pred(Dtype::Pred, {2});
  CHECK_THROWS_AS(elementwise(Binary::Mul, pred, pred), InternalError);
  CHECK_THROWS_AS(elementwise(Unary::Neg, pred), InternalError);
  CHECK_THROWS_AS(elementwise(Unary::Exp, Tensor(Dtype::S32, {2})), InternalError);
}

}  // namespace orrery
