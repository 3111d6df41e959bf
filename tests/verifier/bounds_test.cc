#include "verifier/oracle/bounds.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/simulator/values/host_rig.h"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr double kU = 0x1p-24;  // unit roundoff of f32

/// Two devices along x. The bound of a value's elements on device 0.
struct Bounded {
  Bounded() : rig({{"x", 2}}) {
    rig.argument("a", {{1, 2}, {3, -4}});
    rig.op("psum", "s", {"a"}, {{"axis_name", Names{"x"}}});  // 4, -2
  }

  std::vector<double> of(const std::string& name) {
    const HostRun run = rig.run();
    return numbers(
        *error_bounds(rig.program, rig.lowered, run.values).at(rig.value(name), LogicalId(0)));
  }

  HostRig rig;
};

void check_close_to(const std::vector<double>& bounds, const std::vector<double>& expected) {
  REQUIRE(bounds.size() == expected.size());
  for (size_t i = 0; i < bounds.size(); ++i) {
    CHECK(bounds[i] >= expected[i]);                  // never too small,
    CHECK(bounds[i] <= expected[i] * (1 + 0x1p-18));  // and larger by its own roundings only
  }
}

}  // namespace

TEST_CASE("bounds: arguments have none, and a sum one rounding less than it has terms") {
  check_close_to(Bounded().of("a"), {0, 0});
  check_close_to(Bounded().of("s"), {kU * 4, kU * 6});  // u sum |x_i|
}

TEST_CASE("bounds: movement carries them, and a permutation's zeros have none") {
  Bounded bounded;
  bounded.rig.op("slice", "first", {"s"},
                 {{"start_indices", Integers{1}}, {"limit_indices", Integers{2}}});
  bounded.rig.op("concatenate", "twice", {"first", "s"}, {{"dimension", int64_t{0}}});
  bounded.rig.op("ppermute", "moved", {"twice"},
                 {{"axis_name", Names{"x"}}, {"perm", Lists{{0, 1}}}});
  check_close_to(bounded.of("twice"), {kU * 6, kU * 4, kU * 6});
  check_close_to(bounded.of("moved"), {0, 0, 0});
}

TEST_CASE("bounds: a started collective hands them to its done") {
  Bounded bounded;
  bounded.rig.op("all_gather_start", "f", {"s"},
                 {{"axis_name", Names{"x"}}, {"axis", int64_t{0}}, {"tiled", true}});
  bounded.rig.op("done", "g", {"f"});
  bounded.rig.op("add", "h", {"g", "g"});
  check_close_to(bounded.of("g"), {kU * 4, kU * 6, kU * 4, kU * 6});
  // Twice that, and one rounding of 8 and of 4.
  check_close_to(bounded.of("h"), {kU * (8 + 8), kU * (12 + 4), kU * 16, kU * 16});
}

TEST_CASE("bounds: a product, to first and second order") {
  Bounded bounded;
  bounded.rig.op("mul", "m", {"s", "s"});
  // |x| e_y + |y| e_x + e_x e_y + u |r|, for x = y = 4 with e = 4u and for -2 with 6u.
  check_close_to(bounded.of("m"),
                 {2 * 16 * kU + 16 * kU * kU + 16 * kU, 2 * 12 * kU + 36 * kU * kU + 4 * kU});
}

TEST_CASE("bounds: a dot product of K terms has K + 1 roundings more, and that of its result") {
  Bounded bounded;
  bounded.rig.op("dot_general", "d", {"s", "s"}, {{"dimension_numbers", Lists{{0}, {0}, {}, {}}}});
  // Products 16 and 4: the operands' errors as for mul, 3 u sum |x y|, and u |r|.
  check_close_to(bounded.of("d"),
                 {2 * 16 * kU + 16 * kU * kU + 2 * 12 * kU + 36 * kU * kU + 3 * kU * 20 + kU * 20});
}

TEST_CASE("bounds: conversion rounds where the dtype is narrower, and integers are exact") {
  Bounded bounded;
  bounded.rig.op("convert_element_type", "wide", {"s"}, {{"new_dtype", Dtype::F64}});
  bounded.rig.op("convert_element_type", "narrow", {"s"}, {{"new_dtype", Dtype::BF16}});
  bounded.rig.op("convert_element_type", "whole", {"s"}, {{"new_dtype", Dtype::S32}});
  check_close_to(bounded.of("wide"), {kU * 4, kU * 6});
  check_close_to(bounded.of("narrow"), {kU * 4 + 0x1p-8 * 4, kU * 6 + 0x1p-8 * 2});
  check_close_to(bounded.of("whole"), {0, 0});
}

TEST_CASE("close: up to the sum of both bounds, and not beyond") {
  const Tensor zero = tensor(Dtype::F64, {2}, {0, 0});
  const Tensor bound = tensor(Dtype::F64, {2}, {0.25, 0.25});
  const Tensor a = tensor(Dtype::F32, {2}, {1, 1});
  CHECK_FALSE(first_not_close(a, bound, tensor(Dtype::F32, {2}, {1, 1.5}), bound));
  CHECK(first_not_close(a, bound, tensor(Dtype::F32, {2}, {1, 1.5}), zero) == 1);
  CHECK(first_not_close(a, bound, tensor(Dtype::F32, {2}, {1, 1.75}), bound) == 1);
  // Integers count every bit, whatever the bounds.
  CHECK(first_not_close(tensor(Dtype::S32, {2}, {1, 2}), bound, tensor(Dtype::S32, {2}, {1, 3}),
                        bound) == 1);
}
