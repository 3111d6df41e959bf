// Tests the type rules of the other local ops. (elementwise_rules_test.cc tests the elementwise
// ops, and local_costs_test.cc tests the costs of all local ops.)

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/program/type_table.h"

namespace orrery {
namespace {

using test::Given;
using test::Integers;
using test::Lists;
using test::outcome;
using test::plain;
using test::type;
using test::unordered;

TEST_CASE("reshape: as many elements as before") {
  const ValueType operand = plain(Dtype::F32, {2, 6});
  CHECK(outcome(OpKind::Reshape, {operand}, {{"new_sizes", Integers{3, 4}}}) == "f32[3,4]");
  CHECK(outcome(OpKind::Reshape, {operand}, {{"new_sizes", Integers{3, 5}}}) ==
        "new_sizes: expected sizes of 12 elements, as [2,6] has, got [3,5]");
  CHECK(outcome(OpKind::Reshape, {plain(Dtype::F32, {})}, {{"new_sizes", Integers{1}}}) ==
        "f32[1]");
}

TEST_CASE("transpose: dimension d of the result is dimension permutation[d]") {
  const ValueType operand = plain(Dtype::F32, {2, 3, 4});
  CHECK(outcome(OpKind::Transpose, {operand}, {{"permutation", Integers{2, 0, 1}}}) ==
        "f32[4,2,3]");
  for (const Integers& wrong :
       {Integers{0, 1}, Integers{0, 0, 1}, Integers{0, 1, 3}, Integers{0, 1, 2, 2}})
    CHECK(outcome(OpKind::Transpose, {operand}, {{"permutation", wrong}})
              .starts_with("permutation: expected each dimension of [2,3,4] once, got ["));
}

TEST_CASE("slice: ceil((limit - start) / stride) elements of each dimension") {
  const ValueType operand = plain(Dtype::F32, {10, 7});
  // (9 - 2) / 3 rounded up is 3. Without strides the extent is limit - start.
  CHECK(outcome(OpKind::Slice, {operand},
                {{"start_indices", Integers{2, 0}},
                 {"limit_indices", Integers{9, 7}},
                 {"strides", Integers{3, 1}}}) == "f32[3,7]");
  CHECK(outcome(OpKind::Slice, {operand},
                {{"start_indices", Integers{2, 7}}, {"limit_indices", Integers{2, 7}}}) ==
        "f32[0,0]");
}

TEST_CASE("slice: bounds outside the operand are refused") {
  const auto slice = [](Integers start, Integers limit, Integers strides) {
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
  CHECK(outcome(OpKind::Split, {operand}, {{"sizes", Integers{1, 0, 5}}, {"axis", 1}}) ==
        "bf16[2,1], bf16[2,0], bf16[2,5]");
  CHECK(outcome(OpKind::Split, {operand}, {{"sizes", Integers{1, 1}}}) == "bf16[1,6], bf16[1,6]");
  CHECK(outcome(OpKind::Split, {operand}, {{"sizes", Integers{6}}, {"axis", -1}}) == "bf16[2,6]");
}

TEST_CASE(
    "split: sizes that leave something over, and dimensions that are not there, are refused") {
  const ValueType operand = plain(Dtype::F32, {2, 6});
  CHECK(outcome(OpKind::Split, {operand}, {{"sizes", Integers{1, 4}}, {"axis", 1}}) ==
        "sizes: expected sizes that add up to 6, dimension 1 of [2,6], got [1,4]");
  CHECK(outcome(OpKind::Split, {plain(Dtype::F32, {0})}, {{"sizes", Integers{}}}) ==
        "sizes: expected sizes that add up to 0, dimension 0 of [0], got []");
  CHECK(outcome(OpKind::Split, {operand}, {{"sizes", Integers{6}}, {"axis", 2}}) ==
        "axis: expected a dimension from -2 to 1, got 2");
  CHECK(outcome(OpKind::Split, {operand}, {{"sizes", Integers{6}}, {"axis", -3}}) ==
        "axis: expected a dimension from -2 to 1, got -3");
  CHECK(outcome(OpKind::Split, {plain(Dtype::F32, {})}, {{"sizes", Integers{1}}}) ==
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
  // The extents are 4 + 2 * 3 between + 1 + 1 = 12, and 3 - 1 - 2 = 0.
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
  const auto broadcast = [](Integers shape, Integers dimensions) {
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

TEST_CASE("reorder_sequence: an even number of ranks, twice as many chunks, all of one size") {
  const auto reorder = [](Shape shape, int64_t cp_size, int64_t seq_dim) {
    return outcome(OpKind::ReorderSequence, {plain(Dtype::BF16, std::move(shape))},
                   {{"cp_size", cp_size}, {"seq_dim", seq_dim}});
  };
  CHECK(reorder({2, 16}, 4, 1) == "bf16[2,16]");
  CHECK(reorder({16}, 8, 0) == "bf16[16]");
  CHECK(reorder({2, 0}, 4, 1) == "bf16[2,0]");
  CHECK(outcome(OpKind::ReorderSequence, {plain(Dtype::F32, {3, 8})}, {{"cp_size", 4}}) ==
        "f32[3,8]");  // seq_dim is 1
  CHECK(reorder({2, 18}, 3, 1) == "cp_size: expected an even number, got 3");
  CHECK(reorder({2, 12}, 4, 1) ==
        "cp_size: expected 2 x 4 to divide an extent of 12 (dimension 1 of [2,12])");
  CHECK(reorder({2, 5}, 2, 1) ==
        "cp_size: expected 2 x 2 to divide an extent of 5 (dimension 1 of [2,5])");
  // Twice this number would not fit.
  CHECK(reorder({8, 2}, INT64_MAX - 1, 0) ==
        "cp_size: expected 2 x 9223372036854775806 to divide an extent of 8 (dimension 0 of "
        "[8,2])");
  CHECK(reorder({8}, 4, 1) == "seq_dim: expected a dimension from 0 to 0, got 1");
  CHECK(reorder({2, 8}, 4, -1) == "seq_dim: expected a dimension from 0 to 1, got -1");
  CHECK(reorder({}, 4, 0) == "seq_dim: expected an operand with dimensions, got a scalar");
}

TEST_CASE("reductions: the axes go, the dtype stays") {
  for (const OpKind kind : {OpKind::ReduceSum, OpKind::ReduceMax, OpKind::ReduceMin}) {
    CAPTURE(rules(kind).name);
    const ValueType operand = plain(Dtype::BF16, {2, 3, 4});
    CHECK(outcome(kind, {operand}, {{"axes", Integers{2, 0}}}) == "bf16[3]");
    CHECK(outcome(kind, {operand}, {{"axes", Integers{}}}) == "bf16[2,3,4]");
    CHECK(outcome(kind, {operand}, {{"axes", Integers{1, 1}}}) ==
          "axes: expected each dimension once, got [1,1]");
    CHECK(outcome(kind, {operand}, {{"axes", Integers{3}}}) ==
          "axes: expected a dimension from 0 to 2, got 3");
  }
  CHECK(outcome(OpKind::ReduceMax, {plain(Dtype::Pred, {2})}, {{"axes", Integers{0}}}) == "pred[]");
  CHECK(outcome(OpKind::ReduceSum, {plain(Dtype::C64, {2})}, {{"axes", Integers{0}}}) == "c64[]");
  for (const OpKind kind : {OpKind::ReduceMax, OpKind::ReduceMin})
    CHECK(outcome(kind, {plain(Dtype::C64, {2})}, {{"axes", Integers{0}}}) == unordered("c64"));
  CHECK(outcome(OpKind::ReduceSum, {plain(Dtype::Pred, {2})}, {{"axes", Integers{0}}}) ==
        "of: expected an operand of numbers, got pred");
}

TEST_CASE("dynamic_slice: a start index for each dimension, and sizes that fit") {
  const ValueType array = plain(Dtype::F32, {10, 7});
  const ValueType start = plain(Dtype::S32, {});
  const auto slice = [](const std::vector<ValueType>& operands, Integers sizes) {
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
  const auto iota = [](Dtype dtype, Integers shape, int64_t dimension) {
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
                {{"shape", Integers{2, 3}}, {"fill_value", 2.0}, {"dtype", Dtype::S32}}) ==
        "s32[2,3]");
}

TEST_CASE("full: a number for any dtype, a pair for complex ones") {
  const auto filled = [](Dtype dtype, NumberOrPair value) {
    return outcome(OpKind::Full, {},
                   {{"shape", Integers{2}}, {"fill_value", value}, {"dtype", dtype}});
  };
  CHECK(filled(Dtype::C64, 2) == "c64[2]");
  CHECK(filled(Dtype::C128, {1.5, -2}) == "c128[2]");
  CHECK(filled(Dtype::F32, {1.5, 0}) == "fill_value: expected a value of f32, got [1.5,0]");
  CHECK(filled(Dtype::S8, {1, 2}) == "fill_value: expected a value of s8, got [1,2]");
  // The parts of c64 are f32.
  CHECK(filled(Dtype::C64, 1e39) == "fill_value: expected a value of c64, got 1e+39");
  CHECK(filled(Dtype::C64, {0, -1e39}) == "fill_value: expected a value of c64, got [0,-1e+39]");
  CHECK(filled(Dtype::C64, {1, 1e-60}) == "fill_value: expected a value of c64, got [1,1e-60]");
}

TEST_CASE("compute: a result only with a shape") {
  const Given without = {{"flops", Flops(6)}, {"bytes", Bytes(4)}, {"dtype", Dtype::BF16}};
  CHECK(outcome(OpKind::Compute, {}, without) == "nothing");
  CHECK(outcome(OpKind::Compute, {plain(Dtype::F32, {9})},
                {{"flops", Flops(6)},
                 {"bytes", Bytes(4)},
                 {"dtype", Dtype::BF16},
                 {"shape", Integers{2, 3}}}) == "bf16[2,3]");
  CHECK(rules(OpKind::Compute).opaque);
}

/// Returns the type of dot_general of lhs [5,2,3,4] and rhs [4,6,2,5].
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
                    {"shape", Integers{extent}},
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

/// Returns the types of attention and, given a cotangent of the query's shape, of its gradients.
std::string attention(Shape query, Shape key, Shape value, Dtype dtype = Dtype::BF16) {
  return outcome(OpKind::DotProductAttention,
                 {plain(dtype, std::move(query)), plain(dtype, std::move(key)),
                  plain(dtype, std::move(value))},
                 {});
}

TEST_CASE("dot_product_attention: the result is as the query, and gradients as the operands") {
  CHECK(attention({4, 6, 8}, {5, 2, 8}, {5, 2, 8}) == "bf16[4,6,8]");
  CHECK(attention({3, 7, 4, 6, 8}, {3, 7, 5, 3, 8}, {3, 7, 5, 3, 8}) == "bf16[3,7,4,6,8]");
  CHECK(attention({0, 6, 0}, {5, 2, 0}, {5, 2, 0}) == "bf16[0,6,0]");
  const ValueType query = plain(Dtype::F32, {4, 6, 8});
  const ValueType key = plain(Dtype::F32, {5, 2, 8});
  CHECK(outcome(OpKind::DotProductAttentionVjp, {query, key, key, query}, {}) ==
        "f32[4,6,8], f32[5,2,8], f32[5,2,8]");
  CHECK(outcome(OpKind::DotProductAttentionVjp, {query, key, key, key}, {}) ==
        "of: expected a cotangent of the query's shape [4,6,8], got [5,2,8]");
}

TEST_CASE("dot_product_attention: operands that do not fit are refused") {
  CHECK(attention({4, 6, 8}, {5, 2, 8}, {5, 2, 8}, Dtype::S32) ==
        "of: expected operands of floats, got s32");
  CHECK(outcome(OpKind::DotProductAttention,
                {plain(Dtype::F32, {4, 6, 8}), plain(Dtype::BF16, {5, 2, 8}),
                 plain(Dtype::F32, {5, 2, 8})},
                {}) == "of: expected operands of one dtype, got f32 and bf16");
  CHECK(attention({6, 8}, {2, 8}, {2, 8}) ==
        "of: expected operands of one rank, of at least 3 dimensions (.., sequence, heads, "
        "depth), got a query [6,8]");
  CHECK(attention({1, 4, 6, 8}, {5, 2, 8}, {5, 2, 8}) ==
        "of: expected operands of one rank, of at least 3 dimensions (.., sequence, heads, "
        "depth), got a key [5,2,8]");
  CHECK(attention({4, 6, 8}, {5, 2, 8}, {5, 2, 4}) ==
        "of: expected a value of the key's shape [5,2,8], got [5,2,4]");
  CHECK(attention({4, 6, 8}, {5, 2, 4}, {5, 2, 4}) ==
        "of: expected query and key to have one extent in all dimensions but the sequence and the "
        "heads, got [4,6,8] and [5,2,4]");
  for (const Shape& key : {Shape{5, 4, 8}, Shape{5, 0, 8}, Shape{0, 2, 8}})
    CHECK(attention({4, 6, 8}, key, key) ==
          "of: expected at least one key, and heads of the query that are a multiple of those of "
          "the key, got [4,6,8] and " +
              key.text());
  const ValueType all = plain(Dtype::F32, {2, 2, 2});
  CHECK(outcome(OpKind::DotProductAttention, {all, all, all}, {{"scale", NumberOrPair(1, 2)}}) ==
        "scale: expected a value of f32, got [1,2]");
}

TEST_CASE("dot_general: batch, then free dimensions of the first, then of the second") {
  // The contraction is of 4 with 4, the batch is (2, 5) with (2, 5), and 3 and 6 are free.
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
}  // namespace
}  // namespace orrery
