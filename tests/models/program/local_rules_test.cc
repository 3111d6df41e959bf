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

TEST_CASE("add, sub, mul: operands of one dtype and shape") {
  for (const OpKind kind : {OpKind::Add, OpKind::Sub, OpKind::Mul}) {
    CAPTURE(rules(kind).name);
    CHECK(outcome(kind, {plain(Dtype::S8, {2, 3}), plain(Dtype::S8, {2, 3})}) == "s8[2,3]");
    CHECK(outcome(kind, {plain(Dtype::F32, {2}), plain(Dtype::F32, {})}) ==
          "of: expected operands of one dtype and shape (nothing is broadcast or converted "
          "unasked), got f32[2] and f32[]");
    CHECK(outcome(kind, {plain(Dtype::F32, {2}), plain(Dtype::F16, {2})}) ==
          "of: expected operands of one dtype and shape (nothing is broadcast or converted "
          "unasked), got f32[2] and f16[2]");
    CHECK(outcome(kind, {plain(Dtype::Pred, {2}), plain(Dtype::Pred, {2})}) ==
          "of: expected operands of numbers, got pred");
  }
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

TEST_CASE("full: what it says") {
  CHECK(outcome(OpKind::Full, {},
                {{"shape", Numbers{2, 3}}, {"fill_value", 1.5}, {"dtype", Dtype::S32}}) ==
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

TEST_CASE("cost: a slice reads only what it keeps") {
  const Cost of = cost(OpKind::Slice, {plain(Dtype::F32, {100})},
                       {{"start_indices", Numbers{0}}, {"limit_indices", Numbers{10}}});
  CHECK(of.bytes == Bytes(2 * 10 * 4));
}

TEST_CASE("cost: reshape renames its operand and touches nothing") {
  CHECK(cost(OpKind::Reshape, {plain(Dtype::F32, {100})}, {{"new_sizes", Numbers{10, 10}}}).bytes ==
        Bytes(0));
  CHECK(rules(OpKind::Reshape).alias == Alias::FirstOperand);
}

TEST_CASE("cost: full, axis_index and axis_size write their results") {
  CHECK(cost(OpKind::Full, {}, {{"shape", Numbers{5}}, {"fill_value", 0.0}, {"dtype", Dtype::F64}})
            .bytes == Bytes(40));
  CHECK(cost(OpKind::AxisIndex, {}, {{"axis_name", Names{}}}).bytes == Bytes(4));
  CHECK(cost(OpKind::AxisSize, {}, {{"axis_name", Names{}}}).bytes == Bytes(4));
}

TEST_CASE("cost: compute costs what it says") {
  const Cost of =
      cost(OpKind::Compute, {}, {{"flops", Flops(6)}, {"bytes", Bytes(4)}, {"dtype", Dtype::BF16}});
  CHECK(of.flops == Flops(6));
  CHECK(of.bytes == Bytes(4));
  CHECK(of.dtype == Dtype::BF16);
}

}  // namespace
}  // namespace orrery
