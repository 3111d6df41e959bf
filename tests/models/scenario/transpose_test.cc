// Tests the program that "transform": {"transpose": ...} makes, and the errors.
// tests/verifier/adjoint_test.cc tests the adjoint identity.

#include <string>

#include <doctest/doctest.h>

#include "models/program/rules.h"
#include "models/scenario/reader.h"
#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::error_of;
using test::Small;

/// Returns a scenario on {x: 2} with these arrays: "w", s32[2] on each device, varies; "c", s32[2],
/// is the same on both devices; and `cotangent`.
std::string with_transpose(const std::string& program, const std::string& cotangent,
                           const std::string& keys = R"("of": ["r"], "with_respect_to": ["w"])") {
  Small small;
  small.mesh = R"({"x": 2})";
  small.arrays = R"({"w": {"shape": [4], "dtype": "s32", "spec": ["x"]}, )"
                 R"("c": {"shape": [2], "dtype": "s32"}, "ct_r": )" +
                 cotangent + "}";
  small.program = program;
  small.more = R"("transform": {"transpose": {)" + keys + "}}";
  return small.text();
}

const std::string kInvaryingCotangent = R"({"shape": [2], "dtype": "s32"})";
const std::string kVaryingCotangent = R"({"shape": [4], "dtype": "s32", "spec": ["x"]})";

/// Returns the arguments, then the ops, one per line: "r.bwd = pvary(ct_r)". The names of
/// cotangents follow.
std::string transposed(const std::string& text) {
  const Scenario scenario = read_scenario("f", text);
  const Program& program = scenario.program;
  std::string lines;
  for (const Argument& argument : program.arguments)
    lines += program.value(argument.value).name + " ";
  lines += "\n";
  for (const Op& op : program.ops) {
    std::string operands;
    for (const ValueId operand : op.operands)
      operands += (operands.empty() ? "" : ", ") + program.value(operand).name;
    lines += op.name + " = " + op_name(op.kind, op.issue) + "(" + operands + ")\n";
  }
  for (const auto& [name, value] : program.other_names)
    lines += name + " = " + program.value(value).name + "\n";
  return lines;
}

TEST_CASE("transpose: the program has the ops that go back, and those whose values they read") {
  CHECK(transposed(with_transpose(R"([{"id": "d", "op": "add", "of": ["c", "c"]}, )"
                                  R"({"id": "unread", "op": "neg", "of": "c"}, )"
                                  R"({"id": "p", "op": "mul", "of": ["w", "d"]}, )"
                                  R"({"id": "r", "op": "psum", "of": "p", "axis_name": "x"}])",
                                  kInvaryingCotangent)) ==
        "c ct_r \n"
        "d = add(c, c)\n"
        "r.bwd = pvary(ct_r)\n"
        "p.bwd = mul(r.bwd, d)\n"
        "ct_w = p.bwd\n");
}

TEST_CASE("transpose: an untiled all_to_all over no axes goes back as one") {
  // The all_to_all makes [2, 1] of [1, 2], and its transpose goes back.
  CHECK(
      transposed(with_transpose(R"([{"id": "m", "op": "reshape", "of": "w", "new_sizes": [1, 2]}, )"
                                R"({"id": "r", "op": "all_to_all", "of": "m", "axis_name": [], )"
                                R"("split_axis": 0, "concat_axis": 1}])",
                                R"({"shape": [4, 1], "dtype": "s32", "spec": ["x"]})")) ==
      "c ct_r \n"
      "r.bwd = all_to_all(ct_r)\n"
      "m.bwd = reshape(r.bwd)\n"
      "ct_w = m.bwd\n");
}

TEST_CASE("transpose: zeros may be added and padded with") {
  CHECK(transposed(
            with_transpose(
                R"([{"id": "z", "op": "full", "shape": [], "fill_value": 0, "dtype": "s32"}, )"
                R"({"id": "s", "op": "add", "of": ["w", "z"]}, )"
                R"({"id": "r", "op": "pad", "of": ["s", "z"], "padding_config": [[0, 0, 0]]}])",
                kVaryingCotangent))
            .ends_with("ct_w = r.bwd.2\n"));
  CHECK(transposed(with_transpose(
            R"([{"id": "z", "op": "full", "shape": [2], "fill_value": 0, "dtype": "s32"}, )"
            R"({"id": "v", "op": "pvary", "of": "z", "axis_name": "x"}, )"
            R"({"id": "r", "op": "add", "of": ["w", "v"]}])",
            kVaryingCotangent)) ==
        "c ct_r \n"
        "ct_w = ct_r\n");
}

std::string error_with(const std::string& program,
                       const std::string& cotangent = kVaryingCotangent) {
  return error_of(with_transpose(program, cotangent));
}

TEST_CASE("transpose: a transfer is linear") {
  CHECK(transposed(with_transpose(
            R"([{"id": "t", "op": "psend", "of": "w", "axis_name": "x", "perm": [[0, 1]]}, )"
            R"({"id": "r", "op": "precv", "of": "t", "axis_name": "x", "perm": [[0, 1]], )"
            R"("shape": [2], "dtype": "s32"}])",
            kVaryingCotangent)) ==
        "c ct_r \n"
        "r.bwd = psend(ct_r)\n"
        "t.bwd = precv(r.bwd)\n"
        "ct_w = t.bwd\n");
}

TEST_CASE("transpose: a token that two take is refused") {
  const auto received = [](const std::string& id) {
    return R"({"id": ")" + id +
           R"(", "op": "precv", "of": "t", "axis_name": "x", )"
           R"("perm": [[0, 1]], "shape": [2], "dtype": "s32"})";
  };
  CHECK(
      error_with(R"([{"id": "t", "op": "psend", "of": "w", "axis_name": "x", "perm": [[0, 1]]}, )" +
                 received("y") + ", " + received("z") +
                 R"(, {"id": "r", "op": "add", "of": ["y", "z"]}])") ==
      "/program/1: expected an op that can be transposed, got \"y\": another op takes its token "
      "\"t\" too");
}

TEST_CASE("transpose: of what are no numbers, nothing else is said") {
  CHECK(error_with(R"([{"id": "r", "op": "eq", "of": ["w", "c"]}])") ==
        "/transform/transpose/of/0: expected the result of an op of numbers, got \"r\", "
        "pred[2]{V:x}");
}

TEST_CASE("transpose: what is not linear is refused") {
  const std::string expected =
      "/program/0: expected an op that is linear in what depends on \"with_respect_to\", got "
      "\"r\": ";
  CHECK(error_with(R"([{"id": "r", "op": "mul", "of": ["w", "w"]}])") ==
        expected + "mul is not linear in both operands together");
  CHECK(error_with(R"([{"id": "r", "op": "div", "of": ["c", "w"]}])") ==
        expected + "div is not linear in another operand than the first");
  CHECK(error_with(R"([{"id": "r", "op": "max", "of": ["w", "w"]}])") ==
        expected + "max is not linear");
  CHECK(error_with(R"([{"id": "r", "op": "add", "of": ["w", "c"]}])") ==
        expected + "its operand \"c\" does not depend on them, and is no constant of zeros");
  CHECK(error_with(R"([{"id": "r", "op": "select_n", "of": ["w", "c", "c"]}])") ==
        expected + "select_n is not linear in its first operand");
  CHECK(error_with(R"([{"id": "r", "op": "ragged_all_to_all", "axis_name": "x", )"
                   R"("of": ["w", "c", "c", "c", "c", "c"]}])") ==
        expected + "its operand \"c\" does not depend on them, and is no constant of zeros");
  CHECK(error_with(R"([{"id": "r", "op": "ragged_all_to_all", "axis_name": "x", )"
                   R"("of": ["w", "w", "c", "c", "c", "w"]}])") ==
        expected + "ragged_all_to_all is not linear in an operand after the second");
  CHECK(error_with(R"([{"id": "r", "op": "pmean", "of": "w", "axis_name": "x"}])",
                   kInvaryingCotangent) == expected + "pmean from s32 to f32 is not linear");
  CHECK(
      error_with(R"([{"id": "r", "op": "neg", "of": "c"}])", kInvaryingCotangent) ==
      "/transform/transpose/of/0: expected a value that depends on \"with_respect_to\", got \"r\"");
}

}  // namespace
}  // namespace orrery
