// Tests that a mutated scenario is read or is refused with an error, without another exception or a
// crash.

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "tests/support/property.h"

namespace orrery {
namespace {

constexpr std::string_view kText = R"({"orrery": 1, "name": "n", // all kinds of values
"cluster": {"devices": 4, "links": [{"from": 0, "to": "s0"}, {"from": "s0", "to": 1}],
  "bandwidth": "50 GB/s", "latency_ns": 700, "flops": {"f32": "1.5 TFLOP/s"}},
"mesh": {"x": 2, "y": 2}, "memory": {"alignment": "256 B"},
"arrays": {"a": {"shape": [8, 4], "dtype": "f32", "spec": ["x", null], "init": "iota"},
  "k": {"shape": [8, 4], "dtype": "f32", "init": {"same_as": "w"}},
  "w": {"shape": [8, 4], "dtype": "f32", "init": {"random": 7}},
  "b": {"local_shape": [1, 2], "dtype": "f16", "per_device": [[1, -0.5], ["NaN", 2], [3, 4], [5, 6]]}},
"program": [{"id": "s", "op": "psum_scatter_start", "of": "a", "axis_name": "x", "tiled": true},
  {"id": "c", "op": "compute", "flops": "2 TFLOP", "bytes": 12, "dtype": "bf16"},
  {"id": "p", "op": "done", "of": "s"},
  {"id": "t", "op": "transpose", "of": "p", "permutation": [1, 0]},
  {"id": "d", "op": "dot_general", "of": ["t", "p"], "dimension_numbers": [[[1], [0]], [[], []]]},
  {"id": "r", "op": "ppermute", "of": "b", "axis_name": ["x", "y"], "perm": [[0, 1], [1, 0]]}],
"outputs": ["d", "r"],
"expect": [{"equal": ["r", "b"]}, {"makespan": {"at_most": "2 ms"}}, {"holds": ["proved"]},
  {"values": {"r": [[0, 0], [0, 0], [0, 0], [0, 0]]}}]})";

std::string mutated(Random& random) {
  static const std::vector<std::string_view> kTokens = {"\"",       "{",
                                                        "}",        "[",
                                                        "]",        ",",
                                                        ":",        "-1",
                                                        "1e99",     "18446744073709551615",
                                                        "null",     "true",
                                                        "\"a\"",    "\"x\"",
                                                        "//",       "/*",
                                                        "\\",       "\n",
                                                        "\x80",     "[[",
                                                        "[]",       "\"NaN\"",
                                                        "4096",     "1048576",
                                                        "\"psum\"", "\"f64\"",
                                                        "\"done\"", "9223372036854775807"};
  std::string text(kText);
  for (int64_t n = random.between(1, 3); n > 0; --n) {
    const size_t at = random.below(text.size());
    const std::string_view token = kTokens[random.below(kTokens.size())];
    switch (random.below(4)) {
      case 0:
        text.erase(at, random.below(20));
        break;
      case 1:
        text.insert(at, token);
        break;
      case 2:
        text.insert(at, text.substr(random.below(text.size()), random.below(80)));
        break;
      default:
        text.replace(at, text.find_first_of(" ,]}", at) - at, token);
        break;
    }
  }
  return text;
}

TEST_CASE("reader: a mutated text is read, and then written and read again, or refused") {
  CHECK_NOTHROW((void)read_scenario("f", kText));
  test::holds_for_all("read or refused", [](uint64_t seed) {
    Random random(seed);
    for (int i = 0; i < 20; ++i) {
      std::string written;
      try {
        written = write_scenario(read_scenario("f", mutated(random)));
      } catch (const InputError& error) {
        RC_ASSERT_FALSE(error.diagnostics().empty());
        continue;
      }
      RC_ASSERT(write_scenario(read_scenario("f", written)) == written);
    }
  });
}

}  // namespace
}  // namespace orrery
