// Where JAX differs (docs/ops.md): what is computed here. Of the table's other rows, what is
// refused here is in tests/models/scenario/collective_errors_test.cc and state_errors_test.cc,
// types are in tests/models/program, what transforms make in tests/models/scenario/batch_test.cc
// and vjp_test.cc, and futures in faults_test.cc.

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/scenario/reader.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

/// The checks that fail of a program on {x: 4}, whose values are to be those given, on each device.
std::string failures(const std::string& arrays, const std::string& program,
                     const std::string& values, const std::string& more = "") {
  const std::string text = fmt::format(
      R"({{"orrery": 1, "mesh": {{"x": 4}},
          "cluster": {{"devices": 4, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"}},
          "arrays": {{{}}}, "program": [{}], "expect": [{{"values": {{{}}}}}]{}}})",
      arrays, program, values, more);
  const Report report = run(read_scenario("test.json", text), {});
  std::string failed;
  for (const Check& check : report.checks)
    if (!check.holds())
      failed += check.name + ": " + check.said() + "\n";
  return failed;
}

TEST_CASE("differences: pmean divides by the size of the own group") {
  // (1 + 2 + 6) / 3, and 5 / 1; JAX divides by 3 in both groups.
  CHECK(failures(R"("a": {"local_shape": [1], "dtype": "f32", "per_device": [[1], [2], [6], [5]]})",
                 R"({"id": "r", "op": "pmean", "of": "a", "axis_name": "x",
                     "axis_index_groups": [[0, 1, 2], [3]]})",
                 R"("r": [[3], [3], [3], [5]])") == "");
}

TEST_CASE("differences: psum of a constant adds over the own group") {
  // JAX multiplies by 3 in both groups.
  CHECK(failures("", R"({"id": "k", "op": "full", "shape": [1], "fill_value": 1, "dtype": "s32"},
                        {"id": "r", "op": "psum", "of": "k", "axis_name": "x",
                         "axis_index_groups": [[0, 1, 2], [3]]})",
                 R"("r": [[3], [3], [3], [1]])") == "");
}

TEST_CASE("differences: NaN wins in pmax and pmin, and -0 < +0, unless asked to be as XLA's CPU") {
  const std::string arrays =
      R"("a": {"local_shape": [3], "dtype": "f32", "per_device": [
          ["NaN", -0.0, 0.0], [1, 0.0, -0.0], [2, -0.0, -0.0], [3, -0.0, -0.0]]})";
  const auto everywhere = [](const std::string& r, const std::string& q) {
    return fmt::format(R"("r": [{0}, {0}, {0}, {0}], "q": [{1}, {1}, {1}, {1}])", r, q);
  };
  const auto program = [](const std::string& more) {
    return fmt::format(R"({{"id": "r", "op": "pmax", "of": "a", "axis_name": "x"{0}}},
                           {{"id": "q", "op": "pmin", "of": "a", "axis_name": "x"{0}}})",
                       more);
  };
  CHECK(failures(arrays, program(""),
                 everywhere(R"(["NaN", 0.0, 0.0])", R"(["NaN", -0.0, -0.0])")) == "");
  // NaN is passed over, and of zeros the first stays.
  CHECK(failures(arrays, program(R"(, "algorithm": "one_shot")"),
                 everywhere("[3, -0.0, 0.0]", "[1, -0.0, 0.0]"),
                 R"(, "numerics": "xla-cpu")") == "");
}

TEST_CASE("differences: the square root of -1 - 0i is -i") {
  CHECK(failures(R"("a": {"local_shape": [1], "dtype": "c64", "per_device": [
                      [[-1, -0.0]], [[-1, 0.0]], [[-1, -0.0]], [[-1, 0.0]]]})",
                 R"({"id": "r", "op": "sqrt", "of": "a"})",
                 R"("r": [[[0, -1]], [[0, 1]], [[0, -1]], [[0, 1]]])") == "");
}

TEST_CASE("differences: an untiled all_to_all goes back as one with both dimensions exchanged") {
  // Entry [i, j] of device d's result is entry [j, d] of device i's operand.
  CHECK(failures(R"("a": {"local_shape": [1, 4], "dtype": "f32", "per_device": [
                      [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]]},
                    "ct_r": {"shape": [16, 1], "dtype": "f32", "spec": ["x"], "init": "iota"})",
                 R"({"id": "r", "op": "all_to_all", "of": "a", "axis_name": "x", "split_axis": 1,
                     "concat_axis": 0})",
                 R"("ct_a": [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]])",
                 R"(, "transform": {"vjp": {"of": "r", "with_respect_to": "a"}})") == "");
}

TEST_CASE("differences: pbroadcast goes back as the sum of the cotangents, at the source") {
  CHECK(failures(R"("a": {"local_shape": [2], "dtype": "f32", "per_device": [
                      [0, 0], [0, 0], [0, 0], [0, 0]]},
                    "ct_r": {"local_shape": [2], "dtype": "f32", "per_device": [
                      [1, 2], [3, 4], [5, 6], [7, 8]]})",
                 R"({"id": "r", "op": "pbroadcast", "of": "a", "axis_name": "x", "source": 1})",
                 R"("ct_a": [[0, 0], [16, 20], [0, 0], [0, 0]])",
                 R"(, "transform": {"vjp": {"of": "r", "with_respect_to": "a"}})") == "");
}

}  // namespace
}  // namespace orrery::test
