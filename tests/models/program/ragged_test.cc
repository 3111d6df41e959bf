// Tests the type rule of ragged_all_to_all, and the tables that assume_sizes stands for.

#include "models/program/ragged.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/program/type_table.h"

namespace orrery {
namespace {

using test::Given;
using test::kX;
using test::Lists;
using test::Names;
using test::type;

const Mesh kMesh({{"x", 2}, {"y", 2}});

struct Operands {
  ValueType operand = type(Dtype::F32, {8, 3}, "VI");
  ValueType output = type(Dtype::F32, {5, 3}, "VI");
  std::vector<ValueType> tables = std::vector<ValueType>(4, type(Dtype::S32, {4}, "VI"));
};

std::string ragged(const Operands& of, Given given = {{"axis_name", kX}},
                   Checks checks = Checks::States) {
  std::vector<ValueType> operands = {of.operand, of.output};
  operands.insert(operands.end(), of.tables.begin(), of.tables.end());
  return test::outcome(kMesh, OpKind::RaggedAllToAll, operands, given, checks);
}

TEST_CASE("ragged type: the shape and dtype of output") {
  CHECK(ragged({}) == "f32[5,3]{V:x}");
  Operands one;
  one.operand = type(Dtype::F64, {1}, "VI");
  one.output = type(Dtype::F64, {0}, "VI");
  CHECK(ragged(one) == "f64[0]{V:x}");
  CHECK(ragged({}, {{"axis_name", Names{"y", "x"}}}) == "f32[5,3]{V:(x,y)}");
  CHECK(ragged({}, {{"axis_name", kX}, {"axis_index_groups", Lists{{1}, {0}}}}) == "f32[5,3]{V:x}");
}

TEST_CASE("ragged type: it varies where any operand does, and along its axes") {
  // JAX types the result like the output alone, which would be invarying along y here.
  for (size_t k = 0; k < 6; ++k) {
    Operands of;
    (k == 0 ? of.operand : k == 1 ? of.output : of.tables[k - 2]).axes[1] = AxisState::Varying;
    CHECK(ragged(of) == "f32[5,3]{V:(x,y)}");
  }
  Operands equal;
  for (ValueType* of : {&equal.operand, &equal.output})
    of->axes[0] = AxisState::Invarying;
  CHECK(ragged(equal) == "f32[5,3]{V:x}");
}

TEST_CASE("ragged type: along other axes it is a sum of copies if both arrays are") {
  Operands sums;
  sums.operand.axes[1] = AxisState::Unreduced;
  sums.output.axes[1] = AxisState::Unreduced;
  CHECK(ragged(sums) == "f32[5,3]{V:x, U:y}");
}

TEST_CASE("ragged type: along its own axes it is no sum of copies") {
  Operands sums;
  for (ValueType* of : {&sums.operand, &sums.output})
    of->axes[0] = AxisState::Unreduced;
  CHECK(ragged(sums) ==
        "of: expected operands that are all unreduced over x, got f32[8,3]{U:x}, f32[5,3]{U:x}, "
        "s32[4]{V:x}, s32[4]{V:x}, s32[4]{V:x} and s32[4]{V:x}; psum over x makes it invarying");
  for (ValueType& table : sums.tables)
    table.axes[0] = AxisState::Invarying;
  CHECK(
      ragged(sums) ==
      "of: expected an operand that is varying or invarying over x, got f32[5,3]{U:x}; psum over x "
      "makes it invarying");
}

TEST_CASE("ragged type: operands that do not go together") {
  const auto with = [](auto change) {
    Operands of;
    change(of);
    return ragged(of);
  };
  CHECK(with([](Operands& of) {
          of.output = type(Dtype::F32, {5, 4}, "VI");
        }) ==
        "of: expected an operand and an output that have one dtype and differ at most in their "
        "first dimension, got f32[8,3] and f32[5,4]");
  CHECK(with([](Operands& of) {
          of.output = type(Dtype::F16, {5, 3}, "VI");
        }) ==
        "of: expected an operand and an output that have one dtype and differ at most in their "
        "first dimension, got f32[8,3] and f16[5,3]");
  CHECK(with([](Operands& of) { of.operand = type(Dtype::F32, {}, "VI"); }) ==
        "of: expected an operand and an output that have one dtype and differ at most in their "
        "first dimension, got f32[] and f32[5,3]");
  CHECK(with([](Operands& of) { of.tables[1] = type(Dtype::F32, {4}, "VI"); }) ==
        "of: expected send_sizes to be a list of integers (s32[2]), got f32[4]");
  CHECK(with([](Operands& of) {
          of.tables[0] = type(Dtype::S32, {2, 2}, "VI");
        }) == "of: expected input_offsets to be a list of integers (s32[2]), got s32[2,2]");
  CHECK(with([](Operands& of) { of.tables[3] = type(Dtype::S32, {0}, "VI"); }) ==
        "of: expected recv_sizes to be a list of integers (s32[2]), got s32[0]");
  CHECK(with([](Operands& of) { of.tables[2] = type(Dtype::S32, {6}, "VI"); }) ==
        "of: expected output_offsets to have 4 entries, as many as input_offsets, got 6");
  CHECK(with([](Operands& of) {
          of.tables = std::vector<ValueType>(4, type(Dtype::U8, {3}, "VI"));
        }) == "of: expected tables with as many slices for each of the 2 ranks, got 3 entries");
}

TEST_CASE("ragged type: it is over an axis, and has a limited number of slices") {
  CHECK(ragged({}, {{"axis_name", Names{}}}) == "axis_name: expected an axis or more, got none");
  Operands of;
  of.tables = std::vector<ValueType>(4, type(Dtype::S32, {1 << 20}, "VI"));
  CHECK(ragged(of) == "f32[5,3]{V:x}");
  of.tables = std::vector<ValueType>(4, type(Dtype::S32, {(1 << 20) + 2}, "VI"));
  CHECK(ragged(of) ==
        "of: expected at most 4194304 slices over all 4 devices, got 1048578 on each");
}

TEST_CASE("ragged type: assume_sizes has a list for all ranks or for each, and its slices fit") {
  const auto with = [](const Lists& sizes) {
    return ragged({}, {{"axis_name", kX}, {"assume_sizes", sizes}});
  };
  // There are 4 slices, two for each rank. Operands have 8 rows, outputs 5.
  CHECK(with({{1}}) == "f32[5,3]{V:x}");
  CHECK(with({{2, 0, 1, 1}, {1, 2, 3, 0}}) == "f32[5,3]{V:x}");
  CHECK(with({{1}, {0}, {2}}) ==
        "assume_sizes: expected a list for all ranks or 2, one for each, got 3");
  CHECK(with({{1, 2}}) ==
        "assume_sizes: expected a number for all slices or 4, one for each, got 2");
  CHECK(with({{1}, {-1}}) == "assume_sizes: expected rows of slices, from 0 on, got -1");
  CHECK(with({{1, 0, 1, 0}, {5, 4, 0, 0}}) ==
        "assume_sizes: expected slices that fit the 8 rows of the operand, got more for rank 1");
  CHECK(with({{2}}) ==
        "assume_sizes: expected slices that fit the 5 rows of the output, got more for rank 0");
}

TEST_CASE("ragged: assumed slices lie one after another") {
  const Lists sizes = {{1, 2}, {3, 0}};
  const RaggedGroup group = AssumedSizes(sizes, {2, 2, 4, 6}).group();
  CHECK(group.operand_rows == 4);
  CHECK(group.output_rows == 6);
  // Rank 0's result has one row of rank 0, then three of rank 1. Rank 1's result has two of rank 0.
  CHECK(group.ranks[0] == SliceTables{{0, 1}, {1, 2}, {0, 0}, {1, 3}});
  CHECK(group.ranks[1] == SliceTables{{0, 3}, {3, 0}, {1, 2}, {2, 0}});
  CHECK(group.most_sent() == 3);
}

}  // namespace
}  // namespace orrery
