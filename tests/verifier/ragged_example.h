#pragma once

// This is the example of ragged_all_to_all in JAX's documentation, with tables to vary.

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tests/verifier/scenario_rig.h"

namespace orrery::test {

/// These are the tables of the example, for two devices.
struct Tables {
  std::string input_offsets = "[[0, 1], [0, 1]]";
  std::string send_sizes = "[[1, 2], [1, 1]]";
  std::string output_offsets = "[[0, 0], [1, 2]]";
  std::string recv_sizes = "[[1, 1], [2, 1]]";
};

inline ScenarioParts example(const Tables& tables = {}, const std::string& more = "") {
  ScenarioParts parts;
  parts.devices = 2;
  parts.mesh = R"({"x": 2})";
  const auto array = [](std::string_view name, int rows, const std::string& values) {
    return fmt::format(R"("{}": {{"local_shape": [{}], "dtype": "s32", "per_device": {}}})", name,
                       rows, values);
  };
  parts.arrays = fmt::format(
      "{{{}, {}, {}, {}, {}, {}}}", array("operand", 3, "[[1, 2, 2], [3, 4, 0]]"),
      array("output", 4, "[[0, 0, 0, 0], [0, 0, 0, 0]]"),
      array("input_offsets", 2, tables.input_offsets), array("send_sizes", 2, tables.send_sizes),
      array("output_offsets", 2, tables.output_offsets), array("recv_sizes", 2, tables.recv_sizes));
  parts.program = fmt::format(
      R"([{{"id": "r", "op": "ragged_all_to_all", "axis_name": "x"{},
            "of": ["operand", "output", "input_offsets", "send_sizes", "output_offsets",
                   "recv_sizes"]}}])",
      more);
  return parts;
}

/// Returns the first message that refuses the scenario, or "accepted".
inline std::string refusal(const ScenarioParts& parts, const RunOptions& options = {}) {
  try {
    (void)run_parts(parts, options);
  } catch (const InputError& error) {
    return error.diagnostics().front().message;
  }
  return "accepted";
}

}  // namespace orrery::test
