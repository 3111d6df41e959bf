// Tests error bounds against bounds worked out by hand, and against results in long double.

#include "verifier/definition/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/text.h"
#include "models/base/random.h"
#include "tests/simulator/values/host_rig.h"
#include "tests/support/tries.h"
#include "tests/verifier/bounded.h"
#include "verifier/definition/compare.h"

using namespace orrery;
using namespace orrery::test;

TEST_CASE("bounds: arguments have none, and a sum has one rounding less than terms") {
  check_close_to(Bounded().of("a"), {0, 0});
  check_close_to(Bounded().of("s"), {kU * 4, kU * 6});  // u sum |x_i|
}

TEST_CASE("bounds: a mean has one rounding per term, the last of them the division") {
  Bounded bounded;
  bounded.rig.op("pmean", "m", {"a"}, {{"axis_name", Names{"x"}}});
  bounded.rig.op("convert_element_type", "whole", {"a"}, {{"new_dtype", Dtype::S32}});
  bounded.rig.op("pmean", "n", {"whole"}, {{"axis_name", Names{"x"}}});
  // The bound is 2 u sum |x_i| / 2. For integers, the conversion of their sum rounds once and the
  // division once.
  check_close_to(bounded.of("m"), {kU * 4, kU * 6});
  check_close_to(bounded.of("n"), {kU * 4, kU * 6});
}

TEST_CASE("bounds: of a scalar operand each element has the scalar's error") {
  Bounded bounded;
  bounded.rig.op("reduce_sum", "scalar", {"s"}, {{"axes", Integers{0}}});  // 2, of 4 and -2
  bounded.rig.op("mul", "p", {"s", "scalar"}, {});
  // The scalar has the errors of both terms and a rounding of the sum of their sizes: 16 u. A
  // product has |s| 16 u + |scalar| e + u |product|: 4 x 16 + 2 x 4 + 8, and 2 x 16 + 2 x 6 + 4.
  check_close_to(bounded.of("scalar"), {kU * 16});
  check_close_to(bounded.of("p"), {kU * 80, kU * 48});
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

TEST_CASE("bounds: the errors of a sequence go with its elements") {
  Bounded bounded;
  bounded.rig.op("concatenate", "twice", {"s", "s"}, {{"dimension", int64_t{0}}});
  bounded.rig.op("reorder_sequence", "reordered", {"twice"},
                 {{"cp_size", int64_t{2}}, {"seq_dim", int64_t{0}}});
  check_close_to(bounded.of("twice"), {kU * 4, kU * 6, kU * 4, kU * 6});
  check_close_to(bounded.of("reordered"), {kU * 4, kU * 6, kU * 6, kU * 4});
}

TEST_CASE("bounds: each result of several has its own, and integers have none") {
  Bounded bounded;
  bounded.rig.op("split", Names{"first", "second"}, {"s"}, {{"sizes", Integers{1, 1}}});
  bounded.rig.op("axis_size", "two", {}, {{"axis_name", Names{"x"}}});
  bounded.rig.op("optimization_barrier", Names{"n", "x"}, {"two", "s"});
  check_close_to(bounded.of("first"), {kU * 4});
  check_close_to(bounded.of("second"), {kU * 6});
  check_close_to(bounded.of("n"), {0});
  check_close_to(bounded.of("x"), {kU * 4, kU * 6});
}

TEST_CASE("bounds: the done of a started collective has its bounds") {
  Bounded bounded;
  bounded.rig.op("all_gather_start", "f", {"s"},
                 {{"axis_name", Names{"x"}}, {"axis", int64_t{0}}, {"tiled", true}});
  bounded.rig.op("done", "g", {"f"});
  bounded.rig.op("add", "h", {"g", "g"});
  check_close_to(bounded.of("g"), {kU * 4, kU * 6, kU * 4, kU * 6});
  // The bounds double, and 8 and 4 round once.
  check_close_to(bounded.of("h"), {kU * (8 + 8), kU * (12 + 4), kU * 16, kU * 16});
}

TEST_CASE("bounds: indexed reads move them, with exact indices") {
  Bounded bounded;
  bounded.rig.op("axis_size", "two", {}, {{"axis_name", Names{"x"}}});
  bounded.rig.op("dynamic_slice", "last", {"s", "two"}, {{"slice_sizes", Integers{1}}});
  bounded.rig.op("dynamic_update_slice", "both", {"s", "last", "two"});
  bounded.rig.op("take", "taken", {"s", "two"},
                 {{"axis", int64_t{0}}, {"mode", std::string("clip")}});
  bounded.rig.op("broadcast_in_dim", "wide", {"last"},
                 {{"shape", Integers{1, 2}}, {"broadcast_dimensions", Integers{0}}});
  bounded.rig.op("pad", "padded", {"s", "taken"}, {{"padding_config", Lists{{1, 0, 0}}}});
  check_close_to(bounded.of("last"), {kU * 6});
  check_close_to(bounded.of("both"), {kU * 4, kU * 6});
  check_close_to(bounded.of("taken"), {kU * 6});
  check_close_to(bounded.of("padded"), {kU * 6, kU * 4, kU * 6});
}

TEST_CASE("bounds: a sum adds its terms' and its own, a maximum takes the largest") {
  Bounded bounded;
  bounded.rig.op("reduce_sum", "sum", {"s"}, {{"axes", Integers{0}}});
  bounded.rig.op("reduce_max", "most", {"s"}, {{"axes", Integers{0}}});
  bounded.rig.op("convert_element_type", "b", {"s"}, {{"new_dtype", Dtype::BF16}});
  bounded.rig.op("reduce_sum", "narrow", {"b"}, {{"axes", Integers{0}}});
  check_close_to(bounded.of("sum"), {kU * (4 + 6) + kU * 6});  // u (|4| + |-2|) for one addition
  check_close_to(bounded.of("most"), {kU * 6});
  // The bound has the errors of the terms, which bf16 holds, an addition in f32, and the rounding
  // of 2 to bf16.
  check_close_to(bounded.of("narrow"), {kU * 10 + kU * 6 + 0x1p-8 * 2});
}

TEST_CASE("bounds: a row that is added to has a rounding for each update") {
  Bounded bounded;
  bounded.rig.op("full", "first", {},
                 {{"shape", Integers{2}}, {"fill_value", 0.0}, {"dtype", Dtype::S32}});
  bounded.rig.op("scatter_add", "sum", {"s", "s", "first"}, {{"axis", int64_t{0}}});
  // The sum 4 + 4 - 2 has the errors of the terms, and two roundings of the sum of their sizes. The
  // other row is unchanged.
  check_close_to(bounded.of("sum"), {kU * (4 + 4 + 6) + 2 * kU * (4 + 4 + 2), kU * 6});
}

TEST_CASE("bounds: the extremum over a group has the largest of the members' errors") {
  Bounded bounded;
  // In "moved", device 0 has 4 and -2 of "s" with errors of 4u and 6u, device 1 exact zeros.
  bounded.rig.op("ppermute", "moved", {"s"}, {{"axis_name", Names{"x"}}, {"perm", Lists{{1, 0}}}});
  for (const char* const op : {"pmin", "pmax"})
    bounded.rig.op(op, op, {"moved"}, {{"axis_name", Names{"x"}}});
  check_close_to(bounded.of("pmin"), {kU * 4, kU * 6});
  check_close_to(bounded.of("pmax"), {kU * 4, kU * 6});
}

TEST_CASE("bounds: a result that overflows has none, and what exact infinities make is exact") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  HostRig rig({{"x", 2}});
  // On both devices, 40000 + 40000 overflows. An infinity is one in any order.
  rig.argument("a", std::vector<Tensor>{tensor(Dtype::F16, {2}, {40000, kInfinity}),
                                        tensor(Dtype::F16, {2}, {40000, 1})});
  rig.op("psum", "s", {"a"}, {{"axis_name", Names{"x"}}});
  rig.op("add", "sum", {"a", "a"});
  rig.op("reduce_sum", "r", {"a"}, {{"axes", Integers{0}}});
  rig.op("exp", "e", {"a"});
  rig.op("add", "masked", {"s", "a"});  // an infinity, whatever is added to it
  rig.op("mul", "times", {"s", "a"});
  rig.op("convert_element_type", "wide", {"a"}, {{"new_dtype", Dtype::F32}});
  rig.op("mul", "square", {"wide", "wide"});
  rig.op("convert_element_type", "narrow", {"square"}, {{"new_dtype", Dtype::F16}});
  const HostRun run = rig.run();
  const DeviceValues bounds = error_bounds(rig.program, rig.lowered, run.values);
  const auto of = [&](const std::string& name) {
    return numbers(*bounds.at(rig.value(name), LogicalId(0)));
  };
  CHECK(of("s") == Numbers{kInfinity, 0});
  CHECK(of("sum") == Numbers{kInfinity, 0});
  CHECK(of("r") == Numbers{0});
  CHECK(of("e") == Numbers{kInfinity, 0});
  CHECK(of("narrow") == Numbers{kInfinity, 0});
  CHECK(of("masked") == Numbers{kInfinity, 0});
  CHECK(of("times") == Numbers{kInfinity, 0});
}

TEST_CASE("bounds: a product, to first and second order") {
  Bounded bounded;
  bounded.rig.op("mul", "m", {"s", "s"});
  // The bound is |x| e_y + |y| e_x + e_x e_y + u |r|, for x = y = 4 with e = 4u and for -2 with 6u.
  check_close_to(bounded.of("m"),
                 {2 * 16 * kU + 16 * kU * kU + 16 * kU, 2 * 12 * kU + 36 * kU * kU + 4 * kU});
}

TEST_CASE("bounds: a quotient, by the least that the divisor can be") {
  Bounded bounded;
  bounded.rig.op("div", "q", {"s", "s"});
  // The bound is (e_x + r e_y) / (|y| - e_y) + u r, for 4 / 4 with e = 4u and 2 / 2 with 6u.
  check_close_to(bounded.of("q"), {8 * kU / (4 - 4 * kU) + kU, 12 * kU / (2 - 6 * kU) + kU});
}

TEST_CASE("bounds: a maximum, a negation and a selection add none") {
  Bounded bounded;
  bounded.rig.op("neg", "n", {"s"});
  bounded.rig.op("max", "m", {"s", "a"});
  bounded.rig.op("lt", "l", {"a", "s"});  // 1 < 4, not 2 < -2
  bounded.rig.op("select_n", "c", {"l", "a", "s"});
  check_close_to(bounded.of("n"), {kU * 4, kU * 6});
  check_close_to(bounded.of("m"), {kU * 4, kU * 6});
  check_close_to(bounded.of("l"), {0, 0});
  check_close_to(bounded.of("c"), {kU * 4, 0});
}

TEST_CASE("bounds: functions carry errors by their steepest slope nearby, and round once") {
  Bounded bounded;
  bounded.rig.op("mul", "x", {"s", "s"});  // 16, 4; their bounds are tested above
  for (const char* op : {"exp", "log", "sqrt", "rsqrt", "logistic", "sin", "cos"})
    bounded.rig.op(op, op, {"x"});
  const std::vector<double> e = bounded.of("x");
  const auto check = [&](const char* op, double (*carried)(double e, double x, double r)) {
    CAPTURE(op);
    const HostRun run = bounded.rig.run();
    const std::vector<double> r =
        numbers(run.values.at(bounded.rig.value(op), LogicalId(0)).value());
    std::vector<double> expected;
    for (size_t i = 0; i < e.size(); ++i)
      expected.push_back(carried(e[i], i == 0 ? 16 : 4, std::abs(r[i])) + kU * std::abs(r[i]));
    check_close_to(bounded.of(op), expected);
  };
  check("exp", [](double error, double, double r) { return r * error / (1 - error); });
  check("log", [](double error, double x, double) { return error / (x - error); });
  check("sqrt", [](double error, double, double r) { return error / r; });
  check("rsqrt", [](double error, double x, double r) { return r * error / (2 * (x - error)); });
  // The slope is at most 1/4, and at most the value itself: here the values are 1 - 2^-23 and 0.98.
  check("logistic", [](double error, double, double) { return error / 4; });
  check("sin", [](double error, double, double) { return error; });
  check("cos", [](double error, double, double) { return error; });
}

TEST_CASE("bounds: none where the exact operand may be outside the domain") {
  Bounded bounded;
  bounded.rig.op("sub", "zero", {"s", "s"});
  bounded.rig.op("div", "q", {"a", "zero"});
  bounded.rig.op("add", "later", {"q", "q"});
  bounded.rig.op("mul", "no", {"q", "zero"});
  const std::vector<double> infinite(2, std::numeric_limits<double>::infinity());
  CHECK(bounded.of("q") == infinite);
  CHECK(bounded.of("later") == infinite);
  CHECK(bounded.of("no") == infinite);
}

TEST_CASE("bounds: a function of f64 is off by more than half a unit") {
  Bounded bounded;
  bounded.rig.op("convert_element_type", "wide", {"a"}, {{"new_dtype", Dtype::F64}});
  bounded.rig.op("exp", "e", {"wide"});
  bounded.rig.op("rsqrt", "r", {"wide"});
  // One unit in the last place is at most 2^-52 of the value; rsqrt has 1.5 units.
  const double e = 2.718281828459045;
  check_close_to(bounded.of("e"), {e * 0x1p-52, e * e * 0x1p-52});
  check_close_to(bounded.of("r"), {1.5 * 0x1p-52, 1.5 * 0x1p-52 / std::sqrt(2.0)});
}

TEST_CASE("bounds: a dot product of K terms has K + 1 roundings more, and that of its result") {
  Bounded bounded;
  bounded.rig.op("dot_general", "d", {"s", "s"}, {{"dimension_numbers", Lists{{0}, {0}, {}, {}}}});
  // The products are 16 and 4. The bound has the operands' errors as for mul, 3 u sum |x y|, and u
  // |r|.
  check_close_to(bounded.of("d"),
                 {2 * 16 * kU + 16 * kU * kU + 2 * 12 * kU + 36 * kU * kU + 3 * kU * 20 + kU * 20});
}

TEST_CASE("bounds: XLA rounds a reciprocal before it multiplies by it") {
  Bounded bounded;
  bounded.rig.op("pmean", "m", {"a"}, {{"axis_name", Names{"x"}}});
  bounded.rig.op("div", "q", {"a", "a"});
  bounded.rig.op("mul", "p", {"a", "a"});
  check_close_to(bounded.of("s", RoundedBy::Xla), {kU * 4, kU * 6});
  check_close_to(bounded.of("m", RoundedBy::Xla), {kU * 8, kU * 12});  // (1 + 3) u sum |x_i| / 2
  check_close_to(bounded.of("q", RoundedBy::Xla), {kU * 2, kU * 2});
  check_close_to(bounded.of("p", RoundedBy::Xla), {kU, kU * 4});
}

TEST_CASE("bounds: XLA's functions are off by more than half a unit") {
  Bounded bounded;
  bounded.rig.argument("zero", {{0}, {0}});
  for (const std::string op : {"exp", "cos", "logistic"})  // 1, 1 and 0.5
    bounded.rig.op(op, op + " of zero", {"zero"});
  check_close_to(bounded.of("exp of zero", RoundedBy::Xla), {4 * kU});
  check_close_to(bounded.of("cos of zero", RoundedBy::Xla), {2 * kU});
  check_close_to(bounded.of("logistic of zero", RoundedBy::Xla), {3 * kU});
}

TEST_CASE(
    "bounds: XLA rounds narrow results to a wider dtype before, and local sums at each step") {
  Bounded bounded;
  bounded.rig.op("convert_element_type", "narrow", {"a"}, {{"new_dtype", Dtype::F16}});  // 1, 2
  bounded.rig.op("add", "twice", {"narrow", "narrow"});                                  // 2, 4
  bounded.rig.op("reduce_sum", "both", {"narrow"}, {{"axes", Integers{0}}});             // 3
  const double of_f16 = 0x1p-11 + kU;
  check_close_to(bounded.of("twice", RoundedBy::Xla), {2 * of_f16, 4 * of_f16});
  check_close_to(bounded.of("both", RoundedBy::Xla), {3 * of_f16});
  check_close_to(bounded.of("both"), {3 * kU + 3 * 0x1p-11 + 0x1p-25});
}

TEST_CASE("bounds: conversion rounds where the dtype is narrower, but not what it holds") {
  Bounded bounded;
  bounded.rig.argument("fine", {{1 + 0x1p-10, 4}, {1 + 0x1p-10, 4}});
  bounded.rig.op("convert_element_type", "wide", {"s"}, {{"new_dtype", Dtype::F64}});
  bounded.rig.op("convert_element_type", "whole", {"s"}, {{"new_dtype", Dtype::BF16}});
  bounded.rig.op("convert_element_type", "narrow", {"fine"}, {{"new_dtype", Dtype::BF16}});
  check_close_to(bounded.of("wide"), {kU * 4, kU * 6});
  check_close_to(bounded.of("whole"), {kU * 4, kU * 6});
  check_close_to(bounded.of("narrow"), {0x1p-8, 0});
}

TEST_CASE("bounds: conversion rounds what the float does not hold") {
  const auto bound = [](const Tensor& from, Dtype to) {
    HostRig made({{"x", 1}});
    made.argument("v", std::vector<Tensor>{from});
    made.op("convert_element_type", "f", {"v"}, {{"new_dtype", to}});
    const HostRun run = made.run();
    return numbers(
        *error_bounds(made.program, made.lowered, run.values).at(made.value("f"), LogicalId(0)))[0];
  };
  const auto integer = [](Dtype dtype, int64_t value) {
    Tensor made(dtype, {1});
    set_element_from_int64(made, 0, value);
    return made;
  };
  const auto number = [](Dtype dtype, double value) { return tensor(dtype, {1}, {value}); };
  struct Case {
    Dtype from, to;
    int64_t most;  // all integers up to it are exact
  };
  for (const auto& [from, to, most] :
       {Case{Dtype::S64, Dtype::F64, int64_t{1} << 53}, Case{Dtype::S32, Dtype::F32, 1 << 24},
        Case{Dtype::U16, Dtype::F16, 1 << 11}, Case{Dtype::S8, Dtype::F8E4M3FN, 1 << 4}}) {
    CHECK(bound(integer(from, most), to) == 0);
    CHECK(bound(integer(from, most + 1), to) > 0);
  }
  // It rounds to 2^63, which becomes the largest s64 when it is converted back.
  CHECK(bound(integer(Dtype::S64, std::numeric_limits<int64_t>::max()), Dtype::F64) > 0);
  CHECK(bound(integer(Dtype::U32, 0xffffffff), Dtype::F64) == 0);
  CHECK(bound(integer(Dtype::U16, 0xffff), Dtype::F32) == 0);
  CHECK(bound(integer(Dtype::U8, 255), Dtype::BF16) == 0);
  CHECK(bound(integer(Dtype::Pred, 1), Dtype::F8E5M2) == 0);
  CHECK(bound(number(Dtype::F8E4M3FN, 1.125), Dtype::F8E5M2) > 0);
  CHECK(bound(number(Dtype::F8E4M3FN, 1.25), Dtype::F8E5M2) == 0);
  CHECK(bound(number(Dtype::F8E5M2, 0x1p-12), Dtype::F8E4M3FN) > 0);
  CHECK(bound(number(Dtype::F8E5M2, 0x1p-12), Dtype::F16) == 0);
  CHECK(bound(number(Dtype::BF16, 0x1p-30), Dtype::F16) > 0);
}

namespace {

/// An `Exact` value is a long double, exact enough for f32: its 64 bits of fraction are 40 more.
using Exact = std::vector<long double>;

/// Checks that each element of a value on device 0 is as near to its exact value as the bound says.
/// Returns the largest share of a bound that is used.
double largest_share(const HostRig& rig, const DeviceValues& values, const DeviceValues& bounds,
                     const std::string& name, const Exact& exact) {
  const Numbers computed = numbers(*values.at(rig.value(name), LogicalId(0)));
  const Numbers bound = numbers(*bounds.at(rig.value(name), LogicalId(0)));
  REQUIRE(computed.size() == exact.size());
  double share = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    const auto error = static_cast<double>(std::fabs(computed[i] - exact[i]));
    CAPTURE(name);
    CAPTURE(i);
    CHECK(error <= bound[i]);
    share = std::max(share, error / bound[i]);
  }
  return share;
}

Exact mapped(const Exact& x, long double (*f)(long double)) {
  Exact result;
  for (const long double element : x)
    result.push_back(f(element));
  return result;
}

}  // namespace

TEST_CASE("bounds: no chain of ops is further from its exact value, on random data") {
  constexpr uint32_t kDevices = 4;
  constexpr size_t kCount = 12;
  Random random(5);
  std::map<std::string, double> shares;
  for (uint64_t round = 0; round < tries(40); ++round) {
    HostRig rig({{"x", kDevices}});
    std::vector<Numbers> data(kDevices);
    for (Numbers& own : data)
      for (size_t i = 0; i < kCount; ++i)
        own.push_back(
            static_cast<double>(static_cast<float>(random.between(1, 1 << 30)) * 0x1p-30F));
    rig.argument("a", data);
    rig.op("psum", "s", {"a"}, {{"axis_name", Names{"x"}}, {"algorithm", "ring"}});
    rig.op("pmean", "m", {"a"}, {{"axis_name", Names{"x"}}, {"algorithm", "ring"}});
    rig.op("mul", "p", {"s", "m"});
    rig.op("div", "q", {"p", "a"});
    rig.op("sub", "d", {"p", "s"});
    rig.op("sqrt", "root", {"p"});
    rig.op("log", "log", {"p"});
    rig.op("logistic", "l", {"d"});
    rig.op("reduce_sum", "sum", {"p"}, {{"axes", Integers{0}}});
    rig.op("dot_general", "dot", {"p", "m"}, {{"dimension_numbers", Lists{{0}, {0}, {}, {}}}});
    rig.op("pmin", "least", {"p"}, {{"axis_name", Names{"x"}}, {"algorithm", "ring"}});
    const DeviceValues values = rig.run().values;
    const DeviceValues bounds = error_bounds(rig.program, rig.lowered, values);

    Exact s(kCount, 0), m, p, q, d;
    long double sum = 0;
    long double dot = 0;
    for (size_t i = 0; i < kCount; ++i) {
      for (const Numbers& own : data)
        s[i] += own[i];
      m.push_back(s[i] / kDevices);
      p.push_back(s[i] * m[i]);
      q.push_back(p[i] / static_cast<long double>(data[0][i]));
      d.push_back(p[i] - s[i]);
      sum += p[i];
      dot += p[i] * m[i];
    }
    const auto check = [&](const std::string& name, const Exact& exact) {
      shares[name] = std::max(shares[name], largest_share(rig, values, bounds, name, exact));
    };
    check("s", s);
    check("m", m);
    check("p", p);
    check("q", q);
    check("d", d);
    check("root", mapped(p, std::sqrt));
    check("log", mapped(p, std::log));
    check("l", mapped(d, [](long double x) { return 1 / (1 + std::exp(-x)); }));
    check("sum", {sum});
    check("dot", {dot});
    check("least", p);
  }
  // No bound is so wide that random roundings come nowhere near it.
  for (const auto& share : shares) {
    CAPTURE(share.first);
    CHECK(share.second > 1.0 / 32);
  }
}

TEST_CASE("bounds: the worst roundings reach them") {
  // Each addition of a bit more than half a unit of 1 loses almost u: 1 + 3 x (u - tiny), in order,
  // stays 1. The bound is 3 u (1 + 3 u), and the error is 3 u less a tiny amount.
  HostRig rig({{"x", 1}});
  const double just_below = static_cast<double>(std::nextafter(0x1p-24F, 0.0F));
  rig.argument("a", {{1, just_below, just_below, just_below}});
  rig.op("reduce_sum", "sum", {"a"}, {{"axes", Integers{0}}});
  const DeviceValues values = rig.run().values;
  const DeviceValues bounds = error_bounds(rig.program, rig.lowered, values);
  const Exact exact = {1 + 3 * static_cast<long double>(just_below)};
  CHECK(largest_share(rig, values, bounds, "sum", exact) > 0.999);
}

TEST_CASE("close: holds up to the sum of both bounds, and not beyond") {
  const Tensor zero = tensor(Dtype::F64, {2}, {0, 0});
  const Tensor bound = tensor(Dtype::F64, {2}, {0.25, 0.25});
  const Tensor a = tensor(Dtype::F32, {2}, {1, 1});
  const Nearness within = nearness(a, bound, tensor(Dtype::F32, {2}, {1, 1.5}), bound);
  CHECK_FALSE(within.wrong);
  CHECK_FALSE(within.undecided);
  CHECK(within.largest.found == 0.5);
  CHECK(within.largest.allowed == 0.5);
  CHECK(nearness(a, bound, tensor(Dtype::F32, {2}, {1, 1.5}), zero).wrong == 1);
  CHECK(nearness(a, bound, tensor(Dtype::F32, {2}, {1, 1.75}), bound).wrong == 1);
}

TEST_CASE("close: a bound as large as an element decides nothing of it, but if it is equal") {
  // The other element is 2, with a bound of 100.
  const auto compare = [](double a, double b, double bound) {
    const Tensor zero = tensor(Dtype::F64, {2}, {0, 0});
    return nearness(tensor(Dtype::F32, {2}, {2, a}), zero, tensor(Dtype::F32, {2}, {2, b}),
                    tensor(Dtype::F64, {2}, {100, bound}));
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK_FALSE(compare(1, 0.5, std::nextafter(1.0, 0.0)).undecided);
  CHECK(compare(1, 0.5, 1).undecided == 1);
  CHECK(compare(1, 0, 1.5).undecided == 1);
  CHECK(compare(0, 0x1p-30, 0x1p-20).undecided == 1);  // terms that cancel
  CHECK_FALSE(compare(1, 1, 2).undecided);
  CHECK(compare(1, kInfinity, kInfinity).undecided == 1);
  CHECK_FALSE(compare(1, kInfinity, kInfinity).wrong);
  CHECK(compare(1, kInfinity, 2).wrong == 1);
  CHECK_FALSE(compare(kInfinity, kInfinity, 0).wrong);
}

TEST_CASE("close: zeros of either sign, made of zeros alone, are near") {
  const Tensor zero = tensor(Dtype::F64, {1}, {0});
  const Nearness near =
      nearness(tensor(Dtype::F32, {1}, {0.0}), zero, tensor(Dtype::F32, {1}, {-0.0}), zero);
  CHECK_FALSE(near.wrong);
  CHECK_FALSE(near.undecided);
}
