// Compares values of transformed programs with values worked out by hand, which the scenarios
// expect.

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/scenario/reader.h"
#include "verifier/run.h"

namespace orrery {
namespace {

/// Returns the checks that do not hold, with their messages; "" if all hold.
std::string broken(const std::string& scenario) {
  RunOptions options;
  options.data = Data::On;
  const Report report = run(read_scenario("f", scenario), options);
  std::string all;
  for (const Check& check : report.checks)
    if (!check.holds())
      all += check.name + ": " + check.message + "\n";
  return all;
}

std::string on_devices(int devices, const std::string& more) {
  return fmt::format(
      R"({{"orrery": 1, "mesh": {{"x": {0}}},
          "cluster": {{"devices": {0}, "topology": "ring", "bandwidth": "1 GB/s",
                       "latency": "1 us"}},
          {1}}})",
      devices, more);
}

TEST_CASE("pmean over a batch divides by a number of ranks that the dtype has not") {
  // There are 17 elements of 1 in f8e4m3fn, which has 16 and 18, but not 17. Their sum is 16 with
  // ties to even, and 16/17 rounds to 15/16. Divided by 16 it would be 1.
  CHECK(broken(on_devices(1, R"("check_types": true, "numerics": "ieee",
      "arrays": {"a": {"shape": [17, 1], "dtype": "f8e4m3fn", "init": 1}},
      "program": [{"id": "r", "op": "pmean", "of": "a", "axis_name": "i"}],
      "transform": {"batch": {"axis_name": "i", "in_axes": {"a": 0}}},
      "expect": [{"values": {"r": [[0.9375]]}}])")) == "");
  // The result is as over 17 ranks.
  CHECK(broken(on_devices(17, R"(
      "arrays": {"a": {"shape": [17], "dtype": "f8e4m3fn", "spec": ["x"], "init": 1}},
      "program": [{"id": "r", "op": "pmean", "of": "a", "axis_name": "x"},
                  {"id": "s", "op": "slice", "of": "r", "start_indices": [0], "limit_indices": [1]},
                  {"id": "e", "op": "full", "shape": [1], "dtype": "f8e4m3fn", "fill_value": 0.9375}],
      "expect": [{"equal": ["s", "e"]}])")) == "");
}

TEST_CASE("pmean over a batch beyond the range of the dtype divides by it") {
  // There are 600 elements of 1/2. 300 rounds to 288 (f8e4m3fn has 288 and 320), and 288/600 to
  // 0.46875 (0.48 lies between 15/32 and 16/32, nearer to the first).
  CHECK(broken(on_devices(1, R"("check_types": true,
      "arrays": {"a": {"shape": [600, 1], "dtype": "f8e4m3fn", "init": 0.5}},
      "program": [{"id": "r", "op": "pmean", "of": "a", "axis_name": "i"}],
      "transform": {"batch": {"axis_name": "i", "in_axes": {"a": 0}}},
      "expect": [{"values": {"r": [[0.46875]]}}])")) == "");
}

TEST_CASE("vjp: a mean over ranks of which the dtype has not the number divides by it") {
  // 16 / 17 rounds to 15/16.
  CHECK(broken(on_devices(17, R"(
      "arrays": {"a": {"shape": [17], "dtype": "f8e4m3fn", "spec": ["x"], "init": 1},
                 "ct_r": {"shape": [1], "dtype": "f8e4m3fn", "init": 16}},
      "program": [{"id": "r", "op": "pmean", "of": "a", "axis_name": "x"}],
      "transform": {"vjp": {"of": "r", "with_respect_to": "a"}},
      "then": [{"id": "e", "op": "full", "shape": [1], "dtype": "f8e4m3fn", "fill_value": 0.9375}],
      "expect": [{"equal": ["ct_a", "e"]}])")) == "");
}

TEST_CASE("vjp: a mean over groups of other sizes divides by each group's size") {
  // The groups have 1 and 2 ranks: the cotangents 8 and 4 + 2 are divided by 1 and by 2.
  CHECK(broken(on_devices(3, R"("check_types": true,
      "arrays": {"a": {"shape": [3], "dtype": "f32", "spec": ["x"], "init": 1},
                 "ct_r": {"local_shape": [1], "dtype": "f32", "varying": ["x"],
                          "per_device": [[8], [4], [2]]}},
      "program": [{"id": "r", "op": "pmean", "of": "a", "axis_name": "x",
                   "axis_index_groups": [[0], [1, 2]]}],
      "transform": {"vjp": {"of": "r", "with_respect_to": "a"}},
      "expect": [{"values": {"ct_a": [[8], [3], [3]]}}])")) == "");
}

TEST_CASE("vjp: the cotangents of reduced arrays, which no quotient and no case takes") {
  // On {x: 2}, each device has its addend of a cotangent: 3 and 4 on device 0, 5 and 8 on device 1.
  const auto of = [](const std::string& op, const std::string& ct_q, const std::string& ct_p) {
    return broken(on_devices(2, R"("check_types": true,
        "arrays": {
          "q": {"local_shape": [2], "dtype": "f32", "reduced": ["x"], "per_device": [[1, 2], [1, 2]]},
          "p": {"local_shape": [2], "dtype": "f32", "reduced": ["x"], "per_device": [[2, 4], [2, 4]]},
          "k": {"local_shape": [2], "dtype": "pred", "reduced": ["x"],
                "per_device": [[false, true], [false, true]]},
          "ct_r": {"local_shape": [2], "dtype": "f32", "unreduced": ["x"],
                   "per_device": [[3, 4], [5, 8]]}},
        "program": [{"id": "r", )" + op +
                                    R"(}],
        "transform": {"vjp": {"of": "r", "with_respect_to": ["q", "p"]}},
        "expect": [{"values": {"ct_q": )" +
                                    ct_q + R"(, "ct_p": )" + ct_p + "}}]"));
  };
  // The cotangent is ct / q.
  CHECK(of(R"("op": "log", "of": "q")", "[[3, 2], [5, 4]]", "[[0, 0], [0, 0]]") == "");
  // The cotangents are ct / p and -ct q / p^2.
  CHECK(of(R"("op": "div", "of": ["q", "p"])", "[[1.5, 1], [2.5, 2]]",
           "[[-0.75, -0.5], [-1.25, -1]]") == "");
  CHECK(of(R"("op": "select_n", "of": ["k", "q", "p"])", "[[3, 0], [5, 0]]", "[[0, 4], [0, 8]]") ==
        "");
}

TEST_CASE("vjp: the cotangents of the extremum, the mean and the broadcast of reduced arrays") {
  // The values are on {x: 2, y: 2}, device by device in the order (0,0), (0,1), (1,0), (1,1).
  const auto of = [](const std::string& op, const std::string& cotangent,
                     const std::string& expected) {
    return broken(R"({"orrery": 1, "mesh": {"x": 2, "y": 2}, "check_types": true,
        "cluster": {"devices": 4, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"},
        "arrays": {
          "q": {"local_shape": [2], "dtype": "f32", "varying": ["y"], "reduced": ["x"],
                "per_device": [[1, 2], [4, 4], [1, 2], [4, 4]]},
          "ct_r": {"dtype": "f32", "unreduced": ["x"], )" +
                  cotangent + R"(}},
        "program": [{"id": "r", "of": "q", )" +
                  op + R"(}],
        "transform": {"vjp": {"of": "r", "with_respect_to": "q"}},
        "expect": [{"values": {"ct_q": )" +
                  expected + "}}]}");
  };
  // Elements that are equal to the extremum share its cotangent.
  CHECK(of(R"("op": "reduce_max", "axes": [0])",
           R"("local_shape": [], "varying": ["y"], "per_device": [[3], [6], [5], [2]])",
           "[[0, 3], [3, 3], [0, 5], [1, 1]]") == "");
  // Both members of a group have half of the cotangent.
  CHECK(of(R"("op": "pmean", "axis_name": "y")",
           R"("local_shape": [2], "varying": [], "per_device": [[4, 2], [4, 2], [6, 8], [6, 8]])",
           "[[2, 1], [2, 1], [3, 4], [3, 4]]") == "");
  // The source has the sum over its group.
  CHECK(
      of(R"("op": "pbroadcast", "axis_name": "y", "source": 1)",
         R"("local_shape": [2], "varying": ["y"], "per_device": [[1, 0], [2, 1], [3, 0], [4, 5]])",
         "[[0, 0], [3, 1], [0, 0], [7, 5]]") == "");
}

TEST_CASE("a batch of loops gives what the ops of their iterations give") {
  // "a" has the batch, and so have values that depend on it after an iteration or more; "c" has
  // not.
  const auto check = [](const std::string& loop, const std::string& same_ops) {
    CAPTURE(loop);
    CHECK(broken(on_devices(2, R"("check_types": false,
        "arrays": {"a": {"shape": [4, 3], "dtype": "s32", "spec": ["x"]},
                   "c": {"shape": [2], "dtype": "s32"}},
        "program": [)" + loop + ", " +
                                   same_ops + R"(],
        "transform": {"batch": {"in_axes": {"a": 1}, "out_axes": {"r": 0, "s": 0}}},
        "expect": [{"equal": ["r", "s"]}])")) == "");
  };
  const auto op = [](const std::string& id, const std::string& name, const std::string& of) {
    return R"({"id": ")" + id + R"(", "op": ")" + name + R"(", "of": [)" + of + "]}";
  };
  const auto loop = [](const std::string& id, int trips, const std::string& carry,
                       const std::string& body, const std::string& yield) {
    return fmt::format(R"({{"id": "{}", "op": "fori_loop", "lower": 0, "upper": {}, "carry": {{{}}},
                           "body": [{}], "yield": {{{}}}}})",
                       id, trips, carry, body, yield);
  };
  const std::string sub_a = op("y", "sub", R"("h", "a")");
  check(loop("l", 3, R"("h": "c")", sub_a, R"("h": "y")") + ", " + op("r", "neg", R"("l.h")"),
        op("s0", "sub", R"("c", "a")") + ", " + op("s1", "sub", R"("s0", "a")") + ", " +
            op("s2", "sub", R"("s1", "a")") + ", " + op("s", "neg", R"("s2")"));
  check(loop("l", 3, R"("p": "a", "q": "c")", "", R"("p": "q", "q": "p")") + ", " +
            op("r", "sub", R"("l.p", "l.q")"),
        op("s", "sub", R"("c", "a")"));
  check(loop("l", 2, R"("h": "a")", "", R"("h": "c")") + ", " + op("r", "add", R"("l.h", "a")"),
        op("s", "add", R"("c", "a")"));
  // m.g becomes h - 2a, and the iteration yields that times h. The first result is read outside
  // too.
  const std::string inner =
      loop("m", 2, R"("g": "h")", op("u", "sub", R"("g", "a")"), R"("g": "u")");
  check(loop("l", 2, R"("h": "c")", inner + ", " + op("y", "mul", R"("m.g", "h")"), R"("h": "y")") +
            ", " + op("r", "sub", R"("l", "l[0].m[1].u")"),
        op("t0", "sub", R"("c", "a")") + ", " + op("t1", "sub", R"("t0", "a")") + ", " +
            op("t2", "mul", R"("t1", "c")") + ", " + op("t3", "sub", R"("t2", "a")") + ", " +
            op("t4", "sub", R"("t3", "a")") + ", " + op("t5", "mul", R"("t4", "t2")") + ", " +
            op("s", "sub", R"("t5", "t1")"));
  const auto sum = [](const std::string& id, const std::string& how, const std::string& of) {
    return R"({"id": ")" + id + R"(", "op": "psum)" + how + R"(", "of": ")" + of +
           R"(", "axis_name": "x"})";
  };
  check(sum("f", "_start", "a") + ", " +
            loop("l", 2, R"("h": "f")",
                 op("d", "done", R"("h")") + ", " + op("y", "add", R"("d", "a")") + ", " +
                     sum("g", "_start", "y"),
                 R"("h": "g")") +
            ", " + op("r", "done", R"("l")"),
        sum("s0", "", "a") + ", " + op("t0", "add", R"("s0", "a")") + ", " + sum("s1", "", "t0") +
            ", " + op("t1", "add", R"("s1", "a")") + ", " + sum("s", "", "t1"));
}

}  // namespace
}  // namespace orrery
