#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/program/type_table.h"

namespace orrery {
namespace {

using test::Given;
using test::Lists;
using test::Names;
using test::Numbers;
using test::type;

ValueType plain(Dtype dtype, Shape shape) {
  return type(dtype, std::move(shape), "");
}

/// On a mesh without axes, where states say nothing.
std::string outcome(OpKind kind, const std::vector<ValueType>& operands, Given given = {}) {
  return test::outcome(Mesh(), kind, operands, given);
}

Cost cost(OpKind kind, const std::vector<ValueType>& operands, Given given = {}) {
  const Attributes attributes = test::attributes_of(kind, given);
  const Mesh mesh;
  const auto results = std::get<std::vector<ValueType>>(
      rules(kind).type({mesh, Checks::States, attributes, operands, 1}));
  return rules(kind).cost(attributes, operands, results);
}

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

TEST_CASE("elementwise: a scalar is one element to read, the result decides the operations") {
  // 6 elements: 6 operations; 4 B of the scalar, 24 B of the other, 24 B written.
  const Cost sum = cost(OpKind::Add, {plain(Dtype::F32, {}), plain(Dtype::F32, {2, 3})});
  CHECK(sum.flops == Flops(6));
  CHECK(sum.bytes == Bytes(4 + 24 + 24));
}

/// The refusal of what needs an order.
std::string unordered(std::string_view dtype) {
  return "of: expected elements that have an order, got " + std::string(dtype) +
         "; complex numbers have none";
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

TEST_CASE("convert_element_type: the dtype changes, the shape does not") {
  CHECK(outcome(OpKind::ConvertElementType, {plain(Dtype::Pred, {2, 3})},
                {{"new_dtype", Dtype::F16}}) == "f16[2,3]");
}

TEST_CASE("reshape: as many elements as before") {
  const ValueType operand = plain(Dtype::F32, {2, 6});
  CHECK(outcome(OpKind::Reshape, {operand}, {{"new_sizes", Numbers{3, 4}}}) == "f32[3,4]");
  CHECK(outcome(OpKind::Reshape, {operand}, {{"new_sizes", Numbers{3, 5}}}) ==
        "new_sizes: expected sizes of 12 elements, as [2,6] has, got [3,5]");
  CHECK(outcome(OpKind::Reshape, {plain(Dtype::F32, {})}, {{"new_sizes", Numbers{1}}}) == "f32[1]");
}

TEST_CASE("transpose: dimension d of the result is dimension permutation[d]") {
  const ValueType operand = plain(Dtype::F32, {2, 3, 4});
  CHECK(outcome(OpKind::Transpose, {operand}, {{"permutation", Numbers{2, 0, 1}}}) == "f32[4,2,3]");
  for (const Numbers& wrong :
       {Numbers{0, 1}, Numbers{0, 0, 1}, Numbers{0, 1, 3}, Numbers{0, 1, 2, 2}})
    CHECK(outcome(OpKind::Transpose, {operand}, {{"permutation", wrong}})
              .starts_with("permutation: expected each dimension of [2,3,4] once, got ["));
}

TEST_CASE("slice: ceil((limit - start) / stride) elements of each dimension") {
  const ValueType operand = plain(Dtype::F32, {10, 7});
  // (9 - 2) / 3 rounded up is 3; without strides it is limit - start.
  CHECK(outcome(OpKind::Slice, {operand},
                {{"start_indices", Numbers{2, 0}},
                 {"limit_indices", Numbers{9, 7}},
                 {"strides", Numbers{3, 1}}}) == "f32[3,7]");
  CHECK(outcome(OpKind::Slice, {operand},
                {{"start_indices", Numbers{2, 7}}, {"limit_indices", Numbers{2, 7}}}) ==
        "f32[0,0]");
}

TEST_CASE("slice: bounds outside the operand are refused") {
  const auto slice = [](Numbers start, Numbers limit, Numbers strides) {
    return outcome(OpKind::Slice, {plain(Dtype::F32, {10})},
                   {{"start_indices", start}, {"limit_indices", limit}, {"strides", strides}});
  };
  CHECK(slice({0}, {11}, {1}) == "limit_indices: expected at most 10 in dimension 0, got 11");
  CHECK(slice({5}, {4}, {1}) ==
        "start_indices: expected at most the limit 4 in dimension 0, got 5");
  CHECK(slice({0}, {4}, {0}) == "strides: expected at least 1 in dimension 0, got 0");
  CHECK(slice({0, 0}, {4}, {1}) ==
        "start_indices: expected 1 numbers, one per dimension of [10], got [0,0]");
  CHECK(slice({0}, {}, {1}) ==
        "limit_indices: expected 1 numbers, one per dimension of [10], got []");
  CHECK(slice({0}, {4}, {1, 1}) ==
        "strides: expected 1 numbers, one per dimension of [10], got [1,1]");
}

TEST_CASE("concatenate: extents add up along the dimension") {
  CHECK(outcome(OpKind::Concatenate,
                {plain(Dtype::F32, {2, 3}), plain(Dtype::F32, {2, 1}), plain(Dtype::F32, {2, 0})},
                {{"dimension", 1}}) == "f32[2,4]");
  CHECK(outcome(OpKind::Concatenate, {plain(Dtype::F32, {2, 3}), plain(Dtype::F32, {3, 3})},
                {{"dimension", 1}}) ==
        "of: expected parts of one dtype, and of one shape but for dimension 1, got f32[2,3] and "
        "f32[3,3]");
  CHECK(outcome(OpKind::Concatenate, {plain(Dtype::F32, {2, 3}), plain(Dtype::F32, {2})},
                {{"dimension", 1}}) ==
        "of: expected parts of one dtype, and of one shape but for dimension 1, got f32[2,3] and "
        "f32[2]");
  CHECK(outcome(OpKind::Concatenate, {plain(Dtype::F32, {2, 3})}, {{"dimension", 2}}) ==
        "dimension: expected a dimension from 0 to 1, got 2");
}

TEST_CASE("split: a part of each size along the axis") {
  const ValueType operand = plain(Dtype::BF16, {2, 6});
  CHECK(outcome(OpKind::Split, {operand}, {{"sizes", Numbers{1, 0, 5}}, {"axis", 1}}) ==
        "bf16[2,1], bf16[2,0], bf16[2,5]");
  CHECK(outcome(OpKind::Split, {operand}, {{"sizes", Numbers{1, 1}}}) == "bf16[1,6], bf16[1,6]");
  CHECK(outcome(OpKind::Split, {operand}, {{"sizes", Numbers{6}}, {"axis", -1}}) == "bf16[2,6]");
}

TEST_CASE(
    "split: sizes that leave something over, and dimensions that are not there, are refused") {
  const ValueType operand = plain(Dtype::F32, {2, 6});
  CHECK(outcome(OpKind::Split, {operand}, {{"sizes", Numbers{1, 4}}, {"axis", 1}}) ==
        "sizes: expected sizes that add up to 6, dimension 1 of [2,6], got [1,4]");
  CHECK(outcome(OpKind::Split, {plain(Dtype::F32, {0})}, {{"sizes", Numbers{}}}) ==
        "sizes: expected sizes that add up to 0, dimension 0 of [0], got []");
  CHECK(outcome(OpKind::Split, {operand}, {{"sizes", Numbers{6}}, {"axis", 2}}) ==
        "axis: expected a dimension from -2 to 1, got 2");
  CHECK(outcome(OpKind::Split, {operand}, {{"sizes", Numbers{6}}, {"axis", -3}}) ==
        "axis: expected a dimension from -2 to 1, got -3");
  CHECK(outcome(OpKind::Split, {plain(Dtype::F32, {})}, {{"sizes", Numbers{1}}}) ==
        "axis: expected an operand with dimensions, got a scalar");
}

TEST_CASE("optimization_barrier: each result is as its operand, and varies where another does") {
  CHECK(outcome(OpKind::OptimizationBarrier, {plain(Dtype::F32, {2, 3}), plain(Dtype::S32, {})}) ==
        "f32[2,3], s32[]");
  const std::string states =
      test::outcome(Mesh({{"x", 2}, {"y", 2}}), OpKind::OptimizationBarrier,
                    {type(Dtype::F32, {}, "VU"), type(Dtype::F32, {}, "RI")}, {});
  CHECK(states == "f32[]{V:x, U:y}, f32[]{V:x}");
}

TEST_CASE("pad: low + extent + high, and the interior between") {
  const auto pad = [](Lists config) {
    return outcome(OpKind::Pad, {plain(Dtype::F32, {4, 3}), plain(Dtype::F32, {})},
                   {{"padding_config", config}});
  };
  // 4 + 2 * 3 between + 1 + 1 = 12; 3 - 1 - 2 = 0.
  CHECK(pad({{1, 1, 2}, {-1, -2, 0}}) == "f32[12,0]");
  CHECK(pad({{1, 1, 2}}) ==
        "padding_config: expected 2 entries, one per dimension of [4,3], got 1");
  CHECK(pad({{1, 1, 2}, {0, 0}}) ==
        "padding_config: expected [low, high, interior] for dimension 1, got [0,0]");
  CHECK(pad({{1, 1, -1}, {0, 0, 0}}) ==
        "padding_config: expected an interior of at least 0 for dimension 0, got -1");
  CHECK(pad({{0, 0, 0}, {-2, -2, 0}}) ==
        "padding_config: expected to take off no more than dimension 1 has, got [-2,-2,0] from an "
        "extent of 3, which leaves -1");
  CHECK(pad({{INT64_MIN, 0, 0}, {0, 0, 0}}) ==
        "padding_config: expected numbers from -2^60 to 2^60 for dimension 0, got "
        "[-9223372036854775808,0,0]");
  CHECK(outcome(OpKind::Pad, {plain(Dtype::F32, {4}), plain(Dtype::F16, {})},
                {{"padding_config", Lists{{0, 0, 0}}}}) ==
        "of: expected a scalar of f32 to pad with, got f16[]");
}

TEST_CASE("broadcast_in_dim: extents of 1 and new dimensions are repeated") {
  const auto broadcast = [](Numbers shape, Numbers dimensions) {
    return outcome(OpKind::BroadcastInDim, {plain(Dtype::BF16, {1, 3})},
                   {{"shape", shape}, {"broadcast_dimensions", dimensions}});
  };
  CHECK(broadcast({5, 2, 3}, {0, 2}) == "bf16[5,2,3]");
  CHECK(broadcast({1, 3}, {0, 1}) == "bf16[1,3]");
  CHECK(broadcast({5, 2, 3}, {0}) ==
        "broadcast_dimensions: expected 2 numbers, one per dimension of [1,3], got [0]");
  CHECK(broadcast({5, 2, 3}, {0, 3}) ==
        "broadcast_dimensions: expected dimensions of [5,2,3], got 3");
  CHECK(broadcast({5, 2, 3}, {2, 0}) ==
        "broadcast_dimensions: expected ascending dimensions, got [2,0]");
  CHECK(broadcast({1, 3}, {1, 1}) ==
        "broadcast_dimensions: expected ascending dimensions, got [1,1]");
  CHECK(broadcast({5, 2, 3}, {0, 1}) ==
        "broadcast_dimensions: expected an extent of 1 or 2 (dimension 1 of [5,2,3]), got 3 "
        "(dimension 1 of [1,3])");
}

TEST_CASE("reductions: the axes go, the dtype stays") {
  for (const OpKind kind : {OpKind::ReduceSum, OpKind::ReduceMax, OpKind::ReduceMin}) {
    CAPTURE(rules(kind).name);
    const ValueType operand = plain(Dtype::BF16, {2, 3, 4});
    CHECK(outcome(kind, {operand}, {{"axes", Numbers{2, 0}}}) == "bf16[3]");
    CHECK(outcome(kind, {operand}, {{"axes", Numbers{}}}) == "bf16[2,3,4]");
    CHECK(outcome(kind, {operand}, {{"axes", Numbers{1, 1}}}) ==
          "axes: expected each dimension once, got [1,1]");
    CHECK(outcome(kind, {operand}, {{"axes", Numbers{3}}}) ==
          "axes: expected a dimension from 0 to 2, got 3");
  }
  CHECK(outcome(OpKind::ReduceMax, {plain(Dtype::Pred, {2})}, {{"axes", Numbers{0}}}) == "pred[]");
  CHECK(outcome(OpKind::ReduceSum, {plain(Dtype::C64, {2})}, {{"axes", Numbers{0}}}) == "c64[]");
  for (const OpKind kind : {OpKind::ReduceMax, OpKind::ReduceMin})
    CHECK(outcome(kind, {plain(Dtype::C64, {2})}, {{"axes", Numbers{0}}}) == unordered("c64"));
  CHECK(outcome(OpKind::ReduceSum, {plain(Dtype::Pred, {2})}, {{"axes", Numbers{0}}}) ==
        "of: expected an operand of numbers, got pred");
}

TEST_CASE("dynamic_slice: a start index for each dimension, and sizes that fit") {
  const ValueType array = plain(Dtype::F32, {10, 7});
  const ValueType start = plain(Dtype::S32, {});
  const auto slice = [](const std::vector<ValueType>& operands, Numbers sizes) {
    return outcome(OpKind::DynamicSlice, operands, {{"slice_sizes", sizes}});
  };
  CHECK(slice({array, start, start}, {3, 7}) == "f32[3,7]");
  CHECK(slice({plain(Dtype::F32, {})}, {}) == "f32[]");
  CHECK(slice({array, start}, {3, 7}) ==
        "of: expected 2 start indices after the array, one per dimension of [10,7], got 1");
  CHECK(slice({array, start, plain(Dtype::F32, {})}, {3, 7}) ==
        "of: expected start indices that are integer scalars (s32[]), got f32[]");
  CHECK(slice({array, start, plain(Dtype::S32, {1})}, {3, 7}) ==
        "of: expected start indices that are integer scalars (s32[]), got s32[1]");
  CHECK(slice({array, start, start}, {3}) ==
        "slice_sizes: expected 2 numbers, one per dimension of [10,7], got [3]");
  CHECK(slice({array, start, start}, {3, 8}) ==
        "slice_sizes: expected at most 7 in dimension 1, got 8");
}

TEST_CASE("dynamic_update_slice: the array's type, of an update no larger") {
  const ValueType array = plain(Dtype::F32, {10, 7});
  const ValueType start = plain(Dtype::S32, {});
  const auto update = [&](const ValueType& part) {
    return outcome(OpKind::DynamicUpdateSlice, {array, part, start, start});
  };
  CHECK(update(plain(Dtype::F32, {3, 7})) == "f32[10,7]");
  CHECK(update(plain(Dtype::F32, {3, 8})) ==
        "of: expected an update of the operand's dtype and rank, and in no dimension larger, got "
        "f32[3,8] for f32[10,7]");
  CHECK(update(plain(Dtype::F32, {3, 7, 1})) ==
        "of: expected an update of the operand's dtype and rank, and in no dimension larger, got "
        "f32[3,7,1] for f32[10,7]");
  CHECK(update(plain(Dtype::F16, {3, 7})) ==
        "of: expected an update of the operand's dtype and rank, and in no dimension larger, got "
        "f16[3,7] for f32[10,7]");
  CHECK(outcome(OpKind::DynamicUpdateSlice, {array, array, start}) ==
        "of: expected 2 start indices after both arrays, one per dimension of [10,7], got 1");
}

TEST_CASE("take: the dimensions of the indices stand where the axis was") {
  const ValueType table = plain(Dtype::BF16, {100, 8});
  const auto taken = [&](const ValueType& indices, int64_t axis, const std::string& mode) {
    return outcome(OpKind::Take, {table, indices}, {{"axis", axis}, {"mode", mode}});
  };
  CHECK(taken(plain(Dtype::S32, {2, 5}), 0, "fill") == "bf16[2,5,8]");
  CHECK(taken(plain(Dtype::U8, {}), 1, "clip") == "bf16[100]");
  CHECK(taken(plain(Dtype::S32, {2}), 2, "clip") ==
        "axis: expected a dimension from 0 to 1, got 2");
  CHECK(taken(plain(Dtype::F32, {2}), 0, "clip") ==
        "of: expected indices that are integers, got f32[2]");
  CHECK(outcome(OpKind::Take, {plain(Dtype::F32, {0, 8}), plain(Dtype::S32, {2})},
                {{"axis", 0}, {"mode", "clip"}}) ==
        "of: expected rows along dimension 0, got f32[0,8]");
}

TEST_CASE("iota: a dimension of its shape") {
  const auto iota = [](Dtype dtype, Numbers shape, int64_t dimension) {
    return outcome(OpKind::Iota, {},
                   {{"dtype", dtype}, {"shape", shape}, {"dimension", dimension}});
  };
  CHECK(iota(Dtype::S32, {2, 3}, 1) == "s32[2,3]");
  CHECK(iota(Dtype::S32, {2, 3}, 2) == "dimension: expected a dimension from 0 to 1, got 2");
  CHECK(iota(Dtype::S32, {}, 0) == "shape: expected a shape with dimensions, got []");
  CHECK(iota(Dtype::Pred, {2}, 0) == "dtype: expected a dtype of numbers, got pred");
}

TEST_CASE("full: the shape and dtype of its parameters") {
  CHECK(outcome(OpKind::Full, {},
                {{"shape", Numbers{2, 3}}, {"fill_value", 2.0}, {"dtype", Dtype::S32}}) ==
        "s32[2,3]");
}

TEST_CASE("compute: a result only with a shape") {
  const Given without = {{"flops", Flops(6)}, {"bytes", Bytes(4)}, {"dtype", Dtype::BF16}};
  CHECK(outcome(OpKind::Compute, {}, without) == "nothing");
  CHECK(outcome(OpKind::Compute, {plain(Dtype::F32, {9})},
                {{"flops", Flops(6)},
                 {"bytes", Bytes(4)},
                 {"dtype", Dtype::BF16},
                 {"shape", Numbers{2, 3}}}) == "bf16[2,3]");
  CHECK(rules(OpKind::Compute).opaque);
}

/// dot_general of lhs [5,2,3,4] and rhs [4,6,2,5].
std::string dot(Lists numbers) {
  return outcome(OpKind::DotGeneral,
                 {plain(Dtype::BF16, {5, 2, 3, 4}), plain(Dtype::BF16, {4, 6, 2, 5})},
                 {{"dimension_numbers", numbers}});
}

TEST_CASE("compute: a result may be written over an operand that is as large") {
  const auto in_place = [](int64_t operand, int64_t extent) {
    return outcome(OpKind::Compute, {plain(Dtype::F32, {2}), plain(Dtype::BF16, {2, 3})},
                   {{"flops", Flops(1)},
                    {"bytes", Bytes(1)},
                    {"dtype", Dtype::F32},
                    {"shape", Numbers{extent}},
                    {"in_place_of", operand}});
  };
  CHECK(in_place(0, 2) == "f32[2]");
  CHECK(in_place(1, 3) == "f32[3]");  // 12 B both
  CHECK(in_place(1, 2) ==
        "in_place_of: expected an operand of 8 B, as the result has, got one of 12 B");
  CHECK(in_place(2, 2) == "in_place_of: expected one of 2 operands, counted from 0, got 2");
  CHECK(outcome(OpKind::Compute, {plain(Dtype::F32, {2})},
                {{"flops", Flops(1)},
                 {"bytes", Bytes(1)},
                 {"dtype", Dtype::F32},
                 {"in_place_of", int64_t{0}}}) ==
        "in_place_of: expected a shape: there is no result to write");
}

TEST_CASE("dot_general: batch, then free dimensions of the first, then of the second") {
  // Contracting 4 with 4; batch (2, 5) with (2, 5); free are 3 and 6.
  CHECK(dot({{3}, {0}, {1, 0}, {2, 3}}) == "bf16[2,5,3,6]");
  CHECK(dot({{}, {}, {}, {}}) == "bf16[5,2,3,4,4,6,2,5]");
}

TEST_CASE("dot_general: dimensions that do not pair are refused") {
  CHECK(dot({{3}, {0, 1}, {}, {}}) ==
        "dimension_numbers: expected as many contracting dimensions on both sides, got 1 and 2");
  CHECK(dot({{3}, {1}, {}, {}}) ==
        "dimension_numbers: expected contracting dimensions of one extent, got 4 (dimension 3 of "
        "[5,2,3,4]) and 6 (dimension 1 of [4,6,2,5])");
  CHECK(dot({{}, {}, {1}, {3}}) ==
        "dimension_numbers: expected batch dimensions of one extent, got 2 (dimension 1 of "
        "[5,2,3,4]) and 5 (dimension 3 of [4,6,2,5])");
  CHECK(dot({{3}, {0}, {3}, {0}}) ==
        "dimension_numbers: expected each dimension of the first operand once, got 3 twice");
  CHECK(dot({{3}, {4}, {}, {}}) ==
        "dimension_numbers: expected dimensions of the second operand [4,6,2,5], got 4");
}

TEST_CASE("dot_general: the result's dtype is the operands', or a wider one that is asked for") {
  const auto preferred = [](Dtype operands, Dtype result) {
    return outcome(
        OpKind::DotGeneral, {plain(operands, {2}), plain(operands, {2})},
        {{"dimension_numbers", Lists{{0}, {0}, {}, {}}}, {"preferred_element_type", result}});
  };
  CHECK(preferred(Dtype::BF16, Dtype::F32) == "f32[]");
  CHECK(preferred(Dtype::S8, Dtype::S32) == "s32[]");
  CHECK(preferred(Dtype::S8, Dtype::F32) == "f32[]");
  CHECK(preferred(Dtype::Pred, Dtype::Pred) == "pred[]");
  CHECK(preferred(Dtype::C64, Dtype::C64) == "c64[]");
  CHECK(preferred(Dtype::C64, Dtype::C128) == "c128[]");
  CHECK(preferred(Dtype::C128, Dtype::C64) ==
        "preferred_element_type: expected a dtype that c128 widens to, got c64");
  CHECK(preferred(Dtype::C64, Dtype::F64) ==
        "preferred_element_type: expected a dtype that c64 widens to, got f64");
  CHECK(preferred(Dtype::F32, Dtype::C64) ==
        "preferred_element_type: expected a dtype that f32 widens to, got c64");
  CHECK(preferred(Dtype::F32, Dtype::BF16) ==
        "preferred_element_type: expected a dtype that f32 widens to, got bf16");
  CHECK(preferred(Dtype::F16, Dtype::S32) ==
        "preferred_element_type: expected a dtype that f16 widens to, got s32");
  CHECK(preferred(Dtype::S8, Dtype::U32) ==
        "preferred_element_type: expected a dtype that s8 widens to, got u32");
  CHECK(preferred(Dtype::Pred, Dtype::S32) ==
        "preferred_element_type: expected a dtype that pred widens to, got s32");
  CHECK(outcome(OpKind::DotGeneral, {plain(Dtype::BF16, {2}), plain(Dtype::F32, {2})},
                {{"dimension_numbers", Lists{{0}, {0}, {}, {}}}}) ==
        "of: expected operands of one dtype, got bf16 and f32");
}

TEST_CASE("cost: elementwise arithmetic is one operation an element") {
  const Cost of = cost(OpKind::Add, {plain(Dtype::F16, {3, 4}), plain(Dtype::F16, {3, 4})});
  CHECK(of.flops == Flops(12));
  CHECK(of.bytes == Bytes(3 * 12 * 2));  // two operands read, one result written
  CHECK(of.dtype == Dtype::F16);
}

TEST_CASE("cost: an exponential, a comparison and a selection are one operation an element too") {
  CHECK(cost(OpKind::Exp, {plain(Dtype::F16, {12})}).flops == Flops(12));
  const Cost less = cost(OpKind::Lt, {plain(Dtype::F32, {10}), plain(Dtype::F32, {10})});
  CHECK(less.flops == Flops(10));
  CHECK(less.bytes == Bytes(2 * 40 + 10));  // pred is a byte
  const ValueType one = plain(Dtype::BF16, {10});
  const Cost select = cost(OpKind::SelectN, {plain(Dtype::S32, {10}), one, one, one});
  CHECK(select.flops == Flops(10));
  CHECK(select.bytes == Bytes(40 + 4 * 20));
  CHECK(select.dtype == Dtype::BF16);  // not that of what says which
}

TEST_CASE("cost: conversion reads one dtype and writes another") {
  const Cost of =
      cost(OpKind::ConvertElementType, {plain(Dtype::F32, {10})}, {{"new_dtype", Dtype::BF16}});
  CHECK(of.flops == Flops(0));
  CHECK(of.bytes == Bytes(10 * 4 + 10 * 2));
}

TEST_CASE("cost: dot_general is 2 M N K, its rate the operands'") {
  // Batch 7; M, N, K = 2, 5, 3. Operands of bf16, result of f32.
  const Cost of = cost(
      OpKind::DotGeneral, {plain(Dtype::BF16, {7, 2, 3}), plain(Dtype::BF16, {7, 3, 5})},
      {{"dimension_numbers", Lists{{2}, {1}, {0}, {0}}}, {"preferred_element_type", Dtype::F32}});
  CHECK(of.flops == Flops(2 * 7 * 2 * 5 * 3));
  CHECK(of.bytes == Bytes(2 * (7 * 2 * 3 + 7 * 3 * 5) + 4 * (7 * 2 * 5)));
  CHECK(of.dtype == Dtype::BF16);
}

TEST_CASE(
    "cost: dot_general of complex numbers has four products of their parts for each product") {
  const Cost of = cost(OpKind::DotGeneral, {plain(Dtype::C64, {2, 3}), plain(Dtype::C64, {3, 5})},
                       {{"dimension_numbers", Lists{{1}, {0}, {}, {}}}});
  CHECK(of.flops == Flops(4 * 2 * 2 * 5 * 3));
  CHECK(of.dtype == Dtype::C64);
}

TEST_CASE("cost: complex arithmetic is one operation an element too, as XLA counts") {
  const ValueType z = plain(Dtype::C128, {10});
  CHECK(cost(OpKind::Mul, {z, z}).flops == Flops(10));
  CHECK(cost(OpKind::Real, {z}).flops == Flops(10));
  CHECK(cost(OpKind::Real, {z}).bytes == Bytes(10 * 16 + 10 * 8));
}

TEST_CASE("cost: a slice reads only what it keeps") {
  const Cost of = cost(OpKind::Slice, {plain(Dtype::F32, {100})},
                       {{"start_indices", Numbers{0}}, {"limit_indices", Numbers{10}}});
  CHECK(of.bytes == Bytes(2 * 10 * 4));
}

TEST_CASE("cost: what moves elements or writes constants computes nothing") {
  const ValueType array = plain(Dtype::F32, {100});
  const ValueType start = plain(Dtype::S32, {});
  for (const Cost& of :
       std::vector<Cost>{cost(OpKind::Slice, {array},
                              {{"start_indices", Numbers{0}}, {"limit_indices", Numbers{10}}}),
                         cost(OpKind::Transpose, {array}, {{"permutation", Numbers{0}}}),
                         cost(OpKind::DynamicSlice, {array, start}, {{"slice_sizes", Numbers{5}}}),
                         cost(OpKind::Full, {},
                              {{"shape", Numbers{5}}, {"fill_value", 0.0}, {"dtype", Dtype::F64}}),
                         cost(OpKind::AxisIndex, {}, {{"axis_name", Names{}}})})
    CHECK(of.flops == Flops(0));
}

TEST_CASE("cost: indexed reads cost what they keep, and the indices") {
  const ValueType start = plain(Dtype::S32, {});
  CHECK(cost(OpKind::DynamicSlice, {plain(Dtype::F32, {100, 10}), start, start},
             {{"slice_sizes", Numbers{5, 10}}})
            .bytes == Bytes(2 * 50 * 4 + 2 * 4));
  // A copy of the whole: the result has a buffer of its own.
  CHECK(cost(OpKind::DynamicUpdateSlice, {plain(Dtype::F32, {100}), plain(Dtype::F32, {5}), start})
            .bytes == Bytes(2 * 100 * 4 + 4));
  CHECK(cost(OpKind::Take, {plain(Dtype::F16, {100, 10}), plain(Dtype::S32, {3})}, {{"axis", 0}})
            .bytes == Bytes(2 * 3 * 10 * 2 + 3 * 4));
}

TEST_CASE("cost: pad and broadcast_in_dim read their operands once") {
  CHECK(cost(OpKind::BroadcastInDim, {plain(Dtype::F32, {3})},
             {{"shape", Numbers{10, 3}}, {"broadcast_dimensions", Numbers{1}}})
            .bytes == Bytes(3 * 4 + 30 * 4));
  CHECK(cost(OpKind::Pad, {plain(Dtype::F32, {3}), plain(Dtype::F32, {})},
             {{"padding_config", Lists{{1, 0, 0}}}})
            .bytes == Bytes(3 * 4 + 4 + 4 * 4));
}

TEST_CASE("cost: a reduction is one operation for each element that is folded in") {
  const Cost of = cost(OpKind::ReduceSum, {plain(Dtype::BF16, {10, 6})}, {{"axes", Numbers{1}}});
  CHECK(of.flops == Flops(60));
  CHECK(of.bytes == Bytes(60 * 2 + 10 * 2));
  CHECK(of.dtype == Dtype::BF16);
}

TEST_CASE("cost: reshape copies nothing and costs nothing") {
  CHECK(cost(OpKind::Reshape, {plain(Dtype::F32, {100})}, {{"new_sizes", Numbers{10, 10}}}).bytes ==
        Bytes(0));
}

TEST_CASE("cost: split reads its operand once and writes the parts; a barrier does nothing") {
  CHECK(cost(OpKind::Split, {plain(Dtype::F32, {6})}, {{"sizes", Numbers{1, 5}}}).bytes ==
        Bytes(2 * 6 * 4));
  const Cost barrier =
      cost(OpKind::OptimizationBarrier, {plain(Dtype::F32, {6}), plain(Dtype::F32, {2})});
  CHECK(barrier.bytes == Bytes());
  CHECK_FALSE(barrier.runs);
}

/// Of the op's results, all of one element.
OpMemory memory(OpKind kind, size_t results, Given given = {}) {
  const std::vector<ValueType> types(results, plain(Dtype::F32, {}));
  return rules(kind).memory(test::attributes_of(kind, given), types, types);
}

TEST_CASE("memory: where the results of each family lie") {
  using Results = std::vector<ResultMemory>;
  CHECK(memory(OpKind::Transpose, 1).results == Results{{Alias::Fresh}});
  CHECK(memory(OpKind::Split, 2).results == Results{{Alias::Fresh}, {Alias::Fresh}});
  CHECK(memory(OpKind::Add, 1).results == Results{{Alias::DyingOperand}});
  CHECK(memory(OpKind::Reshape, 1).results == Results{{Alias::Operand, 0}});
  CHECK(memory(OpKind::Done, 1).results == Results{{Alias::Operand, 0}});
  CHECK(memory(OpKind::OptimizationBarrier, 2).results ==
        Results{{Alias::Operand, 0}, {Alias::Operand, 1}});
}

TEST_CASE("memory: a compute writes where it is told to") {
  using Results = std::vector<ResultMemory>;
  CHECK(memory(OpKind::Compute, 1).results == Results{{Alias::Fresh}});
  CHECK(memory(OpKind::Compute, 1, {{"in_place_of", int64_t{3}}}).results ==
        Results{{Alias::InPlace, 3}});
}

TEST_CASE("memory: scratch is what is declared") {
  for (const OpKind kind : {OpKind::Compute, OpKind::DotGeneral}) {
    CHECK(memory(kind, 1).scratch == Bytes());
    CHECK(memory(kind, 1, {{"scratch", Bytes(33)}}).scratch == Bytes(33));
  }
}

TEST_CASE("cost: full, axis_index and axis_size write their results") {
  CHECK(cost(OpKind::Full, {}, {{"shape", Numbers{5}}, {"fill_value", 0.0}, {"dtype", Dtype::F64}})
            .bytes == Bytes(40));
  CHECK(cost(OpKind::AxisIndex, {}, {{"axis_name", Names{}}}).bytes == Bytes(4));
  CHECK(cost(OpKind::AxisSize, {}, {{"axis_name", Names{}}}).bytes == Bytes(4));
}

TEST_CASE("cost: compute costs what its parameters say") {
  const Cost of =
      cost(OpKind::Compute, {}, {{"flops", Flops(6)}, {"bytes", Bytes(4)}, {"dtype", Dtype::BF16}});
  CHECK(of.flops == Flops(6));
  CHECK(of.bytes == Bytes(4));
  CHECK(of.dtype == Dtype::BF16);
}

}  // namespace
}  // namespace orrery
