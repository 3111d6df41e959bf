#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/verifier/bounded.h"
#include "verifier/definition/bound_tensor.h"
#include "verifier/definition/compare.h"

using namespace orrery;
using namespace orrery::test;

TEST_CASE("bounds: a comparison of rounded floats is exact where they are further apart") {
  Bounded bounded;
  // s is 4, -2 with errors of 4 u and 6 u. The first element of "near" is nearer to 4 than that.
  const double near = 4 + 0x1p-22;  // by 4 u
  bounded.rig.argument("near", {{near, -3}, {near, -3}});
  bounded.rig.op("lt", "less", {"s", "near"});
  bounded.rig.op("max", "either", {"less", "less"});
  bounded.rig.op("pmax", "any", {"less"}, {{"axis_name", Names{"x"}}});
  bounded.rig.op("psum", "count", {"less"}, {{"axis_name", Names{"x"}}});
  bounded.rig.op("reduce_max", "one", {"less"}, {{"axes", Integers{0}}});
  bounded.rig.op("slice", "second", {"less"},
                 {{"start_indices", Integers{1}}, {"limit_indices", Integers{2}}});
  // The selected element is unknown too, though both cases are exact.
  bounded.rig.op("select_n", "selected", {"less", "a", "near"});
  check_unknown(bounded, "less", {true, false});
  check_unknown(bounded, "either", {true, false});
  check_unknown(bounded, "any", {true, false});
  check_unknown(bounded, "count", {true, false});
  check_unknown(bounded, "one", {true});
  check_unknown(bounded, "second", {false});
  check_unknown(bounded, "selected", {true, false});
}

/// Returns the bounds of `compared` == the largest element of the row, for the array "r" of two
/// rows of two.
std::vector<double> of_largest(Bounded& bounded, const std::string& compared) {
  bounded.rig.op("reduce_max", "largest", {"r"}, {{"axes", Integers{1}}});
  bounded.rig.op("broadcast_in_dim", "spread", {"largest"},
                 {{"shape", Integers{2, 2}}, {"broadcast_dimensions", Integers{0}}});
  bounded.rig.op("eq", "is", {compared, "spread"});
  return bounded.of("is");
}

TEST_CASE("bounds: which rounded float is the largest is exact where no other is as near") {
  // The second row's elements differ by one unit in the last place, and both sums may be off by up
  // to half a unit.
  const Tensor half = tensor(Dtype::F32, {2, 2}, {1, 2, 1, 1 + 0x1p-23});
  Bounded bounded({half, half});
  bounded.rig.op("add", "r", {"s", "s"});
  CHECK(of_largest(bounded, "r") == std::vector<double>{0, 0, kNoBound, kNoBound});
}

TEST_CASE("bounds: an equal float of another array may not be exactly equal") {
  const Tensor half = tensor(Dtype::F32, {2, 2}, {1, 2, 3, 5});
  Bounded bounded({half, half});
  bounded.rig.op("add", "r", {"s", "s"});
  bounded.rig.op("add", "again", {"s", "s"});
  CHECK(of_largest(bounded, "again") == std::vector<double>{0, kNoBound, 0, kNoBound});
}

TEST_CASE("bounds: a rounded float makes exact integers where its error spans no other") {
  Bounded bounded;
  bounded.rig.argument("third", {{0.5, 1.25}, {0.5, 1.25}});
  bounded.rig.op("psum", "t", {"third"}, {{"axis_name", Names{"x"}}});  // 1, 2.5
  bounded.rig.op("convert_element_type", "whole", {"t"}, {{"new_dtype", Dtype::S32}});
  bounded.rig.op("sub", "zero", {"t", "t"});
  bounded.rig.op("convert_element_type", "is", {"t"}, {{"new_dtype", Dtype::Pred}});
  bounded.rig.op("convert_element_type", "is_not", {"zero"}, {{"new_dtype", Dtype::Pred}});
  bounded.rig.op("slice", "first", {"whole"},
                 {{"start_indices", Integers{0}}, {"limit_indices", Integers{1}}});
  bounded.rig.op("reshape", "index", {"first"}, {{"new_sizes", Integers{}}});
  bounded.rig.op("dynamic_slice", "row", {"a", "index"}, {{"slice_sizes", Integers{1}}});
  check_unknown(bounded, "whole", {true, false});
  check_unknown(bounded, "is", {false, false});
  check_unknown(bounded, "is_not", {true, true});
  check_unknown(bounded, "row", {true});
}

TEST_CASE("bounds: a rounded float that is as large as its error may be zero") {
  const auto add_ops = [](Bounded& bounded, double least) {
    const Tensor same = tensor(Dtype::F64, {2}, {4, -2});
    const Tensor others = tensor(Dtype::F64, {2}, {least, 1});
    bounded.rig.argument("same", {same, same});
    bounded.rig.argument("others", {others, others});
    bounded.rig.op("convert_element_type", "wide", {"s"}, {{"new_dtype", Dtype::F64}});
    bounded.rig.op("sub", "zero", {"wide", "same"});
    bounded.rig.op("max", "m", {"zero", "others"});
    bounded.rig.op("convert_element_type", "is", {"m"}, {{"new_dtype", Dtype::Pred}});
  };
  Bounded first;
  add_ops(first, 0);
  const double error = first.of("m")[0];
  Bounded bounded;
  add_ops(bounded, error);
  REQUIRE(bounded.of("m")[0] == error);
  check_unknown(bounded, "is", {true, false});
  Bounded larger;
  add_ops(larger, 2 * error);
  check_unknown(larger, "is", {false, false});
}

TEST_CASE("bounds: the rank of the largest of rounded floats is unknown") {
  Bounded bounded;
  bounded.rig.op("pargmax", "of_exact", {"a"}, {{"axis_name", Names{"x"}}});
  bounded.rig.op("pargmax", "of_sums", {"s"}, {{"axis_name", Names{"x"}}});
  check_unknown(bounded, "of_exact", {false, false});
  check_unknown(bounded, "of_sums", {true, true});
}

TEST_CASE("bounds: what take fills is exact") {
  Bounded bounded;
  bounded.rig.argument("outside", {tensor(Dtype::S32, {}, {9}), tensor(Dtype::S32, {}, {9})});
  bounded.rig.op("take", "filled", {"s", "outside"}, {{"axis", int64_t{0}}});
  bounded.rig.op("take", "fives", {"s", "outside"}, {{"axis", int64_t{0}}, {"fill_value", 5.0}});
  check_unknown(bounded, "filled", {false});
  check_unknown(bounded, "fives", {false});
}

TEST_CASE("bounds: integers that rounded updates may be added to are unknown") {
  Bounded bounded;
  bounded.rig.op("convert_element_type", "whole", {"s"}, {{"new_dtype", Dtype::S32}});
  bounded.rig.op("full", "first", {},
                 {{"shape", Integers{2}}, {"fill_value", 0.0}, {"dtype", Dtype::S32}});
  bounded.rig.op("full", "ones", {},
                 {{"shape", Integers{2}}, {"fill_value", 1.0}, {"dtype", Dtype::S32}});
  // 4 and -2 may have been smaller, and only the first row gets them.
  bounded.rig.op("scatter_add", "sum", {"ones", "whole", "first"}, {{"axis", int64_t{0}}});
  check_unknown(bounded, "whole", {true, true});
  check_unknown(bounded, "sum", {true, false});
}

TEST_CASE("bounds: a mask of converted indices is exact") {
  Bounded bounded;
  bounded.rig.op("iota", "i", {},
                 {{"shape", Integers{2}}, {"dtype", Dtype::S32}, {"dimension", int64_t{0}}});
  bounded.rig.op("convert_element_type", "f", {"i"}, {{"new_dtype", Dtype::F32}});
  bounded.rig.op("full", "one", {},
                 {{"shape", Integers{}}, {"fill_value", 1.0}, {"dtype", Dtype::F32}});
  bounded.rig.op("ge", "mask", {"f", "one"});
  check_unknown(bounded, "mask", {false, false});
}

TEST_CASE("close: exact integers must be equal, and others are undecided where they differ") {
  const Tensor one = tensor(Dtype::S32, {2}, {1, 2});
  const Tensor other = tensor(Dtype::S32, {2}, {1, 3});
  const Tensor exact = tensor(Dtype::F64, {2}, {0, 0});
  const Tensor unknown = tensor(Dtype::F64, {2}, {0, std::numeric_limits<double>::infinity()});
  CHECK(nearness(one, exact, other, exact).wrong == 1);
  for (const Nearness& near :
       {nearness(one, unknown, other, exact), nearness(one, exact, other, unknown)}) {
    CHECK_FALSE(near.wrong);
    CHECK(near.undecided == 1);
  }
  CHECK_FALSE(nearness(one, unknown, one, unknown).undecided);
}
