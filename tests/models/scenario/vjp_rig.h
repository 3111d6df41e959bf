#pragma once

// Makes scenarios with a "transform", and lists the ops of the programs that it makes.

#include <string>
#include <vector>

#include "models/program/rules.h"
#include "models/scenario/reader.h"
#include "tests/models/scenario/support.h"

namespace orrery::test {

/// Returns a scenario on {x: 2} with "w", f32[2] on each device, which varies, and the cotangents
/// "ct_r" and "ct_l" of such values.
inline std::string looped(const std::string& program, const std::string& transform,
                          const std::string& more = "") {
  Small small;
  small.mesh = R"({"x": 2})";
  small.arrays = R"({"w": {"shape": [4], "dtype": "f32", "spec": ["x"]}, )"
                 R"("ct_l": {"shape": [4], "dtype": "f32", "spec": ["x"]})" +
                 more + "}";
  small.program = program;
  small.more = R"("transform": )" + transform;
  return small.text();
}

/// Returns a loop whose result l.h is w to the power of 2^trips.
inline std::string squares(const std::string& trips) {
  return R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": )" + trips +
         R"(, "carry": {"h": "w"}, "body": [{"id": "y", "op": "mul", "of": ["h", "h"]}], )"
         R"("yield": {"h": "y"}}])";
}

inline const std::string kOfL = R"({"vjp": {"of": ["l"], "with_respect_to": ["w"]}})";

inline const std::string kKeepLoops =
    R"({"vjp": {"of": ["l"], "with_respect_to": ["w"], "keep_loops": true}})";

/// Returns "r.bwd = mul(ct_r, w)" for each op.
inline std::vector<std::string> all_ops(const std::string& text) {
  const Scenario scenario = read_scenario("f", text);
  std::vector<std::string> lines;
  for (const Op& op : scenario.program.ops) {
    std::string operands;
    for (const ValueId operand : op.operands)
      operands += (operands.empty() ? "" : ", ") + scenario.program.value(operand).name;
    lines.push_back(op.name + " = " + op_name(op.kind, op.issue) + "(" + operands + ")");
  }
  return lines;
}

/// Returns the ops of the backward pass.
inline std::vector<std::string> backward_ops(const std::string& program,
                                             const std::string& transform,
                                             const std::string& more = "") {
  std::vector<std::string> found;
  for (const std::string& line : all_ops(looped(program, transform, more)))
    if (const size_t name = line.find(" = "); line.substr(0, name).find(".bwd") != line.npos)
      found.push_back(line);
  return found;
}

}  // namespace orrery::test
