// Tests the type rules of elementwise ops and of conversions.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/program/type_table.h"

namespace orrery {
namespace {

using test::outcome;
using test::plain;
using test::type;
using test::unordered;

TEST_CASE("add, sub, mul, div: operands of one dtype and shape, and of numbers") {
  for (const OpKind kind : {OpKind::Add, OpKind::Sub, OpKind::Mul, OpKind::Div}) {
    CAPTURE(rules(kind).name);
    CHECK(outcome(kind, {plain(Dtype::S8, {2, 3}), plain(Dtype::S8, {2, 3})}) == "s8[2,3]");
    CHECK(outcome(kind, {plain(Dtype::F32, {2}), plain(Dtype::F32, {1})}) ==
          "of: expected operands of one shape, got f32[2] and f32[1]; only scalars (shape []) are "
          "broadcast");
    CHECK(
        outcome(kind, {plain(Dtype::F32, {2}), plain(Dtype::F16, {2})}) ==
        "of: expected operands of one dtype, got f32[2] and f16[2]; nothing is converted unasked");
    CHECK(outcome(kind, {plain(Dtype::Pred, {2}), plain(Dtype::Pred, {2})}) ==
          "of: expected operands of numbers, got pred");
  }
}

TEST_CASE("elementwise: a scalar goes with any shape, in any place, but not with another dtype") {
  for (const OpRules& op : all_rules()) {
    const bool two = op.elementwise && !std::holds_alternative<Unary>(*op.elementwise);
    if (!two)
      continue;
    CAPTURE(op.name);
    const std::string dtype = std::holds_alternative<Comparison>(*op.elementwise) ? "pred" : "f32";
    const ValueType scalar = plain(Dtype::F32, {});
    const ValueType shaped = plain(Dtype::F32, {2, 3});
    CHECK(outcome(op.kind, {shaped, scalar}) == dtype + "[2,3]");
    CHECK(outcome(op.kind, {scalar, shaped}) == dtype + "[2,3]");
    CHECK(outcome(op.kind, {scalar, scalar}) == dtype + "[]");
    CHECK(
        outcome(op.kind, {shaped, plain(Dtype::F16, {})}) ==
        "of: expected operands of one dtype, got f32[2,3] and f16[]; nothing is converted unasked");
  }
}

TEST_CASE("max, min: of every dtype that has an order, pred too") {
  for (const OpKind kind : {OpKind::Max, OpKind::Min}) {
    CHECK(outcome(kind, {plain(Dtype::Pred, {2}), plain(Dtype::Pred, {2})}) == "pred[2]");
    CHECK(outcome(kind, {plain(Dtype::U64, {}), plain(Dtype::U64, {})}) == "u64[]");
    CHECK(outcome(kind, {plain(Dtype::U64, {}), plain(Dtype::S64, {})}) ==
          "of: expected operands of one dtype, got u64[] and s64[]; nothing is converted unasked");
    CHECK(outcome(kind, {plain(Dtype::C64, {2}), plain(Dtype::C64, {2})}) == unordered("c64"));
  }
}

TEST_CASE("neg: of numbers; exp and its kin: of floats and complex numbers") {
  CHECK(outcome(OpKind::Neg, {plain(Dtype::U8, {2})}) == "u8[2]");
  CHECK(outcome(OpKind::Neg, {plain(Dtype::Pred, {2})}) ==
        "of: expected operands of numbers, got pred");
  for (const OpKind kind : {OpKind::Exp, OpKind::Log, OpKind::Sqrt, OpKind::Rsqrt, OpKind::Logistic,
                            OpKind::Sin, OpKind::Cos}) {
    CAPTURE(rules(kind).name);
    CHECK(outcome(kind, {plain(Dtype::F8E5M2, {2, 3})}) == "f8e5m2[2,3]");
    CHECK(outcome(kind, {plain(Dtype::C128, {2, 3})}) == "c128[2,3]");
    CHECK(outcome(kind, {plain(Dtype::S32, {2})}) ==
          "of: expected floats or complex numbers, got s32");
  }
}

TEST_CASE("real, imag: floats of complex numbers") {
  for (const OpKind kind : {OpKind::Real, OpKind::Imag}) {
    CHECK(outcome(kind, {plain(Dtype::C64, {2, 3})}) == "f32[2,3]");
    CHECK(outcome(kind, {plain(Dtype::C128, {})}) == "f64[]");
    CHECK(outcome(kind, {plain(Dtype::F32, {2})}) == "of: expected complex numbers, got f32");
  }
}

TEST_CASE("conj: complex numbers, of their floats too") {
  CHECK(outcome(OpKind::Conj, {plain(Dtype::C128, {2})}) == "c128[2]");
  CHECK(outcome(OpKind::Conj, {plain(Dtype::F32, {2})}) == "c64[2]");
  CHECK(outcome(OpKind::Conj, {plain(Dtype::BF16, {2})}) ==
        "of: expected complex numbers, or f32 or f64, got bf16");
}

TEST_CASE("complex: of two parts of one dtype, f32 or f64; a scalar goes with any shape") {
  const ValueType part = plain(Dtype::F32, {2});
  CHECK(outcome(OpKind::Complex, {part, part}) == "c64[2]");
  CHECK(outcome(OpKind::Complex, {part, plain(Dtype::F32, {})}) == "c64[2]");
  CHECK(outcome(OpKind::Complex, {plain(Dtype::F64, {}), plain(Dtype::F64, {})}) == "c128[]");
  CHECK(outcome(OpKind::Complex, {part, plain(Dtype::F64, {2})}) ==
        "of: expected operands of one dtype, got f32[2] and f64[2]; nothing is converted unasked");
  CHECK(outcome(OpKind::Complex, {plain(Dtype::F16, {2}), plain(Dtype::F16, {2})}) ==
        "of: expected parts of f32 or f64, got f16");
  CHECK(outcome(OpKind::Complex, {plain(Dtype::C64, {2}), plain(Dtype::C64, {2})}) ==
        "of: expected parts of f32 or f64, got c64");
}

TEST_CASE("real, imag, conj, complex: linear, so unreduced sums stay unreduced") {
  const Mesh mesh({{"x", 2}});
  const ValueType sum = type(Dtype::C64, {2}, "U");
  for (const OpKind kind : {OpKind::Real, OpKind::Imag})
    CHECK(test::outcome(mesh, kind, {sum}, {}) == "f32[2]{U:x}");
  CHECK(test::outcome(mesh, OpKind::Conj, {sum}, {}) == "c64[2]{U:x}");
  const ValueType part = type(Dtype::F32, {2}, "U");
  CHECK(test::outcome(mesh, OpKind::Complex, {part, part}, {}) == "c64[2]{U:x}");
}

TEST_CASE("eq, ne: of complex numbers too; lt, le, gt, ge need an order") {
  const ValueType z = plain(Dtype::C64, {2});
  for (const OpKind kind : {OpKind::Eq, OpKind::Ne})
    CHECK(outcome(kind, {z, z}) == "pred[2]");
  for (const OpKind kind : {OpKind::Lt, OpKind::Le, OpKind::Gt, OpKind::Ge})
    CHECK(outcome(kind, {z, z}) == unordered("c64"));
}

TEST_CASE("eq, ne, lt, le, gt, ge: pred of any two of one dtype and shape") {
  for (const OpKind kind :
       {OpKind::Eq, OpKind::Ne, OpKind::Lt, OpKind::Le, OpKind::Gt, OpKind::Ge}) {
    CAPTURE(rules(kind).name);
    CHECK(outcome(kind, {plain(Dtype::F32, {2}), plain(Dtype::F32, {2})}) == "pred[2]");
    CHECK(outcome(kind, {plain(Dtype::Pred, {2}), plain(Dtype::Pred, {2})}) == "pred[2]");
    CHECK(outcome(kind, {plain(Dtype::F32, {2}), plain(Dtype::F32, {3})}) ==
          "of: expected operands of one shape, got f32[2] and f32[3]; only scalars (shape []) are "
          "broadcast");
  }
}

TEST_CASE("select_n: pred or s32 selects the case, for the whole or element by element") {
  const ValueType one = plain(Dtype::F32, {2});
  CHECK(outcome(OpKind::SelectN, {plain(Dtype::Pred, {2}), one, one}) == "f32[2]");
  CHECK(outcome(OpKind::SelectN, {plain(Dtype::S32, {}), one, one, one, one}) == "f32[2]");
  CHECK(outcome(OpKind::SelectN, {plain(Dtype::Pred, {2}), one}) == "f32[2]");
  CHECK(outcome(OpKind::SelectN, {plain(Dtype::Pred, {2}), one, one, one}) ==
        "of: expected at most 2 cases to be told apart by pred, got 3");
  CHECK(outcome(OpKind::SelectN, {plain(Dtype::S64, {2}), one, one}) ==
        "of: expected a first operand of pred or s32, which says the case, got s64");
  CHECK(outcome(OpKind::SelectN, {plain(Dtype::Pred, {3}), one, one}) ==
        "of: expected a first operand that is a scalar or of the shape of the cases, [2], got [3]");
  CHECK(outcome(OpKind::SelectN, {plain(Dtype::Pred, {2}), one, plain(Dtype::F16, {2})}) ==
        "of: expected operands of one dtype, got f32[2] and f16[2]; nothing is converted unasked");
}

TEST_CASE("select_n: a case may be a scalar, all of them too") {
  const ValueType shaped = plain(Dtype::F32, {2});
  const ValueType scalar = plain(Dtype::F32, {});
  CHECK(outcome(OpKind::SelectN, {plain(Dtype::Pred, {2}), scalar, shaped}) == "f32[2]");
  CHECK(outcome(OpKind::SelectN, {plain(Dtype::Pred, {}), shaped, scalar}) == "f32[2]");
  CHECK(outcome(OpKind::SelectN, {plain(Dtype::Pred, {3}), scalar, scalar}) == "f32[3]");
  CHECK(outcome(OpKind::SelectN, {plain(Dtype::Pred, {3}), scalar, shaped}) ==
        "of: expected a first operand that is a scalar or of the shape of the cases, [2], got [3]");
}

TEST_CASE("convert_element_type: among floats linear, so unreduced sums stay unreduced") {
  const Mesh mesh({{"x", 2}});
  const auto to = [&](Dtype from, Dtype dtype) {
    return test::outcome(mesh, OpKind::ConvertElementType, {type(from, {2}, "U")},
                         {{"new_dtype", dtype}});
  };
  CHECK(to(Dtype::F32, Dtype::BF16) == "bf16[2]{U:x}");
  CHECK(to(Dtype::C64, Dtype::F64) == "f64[2]{U:x}");
  CHECK(to(Dtype::F32, Dtype::S32) ==
        "of: expected no operand that is unreduced over x, got f32[2]{U:x}; psum over x makes it "
        "invarying");
  CHECK(to(Dtype::S64, Dtype::F32) ==
        "of: expected no operand that is unreduced over x, got s64[2]{U:x}; psum over x makes it "
        "invarying");
}

TEST_CASE("convert_element_type: the dtype changes, the shape does not") {
  CHECK(outcome(OpKind::ConvertElementType, {plain(Dtype::Pred, {2, 3})},
                {{"new_dtype", Dtype::F16}}) == "f16[2,3]");
}
}  // namespace
}  // namespace orrery
