#pragma once

// Tests of scenarios share this: a small scenario to vary, and the errors of a text.

#include <string>
#include <string_view>

#include "models/base/diagnostics.h"
#include "models/scenario/reader.h"

namespace orrery::test {

/// Returns the whole message that refuses the text, with "f:" for the file; "" if the text is read.
inline std::string refusal(std::string_view text, const Limits& limits = {}) {
  try {
    (void)read_scenario("f", text, limits);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

/// Returns the message without the file, from the place on; "" if the text is read.
inline std::string error_of(const std::string& text, const Limits& limits = {}) {
  const std::string message = refusal(text, limits);
  return message.empty() ? "" : message.substr(message.find(": ") + 2);
}

/// A `Small` is a scenario on a ring of 4, with one key per line. "orrery" is in line 1, "cluster"
/// in 2, "mesh" in 3, "arrays" in 4, "program" in 5, and `more` in 6.
struct Small {
  std::string version = "1";
  std::string cluster =
      R"({"devices": 4, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us"})";
  std::string mesh = R"({"x": 4})";
  std::string arrays = R"({"a": {"shape": [8], "dtype": "f32", "spec": ["x"]}})";
  std::string program = R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x"}])";
  std::string more = R"("name": "small")";

  std::string text() const {
    return "{\"orrery\": " + version + ",\n\"cluster\": " + cluster + ",\n\"mesh\": " + mesh +
           ",\n\"arrays\": " + arrays + ",\n\"program\": " + program + ",\n" + more + "}\n";
  }
};

/// Returns the small scenario with "programs" instead of "program".
inline std::string with_programs(const std::string& programs,
                                 const std::string& arrays = Small{}.arrays) {
  std::string text = Small{.arrays = arrays}.text();
  const size_t begin = text.find("\"program\"");
  return text.replace(begin, text.find("\"name\"") - begin - 2, "\"programs\": " + programs);
}

/// A `Case` is a part of a scenario, and the whole message that refuses it.
struct Case {
  std::string part;
  std::string error;
};

}  // namespace orrery::test
