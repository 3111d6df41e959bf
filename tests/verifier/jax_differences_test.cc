// Tests the values where JAX differs (docs/ops.md). The other rows of the table are tested
// elsewhere: errors in tests/models/scenario/collective_errors_test.cc and state_errors_test.cc,
// types in tests/models/program, transforms in tests/models/scenario/batch_test.cc and vjp_test.cc,
// and futures in faults_test.cc.

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/scenario/reader.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

/// Returns the failing checks of a program on {x: 4} whose values must be the given ones, per
/// device.
std::string failures(const std::string& arrays, const std::string& program,
                     const std::string& values, const std::string& more = "") {
  const std::string text = fmt::format(
      R"({{"orrery": 1, "mesh": {{"x": 4}},
          "cluster": {{"devices": 4, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us",
                       "flops": {{"f32": "1 TFLOP/s"}}}},
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
  // The means are (1 + 2 + 6) / 3 and 5 / 1; JAX divides by 3 in both groups.
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

TEST_CASE("differences: a ppermute over no axes and without pairs gives its operand") {
  CHECK(failures(R"("a": {"local_shape": [1], "dtype": "f32", "per_device": [[1], [2], [6], [5]]})",
                 R"({"id": "r", "op": "ppermute", "of": "a", "axis_name": [], "perm": []})",
                 R"("r": [[1], [2], [6], [5]])") == "");
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
  // NaN is passed over, and the first of the zeros stays.
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

const std::string kChecked = R"(, "check_types": true)";

/// The arrays are of f32[2]: unreduced ("u"), reduced ("q") and invarying ("i"). There are also a
/// scalar ("zero"), preds ("p"), and numbers of rows ("k"). The sum of u over the devices is [10,
/// 100].
const std::string kArrays =
    R"("u": {"local_shape": [2], "dtype": "f32", "unreduced": ["x"], "per_device": [
           [1, 10], [2, 20], [3, 30], [4, 40]]},
       "q": {"local_shape": [2], "dtype": "f32", "reduced": ["x"], "per_device": [
           [5, 6], [5, 6], [5, 6], [5, 6]]},
       "i": {"local_shape": [2], "dtype": "f32", "varying": [], "per_device": [
           [7, 8], [7, 8], [7, 8], [7, 8]]},
       "zero": {"local_shape": [], "dtype": "f32", "varying": [], "per_device": [[0], [0], [0], [0]]},
       "p": {"local_shape": [2], "dtype": "pred", "varying": [], "per_device": [
           [false, true], [false, true], [false, true], [false, true]]},
       "k": {"local_shape": [2], "dtype": "s32", "varying": [], "per_device": [
           [1, 1], [1, 1], [1, 1], [1, 1]]})";

/// Returns the failing checks of "s", the sum of the unreduced value "r" that `op` makes.
std::string sum_of(const std::string& op, const std::string& sum) {
  return failures(kArrays,
                  op + R"(, {"id": "s", "op": "unreduced_psum", "of": "r", "axis_name": "x"})",
                  fmt::format(R"("s": [{0}, {0}, {0}, {0}])", sum), kChecked);
}

TEST_CASE("differences: what is linear in addends is done to each") {
  CHECK(sum_of(R"({"id": "r", "op": "neg", "of": "u"})", "[-10, -100]") == "");
  CHECK(sum_of(R"({"id": "d", "op": "neg", "of": "u"}, {"id": "r", "op": "sub", "of": ["u", "d"]})",
               "[20, 200]") == "");
  // The complex numbers u + 2u i are conjugated.
  const std::string complex =
      R"({"id": "d", "op": "add", "of": ["u", "u"]}, {"id": "z", "op": "complex", "of": ["u", "d"]},
         {"id": "c", "op": "conj", "of": "z"}, )";
  CHECK(sum_of(complex + R"({"id": "r", "op": "real", "of": "c"})", "[10, 100]") == "");
  CHECK(sum_of(complex + R"({"id": "r", "op": "imag", "of": "c"})", "[-20, -200]") == "");
}

TEST_CASE("differences: unreduced preds are counted") {
  // The addends are invarying preds [false, true] on 4 devices.
  CHECK(failures(kArrays,
                 R"({"id": "d", "op": "pvary", "of": "p", "axis_name": "x"},
                    {"id": "r", "op": "vary_unreduced_cast", "of": "d", "axis_name": "x"},
                    {"id": "s", "op": "unreduced_psum", "of": "r", "axis_name": "x"},
                    {"id": "m", "op": "pmean", "of": "r", "axis_name": "x"})",
                 R"("s": [[0, 4], [0, 4], [0, 4], [0, 4]], "m": [[0, 1], [0, 1], [0, 1], [0, 1]])",
                 kChecked) == "");
}

TEST_CASE("differences: rows of addends are addends") {
  CHECK(sum_of(R"({"id": "r", "op": "take", "of": ["u", "k"], "axis": 0, "mode": "clip"})",
               "[100, 100]") == "");
  CHECK(sum_of(R"({"id": "r", "op": "scatter_add", "of": ["u", "u", "k"], "axis": 0})",
               "[10, 210]") == "");
}

/// Returns the first error of the op "r" over the arrays, or "".
std::string refused(const std::string& op) {
  try {
    failures(kArrays, R"({"id": "r", )" + op + "}", "", kChecked);
  } catch (const InputError& error) {
    return error.diagnostics().front().message;
  }
  return "";
}

TEST_CASE("differences: a maximum of addends is refused") {
  for (const char* const op : {"reduce_max", "reduce_min"})
    CHECK(refused(fmt::format(R"("op": "{}", "of": "u", "axes": [0])", op)) ==
          fmt::format("{} \"r\": expected no operand that is unreduced over x, got f32[2]{{U:x}}; "
                      "psum over x makes it invarying",
                      op));
}

TEST_CASE("differences: addends beside what is none are refused") {
  const auto said = [](const std::string& op, const std::string& other) {
    return fmt::format(
        "{} \"r\": expected operands that are all unreduced over x, got f32[2]{{U:x}} and f32{}; "
        "psum over x makes it invarying",
        op, other);
  };
  CHECK(refused(R"("op": "concatenate", "of": ["u", "i"], "dimension": 0)") ==
        said("concatenate", "[2]"));
  CHECK(refused(R"("op": "pad", "of": ["u", "zero"], "padding_config": [[1, 0, 0]])") ==
        said("pad", "[]"));
  CHECK(refused(R"("op": "select_n", "of": ["p", "u", "i"])") == said("select_n", "[2]"));
  CHECK(refused(R"("op": "scatter_add", "of": ["u", "i", "k"], "axis": 0)") ==
        said("scatter_add", "[2]"));
}

TEST_CASE("differences: what is reduced beside what is not is refused, with the cast") {
  const auto said = [](const std::string& op) {
    return fmt::format(
        "{} \"r\": expected operands that are all reduced over x, got f32[2]{{R:x}} and f32[2]; "
        "preduced over x makes it reduced",
        op);
  };
  CHECK(refused(R"("op": "concatenate", "of": ["q", "i"], "dimension": 0)") == said("concatenate"));
  CHECK(refused(R"("op": "select_n", "of": ["p", "q", "i"])") == said("select_n"));
  CHECK(refused(R"("op": "scatter_add", "of": ["q", "i", "k"], "axis": 0)") == said("scatter_add"));
  CHECK(refused(R"("op": "dot_general", "of": ["q", "i"],
                   "dimension_numbers": [[[0], [0]], [[], []]])") == said("dot_general"));
}

TEST_CASE("differences: rows, products and extrema of what is reduced are reduced") {
  // So their cotangents are unreduced, as those of q are.
  const auto gradient = [](const std::string& op, const std::string& shape,
                           const std::string& cotangents, const std::string& expected) {
    return failures(kArrays + fmt::format(R"(, "ct_r": {{"local_shape": {}, "dtype": "f32",
                                            "unreduced": ["x"], "per_device": {}}})",
                                          shape, cotangents),
                    R"({"id": "r", )" + op + "}", R"("ct_q": )" + expected,
                    R"(, "transform": {"vjp": {"of": "r", "with_respect_to": "q"}})" + kChecked);
  };
  const std::string two = "[[1, 10], [2, 20], [3, 30], [4, 40]]";
  CHECK(gradient(R"("op": "take", "of": ["q", "k"], "axis": 0, "mode": "clip")", "[2]", two,
                 "[[0, 11], [0, 22], [0, 33], [0, 44]]") == "");
  CHECK(gradient(R"("op": "scatter_add", "of": ["q", "q", "k"], "axis": 0)", "[2]", two,
                 "[[11, 20], [22, 40], [33, 60], [44, 80]]") == "");
  CHECK(gradient(R"("op": "reduce_max", "of": "q", "axes": [0])", "[]", "[[1], [2], [3], [4]]",
                 "[[0, 1], [0, 2], [0, 3], [0, 4]]") == "");
  // The backward pass would contract a product with addends.
  const std::string dot =
      R"("op": "dot_general", "of": ["q", "q"], "dimension_numbers": [[[0], [0]], [[], []]])";
  CHECK(failures(kArrays,
                 R"({"id": "r", )" + dot +
                     R"(}, {"id": "s", "op": "reduced_vary_cast", "of": "r",
                                     "axis_name": "x"})",
                 R"("s": [[61], [61], [61], [61]])", kChecked) == "");
  CHECK_THROWS_WITH(gradient(dot, "[]", "[[1], [2], [3], [4]]", "[]"),
                    doctest::Contains("dot_general \"r.bwd\": expected no operand that is "
                                      "unreduced over x, got f32[]{U:x} and f32[2]{R:x}"));
}

}  // namespace
}  // namespace orrery::test
