#pragma once

// These are small programs to be batched, and the text of the batched program.

#include <string>

#include "models/program/rules.h"
#include "models/scenario/reader.h"
#include "tests/models/scenario/support.h"

namespace orrery::test {

/// Returns a scenario on {x: 2} with these arrays: "a", s32[2,3] on each device, varies; "b",
/// s32[3,2], and "c", s32[2], are the same on both devices.
inline std::string with_batch(const std::string& program, const std::string& batch,
                              const std::string& outputs = "[]", const std::string& arrays = "") {
  Small small;
  small.mesh = R"({"x": 2})";
  small.arrays = R"({"a": {"shape": [4, 3], "dtype": "s32", "spec": ["x"]}, )"
                 R"("b": {"shape": [3, 2], "dtype": "s32"}, "c": {"shape": [2], "dtype": "s32"})" +
                 arrays + "}";
  small.program = program;
  small.more = R"("check_types": true, "transform": )" +
               (batch.starts_with("[") ? batch : R"({"batch": {)" + batch + "}}") +
               R"(, "outputs": )" + outputs;
  return small.text();
}

/// Returns the ops, one per line: "r = add(a, c): s32[3,2]". The other names of values follow.
inline std::string batched(const std::string& text) {
  const Scenario scenario = read_scenario("f", text);
  const Program& program = scenario.program;
  std::string lines;
  for (const Op& op : program.ops) {
    std::string operands;
    for (const ValueId operand : op.operands)
      operands += (operands.empty() ? "" : ", ") + program.value(operand).name;
    std::string types;
    for (const ValueId result : op.results)
      types += (types.empty() ? "" : ", ") + orrery::text(program.value(result).type, program.mesh);
    lines += op.name + " = " + op_name(op.kind, op.issue) + "(" + operands + "): " + types + "\n";
  }
  for (const auto& [name, value] : program.other_names)
    lines += name + " = " + program.value(value).name + "\n";
  return lines;
}

/// Returns the ops of one transfer of "a" to "r", as s32[2]. `received` is the perm of precv if
/// that differs.
inline std::string transfer(const std::string& axes, const std::string& perm,
                            const std::string& received = "") {
  return R"([{"id": "t", "op": "psend", "of": "a", "axis_name": )" + axes + R"(, "perm": )" + perm +
         R"(}, {"id": "r", "op": "precv", "of": "t", "shape": [2], "dtype": "s32", )" +
         R"("axis_name": )" + axes + R"(, "perm": )" + (received.empty() ? perm : received) + "}]";
}

}  // namespace orrery::test
