#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/models/program/type_table.h"

namespace orrery::test {
namespace {

/// Returns the result for an f32 operand that varies along x, on x = n devices.
std::string over_x(int64_t n, OpKind kind, Shape shape, Given given) {
  return outcome(Mesh({{"x", n}}), kind, {type(Dtype::F32, std::move(shape), "V")}, given);
}

TEST_CASE("collectives: shapes for every group size") {
  for (int64_t n = 2; n <= 5; ++n) {
    CAPTURE(n);
    const Shape some = {3, 2 * n, 4};
    const Shape with_n = {3, n, 4};
    CHECK(over_x(n, OpKind::Psum, some, {{"axis_name", kX}}) == fmt::format("f32[3,{},4]", 2 * n));
    CHECK(over_x(n, OpKind::Pmax, some, {{"axis_name", kX}}) == fmt::format("f32[3,{},4]", 2 * n));
    CHECK(over_x(n, OpKind::Pmin, some, {{"axis_name", kX}}) == fmt::format("f32[3,{},4]", 2 * n));

    // Untiled, n is inserted at the axis, which may be one past the last. Tiled, an extent grows.
    CHECK(over_x(n, OpKind::AllGather, {3, 4}, {{"axis_name", kX}}) ==
          fmt::format("f32[{},3,4]{{V:x}}", n));
    CHECK(over_x(n, OpKind::AllGather, {3, 4}, {{"axis_name", kX}, {"axis", 2}}) ==
          fmt::format("f32[3,4,{}]{{V:x}}", n));
    CHECK(over_x(n, OpKind::AllGather, {3, 4}, {{"axis_name", kX}, {"axis", 1}, {"tiled", true}}) ==
          fmt::format("f32[3,{}]{{V:x}}", 4 * n));

    // Untiled, the dimension of extent n is removed. Tiled, an extent is divided.
    CHECK(over_x(n, OpKind::PsumScatter, with_n, {{"axis_name", kX}, {"scatter_dimension", 1}}) ==
          "f32[3,4]{V:x}");
    CHECK(over_x(n, OpKind::PsumScatter, some,
                 {{"axis_name", kX}, {"scatter_dimension", 1}, {"tiled", true}}) ==
          "f32[3,2,4]{V:x}");

    // Untiled, the dimension of extent n is removed, then n is inserted. Tiled, one extent is
    // divided and another one grows; if both are the same dimension, nothing changes.
    CHECK(over_x(n, OpKind::AllToAll, with_n,
                 {{"axis_name", kX}, {"split_axis", 1}, {"concat_axis", 0}}) ==
          fmt::format("f32[{},3,4]{{V:x}}", n));
    CHECK(over_x(n, OpKind::AllToAll, with_n,
                 {{"axis_name", kX}, {"split_axis", 1}, {"concat_axis", 2}}) ==
          fmt::format("f32[3,4,{}]{{V:x}}", n));
    CHECK(over_x(n, OpKind::AllToAll, some,
                 {{"axis_name", kX}, {"split_axis", 1}, {"concat_axis", 0}, {"tiled", true}}) ==
          fmt::format("f32[{},2,4]{{V:x}}", 3 * n));
    CHECK(over_x(n, OpKind::AllToAll, some,
                 {{"axis_name", kX}, {"split_axis", 1}, {"concat_axis", 1}, {"tiled", true}}) ==
          fmt::format("f32[3,{},4]{{V:x}}", 2 * n));

    // The dimension of extent n is exchanged with the axis.
    CHECK(over_x(n, OpKind::Pswapaxes, with_n, {{"axis_name", kX}, {"axis", 1}}) ==
          fmt::format("f32[3,{},4]{{V:x}}", n));

    CHECK(over_x(n, OpKind::Ppermute, some, {{"axis_name", kX}, {"perm", Lists{{0, 1}}}}) ==
          fmt::format("f32[3,{},4]{{V:x}}", 2 * n));
  }
}

TEST_CASE("all_gather: a negative axis counts from the end of the result") {
  // Untiled, the result has three dimensions; tiled, it has two.
  CHECK(over_x(5, OpKind::AllGather, {3, 4}, {{"axis_name", kX}, {"axis", -1}}) ==
        "f32[3,4,5]{V:x}");
  CHECK(over_x(5, OpKind::AllGather, {3, 4}, {{"axis_name", kX}, {"axis", -3}}) ==
        "f32[5,3,4]{V:x}");
  CHECK(over_x(5, OpKind::AllGather, {3, 4}, {{"axis_name", kX}, {"axis", -1}, {"tiled", true}}) ==
        "f32[3,20]{V:x}");
  CHECK(over_x(5, OpKind::AllGather, {3, 4}, {{"axis_name", kX}, {"axis", -4}}) ==
        "axis: expected a dimension of the result, from -3 to 2, got -4");
  CHECK(over_x(5, OpKind::AllGather, {3, 4}, {{"axis_name", kX}, {"axis", 2}, {"tiled", true}}) ==
        "axis: expected a dimension of the result, from -2 to 1, got 2");
}

TEST_CASE("all_gather: a scalar can be stacked, not tiled") {
  CHECK(over_x(5, OpKind::AllGather, {}, {{"axis_name", kX}}) == "f32[5]{V:x}");
  CHECK(over_x(5, OpKind::AllGather, {}, {{"axis_name", kX}, {"tiled", true}}) ==
        "axis: expected an operand with dimensions, got a scalar");
}

TEST_CASE("collectives: extents that the group does not divide are refused") {
  CHECK(over_x(4, OpKind::PsumScatter, {6}, {{"axis_name", kX}, {"tiled", true}}) ==
        "scatter_dimension: expected dimension 0 to be divisible by the group size 4, got 6");
  CHECK(over_x(4, OpKind::PsumScatter, {8}, {{"axis_name", kX}}) ==
        "scatter_dimension: expected dimension 0 to be the group size 4, got 8; a tiled one need "
        "only be divisible by it");
  CHECK(over_x(4, OpKind::PsumScatter, {8}, {{"axis_name", kX}, {"scatter_dimension", 1}}) ==
        "scatter_dimension: expected a dimension from 0 to 0, got 1");
  CHECK(over_x(4, OpKind::AllToAll, {4, 6},
               {{"axis_name", kX}, {"split_axis", 1}, {"concat_axis", 0}, {"tiled", true}}) ==
        "split_axis: expected dimension 1 to be divisible by the group size 4, got 6");
  CHECK(over_x(4, OpKind::AllToAll, {4, 6},
               {{"axis_name", kX}, {"split_axis", 0}, {"concat_axis", 2}}) ==
        "concat_axis: expected a dimension from 0 to 1, got 2");
}

TEST_CASE("pswapaxes: the dimension has an entry for each rank") {
  CHECK(over_x(4, OpKind::Pswapaxes, {8, 4}, {{"axis_name", kX}, {"axis", 0}}) ==
        "axis: expected dimension 0 to be the group size 4, got 8");
  CHECK(over_x(4, OpKind::Pswapaxes, {8, 4}, {{"axis_name", kX}, {"axis", 2}}) ==
        "axis: expected a dimension from 0 to 1, got 2");
}

TEST_CASE("psum: pred is counted in s32, other dtypes are kept") {
  const Mesh mesh({{"x", 2}});
  CHECK(outcome(mesh, OpKind::Psum, {type(Dtype::Pred, {3}, "V")}, {{"axis_name", kX}}) ==
        "s32[3]");
  for (const Dtype dtype : all_dtypes()) {
    if (dtype != Dtype::Pred)
      CHECK(outcome(mesh, OpKind::Psum, {type(dtype, {3}, "V")}, {{"axis_name", kX}}) ==
            fmt::format("{}[3]", name(dtype)));
  }
}

TEST_CASE(
    "pmean: floats and complex numbers are kept, integers become f32, and those of 64 bits f64") {
  const Mesh mesh({{"x", 2}});
  for (const Dtype dtype : all_dtypes()) {
    const Dtype wide = itemsize(dtype) == Bytes(8) ? Dtype::F64 : Dtype::F32;
    CHECK(outcome(mesh, OpKind::Pmean, {type(dtype, {3}, "V")}, {{"axis_name", kX}}) ==
          fmt::format("{}[3]", name(is_inexact(dtype) ? dtype : wide)));
  }
  // The same holds over no axes, where the divisor is 1.
  CHECK(outcome(mesh, OpKind::Pmean, {type(Dtype::Pred, {3}, "V")}, {{"axis_name", Names{}}}) ==
        "f32[3]{V:x}");
}

TEST_CASE("pmax, pmin, pargmax, pargmin: complex numbers have no order") {
  const Mesh mesh({{"x", 2}});
  for (const OpKind kind : {OpKind::Pmax, OpKind::Pmin, OpKind::Pargmax, OpKind::Pargmin})
    for (const Dtype dtype : {Dtype::C64, Dtype::C128})
      CHECK(
          outcome(mesh, kind, {type(dtype, {3}, "V")}, {{"axis_name", kX}}) ==
          fmt::format("of: expected elements that have an order, got {}; complex numbers have none",
                      name(dtype)));
}

TEST_CASE("pargmax, pargmin: s32, along one axis") {
  const Mesh mesh({{"x", 2}, {"y", 2}});
  const ValueType operand = type(Dtype::F64, {3}, "VV");
  for (const OpKind kind : {OpKind::Pargmax, OpKind::Pargmin}) {
    CHECK(outcome(mesh, kind, {operand}, {{"axis_name", Names{"y"}}}) == "s32[3]{V:x}");
    CHECK(outcome(mesh, kind, {operand}, {{"axis_name", Names{"x", "y"}}}) ==
          "axis_name: expected one axis, got 2");
    CHECK(outcome(mesh, kind, {operand}, {{"axis_name", Names{}}}) ==
          "axis_name: expected one axis, got 0");
  }
}

TEST_CASE("psum_scatter: pred has no sum to scatter") {
  CHECK(outcome(Mesh({{"x", 2}}), OpKind::PsumScatter, {type(Dtype::Pred, {2}, "V")},
                {{"axis_name", kX}}) == "of: expected an operand of numbers, got pred");
}

TEST_CASE("pmax, pmin: pred is kept") {
  for (const OpKind kind : {OpKind::Pmax, OpKind::Pmin})
    CHECK(outcome(Mesh({{"x", 2}}), kind, {type(Dtype::Pred, {2}, "V")}, {{"axis_name", kX}}) ==
          "pred[2]");
}

TEST_CASE("collectives: over no axes each gives its operand") {
  const Mesh mesh({{"x", 3}});
  const ValueType pred = type(Dtype::Pred, {5}, "V");
  CHECK(outcome(mesh, OpKind::Psum, {pred}, {{"axis_name", Names{}}}) == "pred[5]{V:x}");
  CHECK(outcome(mesh, OpKind::Pmax, {pred}, {{"axis_name", Names{}}}) == "pred[5]{V:x}");
  CHECK(outcome(mesh, OpKind::AllGather, {pred}, {{"axis_name", Names{}}}) == "pred[5]{V:x}");
  CHECK(outcome(mesh, OpKind::PsumScatter, {pred}, {{"axis_name", Names{}}}) == "pred[5]{V:x}");
  CHECK(outcome(mesh, OpKind::AllToAll, {pred},
                {{"axis_name", Names{}}, {"split_axis", 0}, {"concat_axis", 0}, {"tiled", true}}) ==
        "pred[5]{V:x}");
  CHECK(outcome(mesh, OpKind::Ppermute, {pred}, {{"axis_name", Names{}}, {"perm", Lists{}}}) ==
        "pred[5]{V:x}");
  CHECK(outcome(mesh, OpKind::Pshuffle, {pred}, {{"axis_name", Names{}}, {"perm", Integers{0}}}) ==
        "pred[5]{V:x}");
  CHECK(outcome(mesh, OpKind::Pbroadcast, {pred}, {{"axis_name", Names{}}, {"source", 0}}) ==
        "pred[5]{V:x}");
}

TEST_CASE("collectives: over no axes an untiled all_to_all is as over an axis of size 1") {
  const Mesh mesh({{"x", 3}});
  const auto untiled = [&](Shape shape, int64_t split, int64_t concat) {
    return outcome(mesh, OpKind::AllToAll, {type(Dtype::F32, std::move(shape), "V")},
                   {{"axis_name", Names{}}, {"split_axis", split}, {"concat_axis", concat}});
  };
  CHECK(untiled({1, 4}, 0, 1) == "f32[4,1]{V:x}");
  CHECK(untiled({4, 1}, 1, 0) == "f32[1,4]{V:x}");
  CHECK(untiled({2, 1}, 0, 1) ==
        "split_axis: expected dimension 0 to be the group size 1, got 2; a tiled one need only be "
        "divisible by it");
  const auto swapped = [&](int64_t axis) {
    return outcome(mesh, OpKind::Pswapaxes, {type(Dtype::F32, {1, 4}, "V")},
                   {{"axis_name", Names{}}, {"axis", axis}});
  };
  CHECK(swapped(0) == "f32[1,4]{V:x}");
  CHECK(swapped(1) == "axis: expected dimension 1 to be the group size 1, got 4");
}

TEST_CASE("collectives: over no axes parameters are checked") {
  const Mesh mesh({{"x", 3}});
  const auto wrong = [&](OpKind kind, Given parameters) {
    return outcome(mesh, kind, {type(Dtype::F32, {2}, "V")}, parameters);
  };
  CHECK(wrong(OpKind::AllToAll,
              {{"axis_name", Names{}}, {"split_axis", 7}, {"concat_axis", 0}, {"tiled", true}}) ==
        "split_axis: expected a dimension from 0 to 0, got 7");
  CHECK(wrong(OpKind::AllToAll,
              {{"axis_name", Names{}}, {"split_axis", 0}, {"concat_axis", 7}, {"tiled", true}}) ==
        "concat_axis: expected a dimension from 0 to 0, got 7");
  for (const OpKind kind :
       {OpKind::AllGather, OpKind::AllGatherInvariant, OpKind::AllGatherReduced})
    CHECK(wrong(kind, {{"axis_name", Names{}}, {"axis", 7}}) ==
          "axis: expected a dimension of the result, from -2 to 1, got 7");
  for (const OpKind kind : {OpKind::PsumScatter, OpKind::UnreducedPsumScatter})
    CHECK(wrong(kind, {{"axis_name", Names{}}, {"scatter_dimension", 9}}) ==
          "scatter_dimension: expected a dimension from 0 to 0, got 9");
  CHECK(wrong(OpKind::Ppermute, {{"axis_name", Names{}}, {"perm", Lists{{3, 5}}}}) ==
        "perm: expected ranks from 0 to 0, got 3");
  CHECK(wrong(OpKind::Pshuffle, {{"axis_name", Names{}}, {"perm", Integers{7}}}) ==
        "perm: expected each of the ranks 0 to 0 once, got [7]");
  CHECK(wrong(OpKind::Pbroadcast, {{"axis_name", Names{}}, {"source", 1}}) ==
        "source: expected a rank from 0 to 0, got 1");
}

TEST_CASE("collectives: the group size is that of axis_index_groups") {
  const Lists halves = {{0, 1}, {2, 3}};
  CHECK(over_x(4, OpKind::AllGather, {3}, {{"axis_name", kX}, {"axis_index_groups", halves}}) ==
        "f32[2,3]{V:x}");
  CHECK(over_x(4, OpKind::PsumScatter, {6},
               {{"axis_name", kX}, {"axis_index_groups", halves}, {"tiled", true}}) ==
        "f32[3]{V:x}");
}

TEST_CASE("collectives: several axes make one group") {
  const Mesh mesh({{"x", 2}, {"y", 3}});
  CHECK(outcome(mesh, OpKind::AllGather, {type(Dtype::F32, {5}, "VV")},
                {{"axis_name", Names{"y", "x"}}}) == "f32[6,5]{V:(x,y)}");
  CHECK(outcome(mesh, OpKind::Psum, {type(Dtype::F32, {5}, "VV")}, {{"axis_name", Names{"y"}}}) ==
        "f32[5]{V:x}");
}

TEST_CASE("axis_index_groups: each rank in one group, no group empty") {
  const auto psum = [](Lists groups) {
    return over_x(4, OpKind::Psum, {1}, {{"axis_name", kX}, {"axis_index_groups", groups}});
  };
  CHECK(psum({{0, 1}, {2}, {3}}) == "f32[1]{V:x}");
  CHECK(psum({{0, 1}, {2, 4}}) == "axis_index_groups: expected ranks from 0 to 3, got 4");
  CHECK(psum({{0, -1}, {2, 3}}) == "axis_index_groups: expected ranks from 0 to 3, got -1");
  CHECK(psum({{0, 1}, {1, 2, 3}}) ==
        "axis_index_groups: expected each rank in one group, got rank 1 twice");
  CHECK(psum({{0, 1}, {3}}) ==
        "axis_index_groups: expected each of the 4 ranks in a group, got none with rank 2");
  CHECK(psum({{0, 1, 2, 3}, {}}) ==
        "axis_index_groups: expected groups of at least one rank, got an empty one");
  CHECK(psum({}) ==
        "axis_index_groups: expected each of the 4 ranks in a group, got none with rank 0");
}

TEST_CASE("axis_index_groups: only reductions take groups of several sizes") {
  const Lists uneven = {{0, 1, 2}, {3}};
  CHECK(over_x(4, OpKind::Pmax, {1}, {{"axis_name", kX}, {"axis_index_groups", uneven}}) ==
        "f32[1]{V:x}");
  CHECK(over_x(4, OpKind::AllGather, {1}, {{"axis_name", kX}, {"axis_index_groups", uneven}}) ==
        "axis_index_groups: expected groups of one size, got 3 and 1");
}

TEST_CASE("ppermute: ranks of the group, each source and each destination once") {
  const auto ppermute = [](Lists perm) {
    return over_x(3, OpKind::Ppermute, {1}, {{"axis_name", kX}, {"perm", perm}});
  };
  CHECK(ppermute({}) == "f32[1]{V:x}");
  CHECK(ppermute({{0, 0}, {1, 2}}) == "f32[1]{V:x}");
  CHECK(ppermute({{0, 1, 2}}) == "perm: expected pairs [source, destination], got [0,1,2]");
  CHECK(ppermute({{0, 3}}) == "perm: expected ranks from 0 to 2, got 3");
  CHECK(ppermute({{-1, 0}}) == "perm: expected ranks from 0 to 2, got -1");
  CHECK(ppermute({{0, 1}, {0, 2}}) == "perm: expected each source once, got rank 0 twice");
  CHECK(ppermute({{0, 1}, {2, 1}}) == "perm: expected each destination once, got rank 1 twice");
}

TEST_CASE("ppermute: axes in another order than the mesh's are refused") {
  const Mesh mesh({{"x", 2}, {"y", 3}});
  const ValueType operand = type(Dtype::F32, {1}, "VV");
  CHECK(outcome(mesh, OpKind::Ppermute, {operand},
                {{"axis_name", Names{"x", "y"}}, {"perm", Lists{{0, 5}}}}) == "f32[1]{V:(x,y)}");
  CHECK(outcome(mesh, OpKind::Ppermute, {operand},
                {{"axis_name", Names{"y", "x"}}, {"perm", Lists{{0, 5}}}}) ==
        "axis_name: expected axes in the order of the mesh, got (y, x)");
}

TEST_CASE("pshuffle: each rank of the group once") {
  const auto pshuffle = [](Integers perm) {
    return over_x(3, OpKind::Pshuffle, {1}, {{"axis_name", kX}, {"perm", perm}});
  };
  CHECK(pshuffle({2, 0, 1}) == "f32[1]{V:x}");
  CHECK(pshuffle({1, 0}) == "perm: expected each of the ranks 0 to 2 once, got [1,0]");
  CHECK(pshuffle({1, 0, 2, 3}) == "perm: expected each of the ranks 0 to 2 once, got [1,0,2,3]");
  CHECK(pshuffle({0, 1, 1}) == "perm: expected each of the ranks 0 to 2 once, got [0,1,1]");
  CHECK(pshuffle({-1, 0, 1}) == "perm: expected each of the ranks 0 to 2 once, got [-1,0,1]");
}

TEST_CASE("pshuffle: axes in another order than the mesh's are refused") {
  const Mesh mesh({{"x", 2}, {"y", 2}});
  const ValueType operand = type(Dtype::F32, {1}, "VV");
  CHECK(outcome(mesh, OpKind::Pshuffle, {operand},
                {{"axis_name", Names{"x", "y"}}, {"perm", Integers{3, 2, 1, 0}}}) ==
        "f32[1]{V:(x,y)}");
  CHECK(outcome(mesh, OpKind::Pshuffle, {operand},
                {{"axis_name", Names{"y", "x"}}, {"perm", Integers{3, 2, 1, 0}}}) ==
        "axis_name: expected axes in the order of the mesh, got (y, x)");
}

TEST_CASE("pbroadcast: a source of the group, and an operand that varies") {
  const Mesh mesh({{"x", 3}});
  const auto pbroadcast = [&](std::string_view states, int64_t source) {
    return outcome(mesh, OpKind::Pbroadcast, {type(Dtype::F32, {2}, std::string(states))},
                   {{"axis_name", Names{"x"}}, {"source", source}});
  };
  CHECK(pbroadcast("V", 2) == "f32[2]{V:x}");
  CHECK(pbroadcast("V", 3) == "source: expected a rank from 0 to 2, got 3");
  CHECK(pbroadcast("V", -1) == "source: expected a rank from 0 to 2, got -1");
  CHECK(
      pbroadcast("I", 0) ==
      "of: expected an operand that is varying over x, got f32[2]; pvary over x makes it varying");
}

TEST_CASE("done: a future becomes its value, and nothing else does") {
  const Mesh mesh({{"x", 2}});
  ValueType future = type(Dtype::BF16, {2, 3}, "V");
  future.future = true;
  CHECK(outcome(mesh, OpKind::Done, {future}, {}) == "bf16[2,3]{V:x}");
  CHECK(outcome(mesh, OpKind::Done, {type(Dtype::BF16, {2, 3}, "V")}, {}) ==
        "of: expected a future, the result of a start, got bf16[2,3]{V:x}");
}

TEST_CASE("collective types: extents that overflow throw Overflow") {
  const Shape huge = {int64_t{1} << 62};
  CHECK_THROWS_AS(over_x(2, OpKind::AllGather, huge, {{"axis_name", kX}, {"tiled", true}}),
                  Overflow);
}

}  // namespace
}  // namespace orrery::test
