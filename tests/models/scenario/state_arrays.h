#pragma once

// Makes a scenario of one op, "t", with operands in any states: it has an array for each pair of
// states.

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/models/scenario/support.h"

namespace orrery::test {

/// Returns "of" with the arrays in these states along x and y. Each name has two letters: "VI",
/// "UR".
inline std::string of_states(const std::vector<std::string>& states) {
  return fmt::format(R"(["{}"])", fmt::join(states, R"(", ")"));
}

/// Returns an array of zeros on {x: 2, y: 2} with these states, as a member of "arrays".
inline std::string array_of(std::string_view name, std::string_view dtype, std::string_view shape,
                            std::string_view elements, std::string_view states) {
  const auto axes = [&](char letter) {
    return fmt::format("[{}{}{}]", states[0] == letter ? R"("x")" : "",
                       states == std::string(2, letter) ? ", " : "",
                       states[1] == letter ? R"("y")" : "");
  };
  return fmt::format(
      R"("{}": {{"local_shape": {}, "dtype": "{}", "varying": {}, "unreduced": {}, "reduced": {},
          "per_device": [{}, {}, {}, {}]}})",
      name, shape, dtype, axes('V'), axes('U'), axes('R'), elements, elements, elements, elements);
}

/// Returns the error of the op with the members `op` and the operands `of`, from the op's place in
/// the file on; "" if the op is accepted. The operands may be f32[2] of any states, named by the
/// states, or s32 scalars, named "index VI" and so on. "table" is s32[2] and the same on all
/// devices; "four" is f32[4] and varies over x.
inline std::string said_of(const std::string& op, const std::string& of,
                           const std::string& more = R"("check_types": true)") {
  Small small;
  small.mesh = R"({"x": 2, "y": 2})";
  std::vector<std::string> arrays = {array_of("table", "s32", "[2]", "[0, 0]", "II"),
                                     array_of("four", "f32", "[4]", "[0, 0, 0, 0]", "VI")};
  for (const char x : {'I', 'V', 'U', 'R'})
    for (const char y : {'I', 'V', 'U', 'R'}) {
      const std::string states = {x, y};
      arrays.push_back(array_of(states, "f32", "[2]", "[0, 0]", states));
      arrays.push_back(array_of("index " + states, "s32", "[]", "[0]", states));
    }
  small.arrays = fmt::format("{{{}}}", fmt::join(arrays, ",\n"));
  small.program = fmt::format(R"([{{"id": "t", "of": {}, {}}}])", of, op);
  small.more = more;
  return error_of(small.text());
}

}  // namespace orrery::test
