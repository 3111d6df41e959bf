#pragma once

// These are small programs with a gradient, and the text of the ops that the gradient adds.

#include <string>

#include "models/program/rules.h"
#include "models/scenario/reader.h"
#include "tests/models/scenario/support.h"

namespace orrery::test {

/// Returns a scenario on {x: 2} with these arrays: "a", f32[2], and "i", s32[2], are the same on
/// both devices; "w", f32[2] on each device, varies; and the array `cotangent`.
inline std::string with_vjp(
    const std::string& program, const std::string& vjp,
    const std::string& cotangent = R"("ct_r": {"shape": [2], "dtype": "f32"})") {
  Small small;
  small.mesh = R"({"x": 2})";
  small.arrays = R"({"a": {"shape": [2], "dtype": "f32"}, "w": {"shape": [4], "dtype": "f32", )"
                 R"("spec": ["x"]}, "i": {"shape": [2], "dtype": "s32"})" +
                 (cotangent.empty() ? "" : ", " + cotangent) + "}";
  small.program = program;
  small.more = R"("transform": {"vjp": {)" + vjp + "}}";
  return small.text();
}

/// Returns the ops of the backward pass, one per line: "r.bwd = pvary(ct_r): f32[2]{V:x}". The
/// names of cotangents follow.
inline std::string added(const std::string& text) {
  const Scenario scenario = read_scenario("f", text);
  const Program& program = scenario.program;
  std::string lines;
  for (const Op& op : program.ops) {
    if (op.name.find(".bwd") == std::string::npos && op.name.find(".re") == std::string::npos)
      continue;
    std::string operands;
    for (const ValueId operand : op.operands)
      operands += (operands.empty() ? "" : ", ") + program.value(operand).name;
    lines += op.name + " = " + op_name(op.kind, op.issue) + "(" + operands +
             "): " + orrery::text(program.value(op.results.front()).type, program.mesh) + "\n";
  }
  for (const auto& [name, value] : program.other_names)
    lines += name + " = " + program.value(value).name + "\n";
  return lines;
}

inline const std::string kOfR = R"("of": ["r"], "with_respect_to": ["w"])";

inline const std::string kVaryingCtR = R"("ct_r": {"shape": [4], "dtype": "f32", "spec": ["x"]})";

inline const std::string kSend =
    R"({"id": "t", "op": "psend", "of": "w", "axis_name": "x", "perm": [[0, 1]]})";

inline std::string received(const std::string& id, const std::string& token = "t") {
  return R"({"id": ")" + id + R"(", "op": "precv", "of": ")" + token +
         R"(", "axis_name": "x", "perm": [[0, 1]], "shape": [2], "dtype": "f32"})";
}

/// Returns an exchange of "w" into "a" by the tables "i", with one slice for each rank.
inline std::string ragged(const std::string& more = "") {
  return R"([{"id": "r", "op": "ragged_all_to_all", "of": ["w", "a", "i", "i", "i", "i"], )"
         R"("axis_name": "x")" +
         more + "}]";
}

}  // namespace orrery::test
