// Tests the rules of the ops that take rows or add to rows: take with a fill value, scatter_add.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/program/type_table.h"

namespace orrery {
namespace {

using test::Given;
using test::type;

ValueType of_rows(Dtype dtype, Shape shape) {
  return type(dtype, std::move(shape), "");
}

std::string rows_outcome(OpKind kind, const std::vector<ValueType>& operands, const Given& given) {
  return test::outcome(Mesh(), kind, operands, given);
}

std::string scattered(const std::vector<ValueType>& operands, int64_t axis,
                      const std::string& mode = "fill") {
  return rows_outcome(OpKind::ScatterAdd, operands, {{"axis", axis}, {"mode", mode}});
}

TEST_CASE("scatter_add: the type of the array, with updates as take gives them") {
  const ValueType table = of_rows(Dtype::F32, {100, 8});
  const ValueType ids = of_rows(Dtype::S32, {2, 5});
  CHECK(scattered({table, of_rows(Dtype::F32, {2, 5, 8}), ids}, 0) == "f32[100,8]");
  CHECK(scattered({table, of_rows(Dtype::F32, {100, 2, 5}), ids}, 1, "clip") == "f32[100,8]");
}

TEST_CASE("scatter_add: what is refused") {
  const ValueType table = of_rows(Dtype::F32, {100, 8});
  const ValueType ids = of_rows(Dtype::S32, {2});
  const ValueType updates = of_rows(Dtype::F32, {2, 8});
  CHECK(scattered({table, updates, ids}, 2) == "axis: expected a dimension from 0 to 1, got 2");
  CHECK(scattered({table, updates, of_rows(Dtype::F32, {2})}, 0) ==
        "of: expected indices that are integers, got f32[2]");
  CHECK(scattered({table, of_rows(Dtype::F32, {8, 2}), ids}, 0) ==
        "of: expected updates of f32[2,8], as take would give, got f32[8,2]");
  CHECK(scattered({table, of_rows(Dtype::BF16, {2, 8}), ids}, 0) ==
        "of: expected updates of f32[2,8], as take would give, got bf16[2,8]");
  CHECK(scattered({of_rows(Dtype::Pred, {3}), of_rows(Dtype::Pred, {2}), ids}, 0) ==
        "of: expected numbers, got pred[3]");
  CHECK(scattered({of_rows(Dtype::F32, {0, 8}), updates, ids}, 0, "clip") ==
        "of: expected rows along dimension 0, got f32[0,8]");
}

TEST_CASE("scatter_add: linear, so unreduced sums stay unreduced") {
  const Mesh mesh({{"x", 2}});
  const std::vector<ValueType> operands = {type(Dtype::F32, {4}, "U"), type(Dtype::F32, {2}, "U"),
                                           type(Dtype::S32, {2}, "I")};
  CHECK(test::outcome(mesh, OpKind::ScatterAdd, operands, {{"axis", 0}}) == "f32[4]{U:x}");
}

TEST_CASE("scatter_add: costs its operands and result, and an addition for each update") {
  const std::vector<ValueType> operands = {of_rows(Dtype::F32, {100, 10}),
                                           of_rows(Dtype::F32, {3, 10}), of_rows(Dtype::S32, {3})};
  const Cost cost = rules(OpKind::ScatterAdd)
                        .cost(test::attributes_of(OpKind::ScatterAdd, {{"axis", 0}}), operands,
                              std::vector{of_rows(Dtype::F32, {100, 10})});
  CHECK(cost.flops == Flops(30));
  CHECK(cost.bytes == Bytes(2 * 1000 * 4 + 30 * 4 + 3 * 4));
}

TEST_CASE("take: a fill value is of the dtype, and goes with mode fill") {
  const std::vector<ValueType> operands = {of_rows(Dtype::S8, {3}), of_rows(Dtype::S32, {2})};
  CHECK(rows_outcome(OpKind::Take, operands, {{"axis", 0}, {"fill_value", 5.0}}) == "s8[2]");
  CHECK(rows_outcome(OpKind::Take, operands, {{"axis", 0}, {"fill_value", 500.0}}) ==
        "fill_value: expected a value of s8, got 500");
  CHECK(
      rows_outcome(OpKind::Take, operands, {{"axis", 0}, {"fill_value", 5.0}, {"mode", "clip"}}) ==
      "fill_value: expected a value with mode fill alone, got one with clip");
}

TEST_CASE("take: a fill value of a complex dtype may be a pair") {
  const auto filled = [](Dtype dtype, NumberOrPair fill) {
    const std::vector<ValueType> operands = {of_rows(dtype, {3}), of_rows(Dtype::S32, {2})};
    return rows_outcome(OpKind::Take, operands, {{"axis", 0}, {"fill_value", fill}});
  };
  CHECK(filled(Dtype::C64, {1, -2}) == "c64[2]");
  CHECK(filled(Dtype::F32, {1, -2}) == "fill_value: expected a value of f32, got [1,-2]");
}

TEST_CASE("take: of unreduced sums where what is outside gives 0") {
  const Mesh mesh({{"x", 2}});
  const std::vector<ValueType> operands = {type(Dtype::F32, {4}, "U"), type(Dtype::S32, {2}, "I")};
  CHECK(test::outcome(mesh, OpKind::Take, operands, {{"axis", 0}, {"fill_value", 0.0}}) ==
        "f32[2]{U:x}");
  const std::vector<ValueType> complex = {type(Dtype::C64, {4}, "U"), type(Dtype::S32, {2}, "I")};
  const auto of_complex = [&](NumberOrPair fill) {
    return test::outcome(mesh, OpKind::Take, complex, {{"axis", 0}, {"fill_value", fill}});
  };
  CHECK(of_complex({0, 0}) == "c64[2]{U:x}");
  CHECK(of_complex({0, 1}) != "c64[2]{U:x}");
}

}  // namespace
}  // namespace orrery
