// Tests dimensions of the operand among the axes of psum, pmax and pmin.

#include <string>

#include <doctest/doctest.h>

#include "models/program/rules.h"
#include "models/scenario/reader.h"
#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::refusal;
using test::Small;

/// Returns a scenario where "a" is f32[2,3] on each device and varies over x.
std::string over(const std::string& op, const std::string& axes, const std::string& more = "") {
  Small small;
  small.arrays = R"({"a": {"shape": [8, 3], "dtype": "f32", "spec": ["x"]}})";
  small.program =
      R"([{"id": "r", "op": ")" + op + R"(", "of": "a", "axis_name": )" + axes + more + "}]";
  return small.text();
}

/// Returns "r = psum(r.local): f32[3]" for each op.
std::string ops_of(const std::string& text) {
  const Scenario scenario = read_scenario("f", text);
  std::string lines;
  for (const Op& op : scenario.program.ops)
    lines += op.name + " = " + op_name(op.kind, op.issue) + "(" +
             scenario.program.value(op.operands.front()).name + "): " +
             orrery::text(scenario.program.value(op.results.front()).type, scenario.program.mesh) +
             "\n";
  return lines;
}

TEST_CASE("axis_name: dimensions are reduced on each device first, then the axes of the mesh") {
  CHECK(ops_of(over("psum", R"(["x", 0])")) ==
        "r.local = reduce_sum(a): f32[3]{V:x}\nr = psum(r.local): f32[3]\n");
  CHECK(ops_of(over("pmax", R"([1, "x", 0])")) ==
        "r.local = reduce_max(a): f32[]{V:x}\nr = pmax(r.local): f32[]\n");
  CHECK(ops_of(over("pmin_start", R"(["x", 1])")) ==
        "r.local = reduce_min(a): f32[2]{V:x}\nr = pmin_start(r.local): future f32[2]\n");
}

TEST_CASE("axis_name: over dimensions a sum of pred counts in s32 too") {
  Small small;
  small.arrays = R"({"a": {"shape": [8], "dtype": "pred", "spec": ["x"]}})";
  small.program = R"([{"id": "r", "op": "psum", "of": "a", "axis_name": ["x", 0]}])";
  CHECK(ops_of(small.text()) ==
        "r.counted = convert_element_type(a): s32[2]{V:x}\n"
        "r.local = reduce_sum(r.counted): s32[]{V:x}\n"
        "r = psum(r.local): s32[]\n");
}

TEST_CASE("axis_name: dimensions alone are over no axes of the mesh") {
  CHECK(ops_of(over("psum", "0")) ==
        "r.local = reduce_sum(a): f32[3]{V:x}\nr = psum(r.local): f32[3]{V:x}\n");
}

TEST_CASE("axis_name: what is refused of dimensions") {
  CHECK(refusal(over("pmean", R"(["x", 0])")) ==
        "f:5:70: /program/0/axis_name/1: pmean \"r\": expected an axis name, got 0; only psum, "
        "pmax and pmin "
        "also reduce over dimensions of the operand");
  CHECK(refusal(over("psum", R"(["x", 2])")) ==
        "f:5:63: /program/0/axis_name: psum \"r\": expected a dimension from 0 to 1, "
        "got 2");
  CHECK(refusal(over("psum", R"(["x", -1])")) ==
        "f:5:69: /program/0/axis_name/1: psum \"r\": expected a dimension of at least 0, got -1");
  CHECK(refusal(over("psum", R"(["x", 0])", R"(, "axis_index_groups": [[0, 1], [2, 3]])")) ==
        "f:5:94: /program/0/axis_index_groups: psum \"r\": expected no axis_index_groups where "
        "dimensions "
        "are among the axes");
  CHECK(refusal(over("psum", R"([0, true])")) ==
        "f:5:67: /program/0/axis_name/1: psum \"r\": expected an axis name or a dimension (a whole "
        "number), got "
        "true");
  CHECK(refusal(over("psum", R"(["x", 1.5])")) ==
        "f:5:69: /program/0/axis_name/1: psum \"r\": expected an axis name or a dimension (a whole "
        "number), got "
        "1.5");
  CHECK(refusal(over("psum", R"(["x", null])")) ==
        "f:5:69: /program/0/axis_name/1: psum \"r\": expected an axis name or a dimension (a whole "
        "number), got "
        "null");
  CHECK(refusal(over("psum", "null")) ==
        "f:5:63: /program/0/axis_name: psum \"r\": expected an axis name or a dimension (a whole "
        "number), or a "
        "list of them, got null");
}

}  // namespace
}  // namespace orrery
