// Values of transformed programs that are worked out by hand: scenarios that say what they expect.

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/scenario/reader.h"
#include "verifier/run.h"

namespace orrery {
namespace {

/// The checks that do not hold, with their messages; empty where all hold.
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
  // 17 elements of 1 in f8e4m3fn, which has 16 and 18. Their sum is 16 with ties to even, and 16/17
  // rounds to 15/16. Divided by 16 it would be 1.
  CHECK(broken(on_devices(1, R"("check_types": true, "numerics": "ieee",
      "arrays": {"a": {"shape": [17, 1], "dtype": "f8e4m3fn", "init": 1}},
      "program": [{"id": "r", "op": "pmean", "of": "a", "axis_name": "i"}],
      "transform": {"batch": {"axis_name": "i", "in_axes": {"a": 0}}},
      "expect": [{"values": {"r": [[0.9375]]}}])")) == "");
  // As over 17 ranks.
  CHECK(broken(on_devices(17, R"(
      "arrays": {"a": {"shape": [17], "dtype": "f8e4m3fn", "spec": ["x"], "init": 1}},
      "program": [{"id": "r", "op": "pmean", "of": "a", "axis_name": "x"},
                  {"id": "s", "op": "slice", "of": "r", "start_indices": [0], "limit_indices": [1]},
                  {"id": "e", "op": "full", "shape": [1], "dtype": "f8e4m3fn", "fill_value": 0.9375}],
      "expect": [{"equal": ["s", "e"]}])")) == "");
}

TEST_CASE("pmean over a batch beyond the range of the dtype divides by it") {
  // 600 elements of 1/2: 300 rounds to 288 (f8e4m3fn has 288 and 320), and 288/600 to 0.46875
  // (0.48 lies between 15/32 and 16/32, nearer to the first).
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
  // Groups of 1 and 2: the cotangents 8 and 4 + 2 are divided by 1 and by 2.
  CHECK(broken(on_devices(3, R"("check_types": true,
      "arrays": {"a": {"shape": [3], "dtype": "f32", "spec": ["x"], "init": 1},
                 "ct_r": {"local_shape": [1], "dtype": "f32", "varying": ["x"],
                          "per_device": [[8], [4], [2]]}},
      "program": [{"id": "r", "op": "pmean", "of": "a", "axis_name": "x",
                   "axis_index_groups": [[0], [1, 2]]}],
      "transform": {"vjp": {"of": "r", "with_respect_to": "a"}},
      "expect": [{"values": {"ct_a": [[8], [3], [3]]}}])")) == "");
}

}  // namespace
}  // namespace orrery
