// Tests the costs of local ops, and where their results lie in memory.

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/program/builder.h"
#include "models/program/op_rules.h"
#include "tests/models/program/type_table.h"

namespace orrery {
namespace {

using test::Given;
using test::Integers;
using test::Lists;
using test::Names;
using test::plain;

Cost cost(OpKind kind, const std::vector<ValueType>& operands, Given given = {}) {
  const Attributes attributes = test::attributes_of(kind, given);
  const Mesh mesh;
  const auto results = std::get<std::vector<ValueType>>(
      rules(kind).type({mesh, Checks::States, attributes, operands, 1}));
  return rules(kind).cost(attributes, operands, results);
}

TEST_CASE("cost: elementwise arithmetic is one operation an element") {
  const Cost of = cost(OpKind::Add, {plain(Dtype::F16, {3, 4}), plain(Dtype::F16, {3, 4})});
  CHECK(of.flops == Flops(12));
  CHECK(of.bytes == Bytes(3 * 12 * 2));  // two operands read, one result written
  CHECK(of.dtype == Dtype::F16);
}

TEST_CASE(
    "cost: a scalar of an elementwise op is one element to read, the result decides the "
    "operations") {
  // There are 6 elements, so 6 operations. 4 B of the scalar and 24 B of the other operand are
  // read, and 24 B are written.
  const Cost sum = cost(OpKind::Add, {plain(Dtype::F32, {}), plain(Dtype::F32, {2, 3})});
  CHECK(sum.flops == Flops(6));
  CHECK(sum.bytes == Bytes(4 + 24 + 24));
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
  CHECK(select.dtype == Dtype::BF16);  // not that of `which`
}

TEST_CASE("cost: conversion reads one dtype and writes another") {
  const Cost of =
      cost(OpKind::ConvertElementType, {plain(Dtype::F32, {10})}, {{"new_dtype", Dtype::BF16}});
  CHECK(of.flops == Flops(0));
  CHECK(of.bytes == Bytes(10 * 4 + 10 * 2));
}

TEST_CASE("cost: dot_general is 2 M N K, its rate the operands'") {
  // The batch is 7, and M, N, K are 2, 5, 3. The operands are bf16, the result is f32.
  const Cost of = cost(
      OpKind::DotGeneral, {plain(Dtype::BF16, {7, 2, 3}), plain(Dtype::BF16, {7, 3, 5})},
      {{"dimension_numbers", Lists{{2}, {1}, {0}, {0}}}, {"preferred_element_type", Dtype::F32}});
  CHECK(of.flops == Flops(2 * 7 * 2 * 5 * 3));
  CHECK(of.bytes == Bytes(2 * (7 * 2 * 3 + 7 * 3 * 5) + 4 * (7 * 2 * 5)));
  CHECK(of.dtype == Dtype::BF16);
  // 7 products of a 2 x 3 and a 3 x 5 matrix.
  REQUIRE(of.product.has_value());
  CHECK(of.product->results == 7 * 2 * 5);
  CHECK(of.product->depth == 3);
  CHECK(of.product->rows == 2);
  CHECK(of.product->columns == 5);
}

TEST_CASE(
    "cost: dot_general of complex numbers has four products of their parts for each product") {
  const Cost of = cost(OpKind::DotGeneral, {plain(Dtype::C64, {2, 3}), plain(Dtype::C64, {3, 5})},
                       {{"dimension_numbers", Lists{{1}, {0}, {}, {}}}});
  CHECK(of.flops == Flops(4 * 2 * 2 * 5 * 3));
  CHECK(of.dtype == Dtype::C64);
}

TEST_CASE("cost: attention has two products, its gradients five, and weights stay on the chip") {
  // A batch of 3, 4 queries and 5 keys, 6 heads of the query, 2 of the key, depth 8.
  const ValueType query = plain(Dtype::BF16, {3, 4, 6, 8});
  const ValueType key = plain(Dtype::BF16, {3, 5, 2, 8});
  const int64_t product = 2 * 3 * 6 * (4 * 5) * 8;
  const int64_t of_query = 2 * (3 * 4 * 6 * 8);
  const int64_t of_key = 2 * (3 * 5 * 2 * 8);
  const Cost forward = cost(OpKind::DotProductAttention, {query, key, key});
  CHECK(forward.flops == Flops(2 * product));
  CHECK(forward.bytes == Bytes(2 * of_query + 2 * of_key));
  CHECK(forward.dtype == Dtype::BF16);
  CHECK(forward.attention->keys == 5);
  CHECK(forward.again == Flops());
  const Cost back = cost(OpKind::DotProductAttentionVjp, {query, key, key, query});
  CHECK(back.flops == Flops(5 * product));
  CHECK(back.again == Flops(product));  // the scores
  CHECK(back.bytes == Bytes(3 * of_query + 4 * of_key));
}

TEST_CASE("cost: causal attention counts the keys that each query meets") {
  const auto pairs = [](int64_t queries, int64_t keys) {
    const Cost of = cost(OpKind::DotProductAttention,
                         {plain(Dtype::F32, {queries, 1, 1}), plain(Dtype::F32, {keys, 1, 1}),
                          plain(Dtype::F32, {keys, 1, 1})},
                         {{"is_causal", true}});
    return of.flops.count() / 4;
  };
  for (int64_t queries = 1; queries < 5; ++queries)
    for (int64_t keys = 1; keys < 5; ++keys) {
      int64_t met = 0;
      for (int64_t query = 0; query < queries; ++query)
        met += std::min(query + 1, keys);
      CHECK(pairs(queries, keys) == met);
    }
}

TEST_CASE("cost: complex arithmetic is one operation an element too, as XLA counts") {
  const ValueType z = plain(Dtype::C128, {10});
  CHECK(cost(OpKind::Mul, {z, z}).flops == Flops(10));
  CHECK(cost(OpKind::Real, {z}).flops == Flops(10));
  CHECK(cost(OpKind::Real, {z}).bytes == Bytes(10 * 16 + 10 * 8));
}

TEST_CASE("cost: a slice reads only what it keeps") {
  const Cost of = cost(OpKind::Slice, {plain(Dtype::F32, {100})},
                       {{"start_indices", Integers{0}}, {"limit_indices", Integers{10}}});
  CHECK(of.bytes == Bytes(2 * 10 * 4));
}

TEST_CASE("cost: what moves elements or writes constants computes nothing") {
  const ValueType array = plain(Dtype::F32, {100});
  const ValueType start = plain(Dtype::S32, {});
  for (const Cost& of :
       std::vector<Cost>{cost(OpKind::Slice, {array},
                              {{"start_indices", Integers{0}}, {"limit_indices", Integers{10}}}),
                         cost(OpKind::Transpose, {array}, {{"permutation", Integers{0}}}),
                         cost(OpKind::DynamicSlice, {array, start}, {{"slice_sizes", Integers{5}}}),
                         cost(OpKind::Full, {},
                              {{"shape", Integers{5}}, {"fill_value", 0.0}, {"dtype", Dtype::F64}}),
                         cost(OpKind::AxisIndex, {}, {{"axis_name", Names{}}})})
    CHECK(of.flops == Flops(0));
}

TEST_CASE("cost: indexed reads cost what they keep, and the indices") {
  const ValueType start = plain(Dtype::S32, {});
  CHECK(cost(OpKind::DynamicSlice, {plain(Dtype::F32, {100, 10}), start, start},
             {{"slice_sizes", Integers{5, 10}}})
            .bytes == Bytes(2 * 50 * 4 + 2 * 4));
  // The whole operand is copied, since the result has a buffer of its own.
  CHECK(cost(OpKind::DynamicUpdateSlice, {plain(Dtype::F32, {100}), plain(Dtype::F32, {5}), start})
            .bytes == Bytes(2 * 100 * 4 + 4));
  CHECK(cost(OpKind::Take, {plain(Dtype::F16, {100, 10}), plain(Dtype::S32, {3})}, {{"axis", 0}})
            .bytes == Bytes(2 * 3 * 10 * 2 + 3 * 4));
}

TEST_CASE("cost: pad and broadcast_in_dim read their operands once") {
  CHECK(cost(OpKind::BroadcastInDim, {plain(Dtype::F32, {3})},
             {{"shape", Integers{10, 3}}, {"broadcast_dimensions", Integers{1}}})
            .bytes == Bytes(3 * 4 + 30 * 4));
  CHECK(cost(OpKind::Pad, {plain(Dtype::F32, {3}), plain(Dtype::F32, {})},
             {{"padding_config", Lists{{1, 0, 0}}}})
            .bytes == Bytes(3 * 4 + 4 + 4 * 4));
}

TEST_CASE("cost: reorder_sequence reads its operand once and writes it once") {
  const Cost of = cost(OpKind::ReorderSequence, {plain(Dtype::F16, {3, 8})}, {{"cp_size", 2}});
  CHECK(of.flops == Flops(0));
  CHECK(of.bytes == Bytes(2 * 24 * 2));
}

TEST_CASE("cost: a reduction is one operation for each element that is folded in") {
  const Cost of = cost(OpKind::ReduceSum, {plain(Dtype::BF16, {10, 6})}, {{"axes", Integers{1}}});
  CHECK(of.flops == Flops(60));
  CHECK(of.bytes == Bytes(60 * 2 + 10 * 2));
  CHECK(of.dtype == Dtype::BF16);
}

TEST_CASE("cost: reshape copies nothing and costs nothing") {
  CHECK(
      cost(OpKind::Reshape, {plain(Dtype::F32, {100})}, {{"new_sizes", Integers{10, 10}}}).bytes ==
      Bytes(0));
}

TEST_CASE("cost: split reads its operand once and writes the parts; a barrier does nothing") {
  CHECK(cost(OpKind::Split, {plain(Dtype::F32, {6})}, {{"sizes", Integers{1, 5}}}).bytes ==
        Bytes(2 * 6 * 4));
  const Cost barrier =
      cost(OpKind::OptimizationBarrier, {plain(Dtype::F32, {6}), plain(Dtype::F32, {2})});
  CHECK(barrier.bytes == Bytes());
  CHECK_FALSE(barrier.runs);
}

/// Returns the memory of an op's results, each of one element.
OpMemory memory(OpKind kind, size_t results, Given given = {}) {
  const std::vector<ValueType> types(results, plain(Dtype::F32, {}));
  return rules(kind).memory(test::attributes_of(kind, given), types, types);
}

TEST_CASE("memory: where the results of each family lie") {
  using Results = std::vector<ResultMemory>;
  CHECK(memory(OpKind::Transpose, 1).results == Results{{Alias::Fresh}});
  CHECK(memory(OpKind::Split, 2).results == Results{{Alias::Fresh}, {Alias::Fresh}});
  CHECK(memory(OpKind::Add, 1).results == Results{{Alias::DyingOperand}});
  CHECK(memory(OpKind::ScatterAdd, 1).results == Results{{Alias::DyingFirst}});
  CHECK(memory(OpKind::Reshape, 1).results == Results{{Alias::Operand, 0}});
  CHECK(memory(OpKind::Done, 1).results == Results{{Alias::Operand, 0}});
  CHECK(memory(OpKind::OptimizationBarrier, 2).results ==
        Results{{Alias::Operand, 0}, {Alias::Operand, 1}});
}

/// Returns the program x, u, i, y = `kind`(x, u, i), or y = `kind`(x, u, i, i) for f32[8,2] and an
/// update f32[1,2].
Program updating(OpKind kind, bool donates) {
  Diagnostics diagnostics("f");
  ProgramBuilder builder(Mesh({{"x", 1}}), Checks::Shapes, diagnostics);
  builder.argument("x", Dtype::F32, Shape({8, 2}), {});
  builder.argument("u", Dtype::F32, Shape({1, 2}), {});
  const bool rows = kind == OpKind::ScatterAdd;
  builder.argument("i", Dtype::S32, rows ? Shape({1}) : Shape(), {});
  builder.thread("main", {LogicalId(0)});
  OpRequest update;
  update.name = "y";
  update.kind = kind;
  update.operands = {"x", "u", "i"};
  if (rows)
    update.attributes.set("axis", int64_t{0});
  else
    update.operands.emplace_back("i");
  if (donates)
    update.donated = {"x"};
  builder.op(std::move(update));
  Program program = builder.finish();
  diagnostics.throw_if_any();
  return program;
}

TEST_CASE("an update of a donated array is written over it, and costs the update alone") {
  for (const OpKind kind : {OpKind::DynamicUpdateSlice, OpKind::ScatterAdd}) {
    const bool adds = kind == OpKind::ScatterAdd;
    CAPTURE(adds);
    // Bytes of x or y, of u, and of all indices.
    const int64_t whole = 8 * 2 * 4;
    const int64_t update = 2 * 4;
    const int64_t indices = adds ? 4 : 2 * 4;
    const Program copies = updating(kind, false);
    CHECK(cost_of(copies, copies.ops[0]).bytes == Bytes(2 * whole + (adds ? update : 0) + indices));
    CHECK(copies.values[3].buffer != copies.values[0].buffer);
    const Program writes = updating(kind, true);
    CHECK(cost_of(writes, writes.ops[0]).bytes ==
          Bytes(2 * update + (adds ? update : 0) + indices));
    CHECK(memory_of(writes, writes.ops[0]).results ==
          std::vector<ResultMemory>{{Alias::InPlace, 0}});
    CHECK(writes.values[3].buffer == writes.values[0].buffer);
  }
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
  CHECK(cost(OpKind::Full, {}, {{"shape", Integers{5}}, {"fill_value", 0.0}, {"dtype", Dtype::F64}})
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
