// Tests bad ops, loops and programs as a user meets them, except those that tests/models/scenario
// has with the whole message.

#include <doctest/doctest.h>

#include "tests/tools/cli/bad_inputs.h"

namespace orrery::test {
namespace {

TEST_CASE("bad input: ops and their operands") {
  const Wrong wrong[] = {
      {"a parameter left out", Small{.program = R"([{"id": "r", "op": "psum", "of": "a"}])"}.text(),
       "bad.json:5:13: /program/0: psum \"r\": expected the parameter \"axis_name\", an axis name "
       "or a list of them"},
      {"a parameter beyond its range",
       Small{.program =
                 R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "channels": 1025}])"}
           .text(),
       "bad.json:5:80: /program/0/channels: psum \"r\": expected at most 1024, got 1025"},
      {"an operand with a slip",
       Small{.program = R"([{"id": "rs", "op": "psum", "of": "a", "axis_name": "x"},
{"id": "q", "op": "neg", "of": "rr"}])"}
           .text(),
       "bad.json:6:32: /program/1/of: expected the id of an array or of an earlier op, got "
       "\"rr\""},
      {"an operand too many",
       Small{.program = R"([{"id": "r", "op": "neg", "of": ["a", "a"]}])"}.text(),
       "bad.json:5:44: /program/0/of: neg \"r\": expected 1 operand, got 2"},
      {"operands of two shapes",
       Small{.program = R"([{"id": "g", "op": "all_gather", "of": "a", "axis_name": "x"},
{"id": "s", "op": "add", "of": ["a", "g"]}])"}
           .text(),
       "bad.json:6:32: /program/1/of: add \"s\": expected operands of one shape, got f32[2] and "
       "f32[4,2]; only scalars (shape []) are broadcast"},
      {"operands of two dtypes",
       Small{.program =
                 R"([{"id": "i", "op": "convert_element_type", "of": "a", "new_dtype": "s32"},
{"id": "s", "op": "add", "of": ["a", "i"]}])"}
           .text(),
       "bad.json:6:32: /program/1/of: add \"s\": expected operands of one dtype, got f32[2] and "
       "s32[2]; nothing is converted unasked"},
      {"an op that the dtype has not",
       Small{.program =
                 R"([{"id": "i", "op": "convert_element_type", "of": "a", "new_dtype": "s32"},
{"id": "s", "op": "exp", "of": "i"}])"}
           .text(),
       "bad.json:6:32: /program/1/of: exp \"s\": expected floats or complex numbers, got s32"},
      {"a dimension that the operand has not",
       Small{
           .program =
               R"([{"id": "r", "op": "psum_scatter", "of": "a", "axis_name": "x", "scatter_dimension": 1}])"}
           .text(),
       "bad.json:5:97: /program/0/scatter_dimension: psum_scatter \"r\": expected a dimension "
       "from 0 to 0, got 1"},
      {"an extent that the group does not divide",
       Small{
           .program =
               R"([{"id": "r", "op": "psum_scatter", "of": "a", "axis_name": "x", "tiled": true}])"}
           .text(),
       "bad.json:5:13: /program/0/scatter_dimension: psum_scatter \"r\": expected dimension 0 to "
       "be divisible by the group size 4, got 2"},
      {"another number of elements",
       Small{.program = R"([{"id": "r", "op": "reshape", "of": "a", "new_sizes": [3]}])"}.text(),
       "bad.json:5:66: /program/0/new_sizes: reshape \"r\": expected sizes of 2 elements, as [2] "
       "has, got [3]"},
      {"an order that leaves a dimension out",
       Small{.program = R"([{"id": "r", "op": "transpose", "of": "a", "permutation": [1]}])"}
           .text(),
       "bad.json:5:70: /program/0/permutation: transpose \"r\": expected each dimension of [2] "
       "once, got [1]"},
      {"groups of two sizes",
       Small{
           .program =
               R"([{"id": "r", "op": "all_gather", "of": "a", "axis_name": "x", "axis_index_groups": [[0], [1, 2, 3]]}])"}
           .text(),
       "bad.json:5:95: /program/0/axis_index_groups: all_gather \"r\": expected groups of one "
       "size, got 1 and 3"},
      {"groups that leave a device out",
       Small{
           .program =
               R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "axis_index_groups": [[0, 1], [2]]}])"}
           .text(),
       "bad.json:5:89: /program/0/axis_index_groups: psum \"r\": expected each of the 4 ranks in "
       "a group, got none with rank 3"},
      {"two devices that send to one",
       Small{
           .program =
               R"([{"id": "r", "op": "ppermute", "of": "a", "axis_name": "x", "perm": [[0, 1], [2, 1]]}])"}
           .text(),
       "bad.json:5:80: /program/0/perm: ppermute \"r\": expected each destination once, got rank "
       "1 twice"},
      {"a future read before its done",
       Small{.program = R"([{"id": "f", "op": "psum_start", "of": "a", "axis_name": "x"},
{"id": "q", "op": "neg", "of": "f"}])"}
           .text(),
       "bad.json:6:32: /program/1/of: neg \"q\": expected a value, got \"f\", a future that only "
       "done may read"},
      {"a done of no start", Small{.program = R"([{"id": "q", "op": "done", "of": "a"}])"}.text(),
       "bad.json:5:45: /program/0/of: done \"q\": expected a future, the result of a start, got "
       "f32[2]{V:x}"},
      {"storage donated that is not read",
       Small{.program = R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x"},
{"id": "q", "op": "neg", "of": "a", "donate": ["r"]}])"}
           .text(),
       "bad.json:6:47: /program/1/donate: neg \"q\": expected one of its operands (a), got \"r\""},
  };
  refuse_all(wrong, "run", "bad.json");
}

TEST_CASE("bad input: loops and several programs") {
  const Wrong wrong[] = {
      {"what is carried changes its shape",
       Small{.program =
                 R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 2, "carry": {"h": "a"},
"body": [{"id": "y", "op": "all_gather", "of": "h", "axis_name": "x"}], "yield": {"h": "y"}}])"}
           .text(),
       "bad.json:6:88: /program/0/yield/h: fori_loop \"l\": expected \"h\" to stay f32[2], got "
       "f32[4,2] from \"y\" (in l)"},
      {"a wrong id after a loop too long to be read whole",
       Small{
           .program =
               R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 1000000, "carry": {"h": "a"},
"body": [{"id": "y", "op": "neg", "of": "h"}], "yield": {"h": "y"}},
{"id": "q", "op": "neg", "of": "ll"}])"}
           .text(),
       "bad.json:7:32: /program/1/of: expected the id of an array or of an earlier op, got \"ll\""},
      {"a wrong id in one iteration of such a loop",
       Small{
           .program =
               R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 1000000, "carry": {"h": "a"},
"body": [{"id": "y", "op": "neg", "of": "h"}], "yield": {"h": "y"}},
{"id": "q", "op": "neg", "of": "l[500000].yy"}])"}
           .text(),
       "bad.json:7:32: /program/1/of: expected the id of an array or of an earlier op, got "
       "\"l[500000].yy\"; did you mean \"l[500000].y\"?"},
      {"a device that meets itself",
       with_programs(
           R"([{"on": [0, 1], "do": [{"id": "p", "op": "psum", "of": "a", "axis_name": [], "site": "s"}]},
{"on": [1, 2, 3], "do": [{"id": "q", "op": "psum", "of": "a", "axis_name": [], "site": "s"}]}])"),
       "bad.json:5:98: /programs/0/do/0/site: expected each device to issue site \"s\" in one of "
       "its programs, got device 1 in \"program 0\" and \"program 1\""},
      {"an array that a device of the program lacks",
       with_programs(R"([{"on": [0, 1], "do": [{"id": "p", "op": "neg", "of": "b"}]}])",
                     R"({"b": {"shape": [8], "dtype": "f32", "on": [1, 2]}})"),
       "bad.json:5:67: /programs/0/do/0/of: neg \"p\": expected an array that every device of "
       "program "
       "\"program 0\" has, got \"b\", which device 0 lacks"},
      {"an array cut over an axis that its devices do not span",
       with_programs(R"([{"on": [0, 1], "do": []}])",
                     R"({"b": {"shape": [8], "dtype": "f32", "on": [1, 2], "spec": ["x"]}})"),
       "bad.json:4:71: /arrays/b/spec/0: expected an axis that the array's devices span whole, got "
       "\"x\": device 1 has the array, device 0 does not"},
      {"a value of another program",
       with_programs(R"([{"on": [0, 1], "do": [{"id": "p", "op": "neg", "of": "a"}]},
{"on": [2, 3], "do": [{"id": "q", "op": "neg", "of": "p"}]}])"),
       "bad.json:6:54: /programs/1/do/0/of: expected the id of an array or of an earlier op "
       "of the same program, got \"p\", which is of program \"program 0\""},
      {"ops of two kinds at one site",
       with_programs(
           R"([{"on": [0, 1], "do": [{"id": "p", "op": "psum", "of": "a", "axis_name": "x", "site": "s"}]},
{"on": [2, 3], "do": [{"id": "q", "op": "pmax", "of": "a", "axis_name": "x", "site": "s"}]}])"),
       "bad.json:6:23: /programs/1/do/0/op: pmax \"q\": expected psum at site \"s\", as \"p\" is, "
       "got pmax"},
  };
  refuse_all(wrong, "run", "bad.json");
}
}  // namespace
}  // namespace orrery::test
