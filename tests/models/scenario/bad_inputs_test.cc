// Tests one wrong input of each kind, with the whole message.

#include <doctest/doctest.h>

#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::refusal;
using test::Small;

TEST_CASE("bad input: the unchanged small scenario is accepted") {
  CHECK(refusal(Small{}.text()) == "");
}

TEST_CASE("bad input: an unknown key, with the nearest known one") {
  Small s;
  s.program = R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "algoritm": "ring"}])";
  CHECK(refusal(s.text()) ==
        "f:5:68: /program/0/algoritm: unknown key \"algoritm\"; did you mean \"algorithm\"?");
}

TEST_CASE("bad input: a quantity with a unit of another dimension") {
  Small s;
  s.cluster = R"({"devices": 4, "topology": "ring", "bandwidth": "50 GB", "latency": "1 us"})";
  CHECK(refusal(s.text()) ==
        "f:2:60: /cluster/bandwidth: expected a rate such as \"50 GB/s\", got \"50 GB\"");
}

TEST_CASE("bad input: a cycle, which is a reference to a later id") {
  Small s;
  s.program = R"([{"id": "r", "op": "psum", "of": "q", "axis_name": "x"},
{"id": "q", "op": "psum", "of": "r", "axis_name": "x"}])";
  CHECK(refusal(s.text()) ==
        "f:5:45: /program/0/of: expected the id of an array or of an earlier op, got \"q\", which "
        "only /program/1 (line 6) defines");
}

TEST_CASE("bad input: an axis that the mesh does not have") {
  Small s;
  s.program = R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "z"}])";
  CHECK(refusal(s.text()) ==
        "f:5:63: /program/0/axis_name: psum \"r\": expected an axis of the mesh (x), got \"z\"");
}

TEST_CASE("bad input: a shape that its axes do not divide") {
  Small s;
  s.arrays = R"({"a": {"shape": [6], "dtype": "f32", "spec": ["x"]}})";
  CHECK(refusal(s.text()) ==
        "f:4:57: /arrays/a/spec/0: expected dimension 0 of extent 6 to be divisible by 4, the size "
        "of \"x\"");
}

TEST_CASE("bad input: an element of a complex dtype that does not have two parts of it") {
  const auto refused = [](std::string_view elements) {
    Small s;
    s.arrays =
        "{\"a\": {\"local_shape\": [1], \"dtype\": \"c64\", \"per_device\": [[[1, 2]], [[0, " +
        std::string("0]], [[0, 0]], [") + std::string(elements) + "]]}}";
    return refusal(s.text());
  };
  const std::string at = "f:4:100: /arrays/a/per_device/3/0";
  const std::string no_pair =
      at + ": expected an element of c64, [real part, imaginary part], got ";
  CHECK(refused("3") == no_pair + "3");
  CHECK(refused("[3]") == no_pair + "a list of 1");
  CHECK(refused("[1, 2, 3]") == no_pair + "a list of 3");
  CHECK(refused("\"NaN\"") == no_pair + "\"NaN\"");
  CHECK(refused("[1, 1e39]") ==
        "f:4:104: /arrays/a/per_device/3/0/1: expected a value of f32, got "
        "1e39; it is beyond the range of f32 (infinity is written "
        "\"Infinity\")");
}

TEST_CASE("bad input: a number that an element cannot hold exactly") {
  Small s;
  s.arrays = R"({"a": {"shape": [8], "dtype": "s64", "spec": ["x"], "init": 9007199254740993}})";
  CHECK(refusal(s.text()) ==
        "f:4:71: /arrays/a/init: expected a whole number that a 64-bit float holds exactly, such "
        "as those up to 2^53, got 9007199254740993");
}

TEST_CASE("bad input: a fill that the dtype does not have") {
  const auto init = [](const std::string& dtype, const std::string& value) {
    Small s;
    s.arrays = R"({"a": {"shape": [8], "dtype": ")" + dtype + R"(", "spec": ["x"], "init": )" +
               value + "}}";
    const std::string message = refusal(s.text());
    return message.substr(std::min(message.find("expected"), message.size()));
  };
  CHECK(init("u8", "300") == "expected a value of u8, got 300");
  CHECK(init("s64", "9223372036854775808") == "expected a value of s64, got 9223372036854775808");
  CHECK(init("s32", "0.5") == "expected a value of s32, got 0.5");
  CHECK(init("s32", "\"NaN\"") == "expected a value of s32, got \"NaN\"");
  CHECK(init("u32", "-1") == "expected a value of u32, got -1");
  CHECK(init("pred", "2") == "expected a value of pred, got 2");
  CHECK(init("f16", "65520") == "expected a value of f16, got 65520");
  CHECK(init("f8e4m3fn", "\"Infinity\"") == "expected a value of f8e4m3fn, got \"Infinity\"");
  CHECK(init("f32", "1e-60") == "expected a value of f32, got 1e-60");
  CHECK(init("f32", "[1, 0]") ==
        "expected a value of f32, got [1, 0]; only c64 and c128 have two parts");
  CHECK(init("c64", "[0, 1e39]") ==
        "expected a value of c64, got [0, 1e39]; the imaginary part is beyond the range of f32");
  CHECK(init("c64", "[1e39, 0]") ==
        "expected a value of c64, got [1e39, 0]; the real part is beyond the range of f32");
  CHECK(init("c64", "[0]") == "expected a number or [real part, imaginary part], got a list of 1");
  CHECK(init("c64", "[0, null]") ==
        R"(expected a number, "Infinity", "-Infinity" or "NaN", got null)");
  CHECK(init("s8", R"({"random": 1, "values": "fractions"})") ==
        "expected \"integers\", the values that s8 has, got \"fractions\"");
}

TEST_CASE("bad input: a fill_value that the dtype does not have") {
  Small s;
  s.program = R"([{"id": "r", "op": "full", "shape": [2], "dtype": "u8", "fill_value": 256}])";
  CHECK(refusal(s.text()).find("full \"r\": expected a value of u8, got 256") != std::string::npos);
}

TEST_CASE("bad input: a fill_value that is no element of a complex dtype") {
  const auto filled = [](const std::string& dtype, const std::string& value) {
    Small s;
    s.program = R"([{"id": "r", "op": "full", "shape": [2], "dtype": ")" + dtype +
                R"(", "fill_value": )" + value + "}]";
    const std::string found = refusal(s.text());
    return found.substr(found.find("/program"));
  };
  const std::string at = "/program/0/fill_value";
  CHECK(filled("c64", "[1, 2, 3]") ==
        at + ": expected a number or [real part, imaginary part], got a list of 3");
  CHECK(filled("c64", "[]") ==
        at + ": expected a number or [real part, imaginary part], got a list of 0");
  CHECK(filled("c64", R"([1, "2"])") ==
        at + R"(/1: expected a number, "Infinity", "-Infinity" or "NaN", got "2")");
  CHECK(filled("c64", "[[1], 2]") ==
        at + R"(/0: expected a number, "Infinity", "-Infinity" or "NaN", got a list)");
  CHECK(filled("f32", "[1, 2]") == at + ": full \"r\": expected a value of f32, got [1,2]");
  CHECK(filled("c64", "[1, 1e39]") == at + ": full \"r\": expected a value of c64, got [1,1e+39]");
}

TEST_CASE("bad input: two names of one value are compared") {
  Small s;
  s.program = R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 2, "carry": {"h": "a"},
"yield": {"h": "n"}, "body": [{"id": "n", "op": "neg", "of": "h"}]}])";
  s.more = R"("expect": [{"equal": ["l", "l.h"]}])";
  CHECK(refusal(s.text()).find("expected another value: \"l.h\" and \"l\" name the same one") !=
        std::string::npos);
  // In a law, the number of iterations may be drawn. If it is 0, the comparison holds.
  s.program.replace(s.program.find("\"upper\": 2"), 10, "\"upper\": 0");
  s.more = R"("expect": [{"equal": ["l", "a"]}])";
  CHECK(read_scenario("f", s.text()).expectations.size() == 1);
}

TEST_CASE("bad input: 10^12 devices") {
  Small s;
  s.cluster = R"({"devices": 1000000000000, "topology": "ring", "bandwidth": "50 GB/s",
"latency": "1 us"})";
  CHECK(refusal(s.text()) ==
        "f:2:24: /cluster/devices: expected at most 1048576 devices, got 1000000000000 (--limit "
        "devices=N allows more)");
}

TEST_CASE("bad input: nesting too deep") {
  Small s;
  s.more = "\"name\": " + std::string(100'000, '[');
  std::string pointer = "/name";
  for (int i = 0; i < 62; ++i)
    pointer += "/0";
  // The scenario itself is level 1, so the 64th list is one too many. The first list is in column
  // 9.
  CHECK(refusal(s.text()) ==
        "f:6:72: " + pointer +
            ": expected at most 64 levels of nesting, got more (--limit nesting=N allows more)");
}

TEST_CASE("bad input: a truncated file") {
  const std::string text = Small{}.text();
  CHECK(refusal(text.substr(0, text.find("\"of\"") + 5)) ==
        "f:5:44: /program/0: expected a value, got the end of the file (the object begun at 5:13 "
        "is not closed)");
}

TEST_CASE("bad input: duplicate ids") {
  Small s;
  s.program = R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x"},
{"id": "r", "op": "psum", "of": "a", "axis_name": "x"}])";
  CHECK(refusal(s.text()) ==
        "f:6:8: /program/1/id: expected an unused id, got \"r\", which /program/0 (line 5) already "
        "names");
}

TEST_CASE("bad input: a shape whose product overflows") {
  Small s;
  s.arrays = R"({"a": {"shape": [4294967296, 4294967296], "dtype": "f32"}})";
  CHECK(refusal(s.text()) ==
        "f:4:27: /arrays/a/shape: expected an array of less than 2^63 bytes, got "
        "f32[4294967296,4294967296]");
}

TEST_CASE("bad input: a sequence that cannot be cut into chunks for its ranks") {
  const auto refused = [](const std::string& given) {
    Small s;
    s.arrays = R"({"a": {"shape": [2, 12], "dtype": "f32"}})";
    s.program = R"([{"id": "r", "op": "reorder_sequence", "of": "a", )" + given + "}]";
    return refusal(s.text());
  };
  CHECK(refused(R"("cp_size": 6)") == "");
  CHECK(refused(R"("cp_size": 0)") ==
        "f:5:73: /program/0/cp_size: reorder_sequence \"r\": expected at least 2, got 0");
  CHECK(refused(R"("cp_size": 3)") ==
        "f:5:73: /program/0/cp_size: reorder_sequence \"r\": expected an even number, got 3");
  CHECK(refused(R"("cp_size": 4)") ==
        "f:5:73: /program/0/cp_size: reorder_sequence \"r\": expected 2 x 4 to divide an extent of "
        "12 (dimension 1 of [2,12])");
  CHECK(refused(R"("cp_size": 2, "seq_dim": -1)") ==
        "f:5:87: /program/0/seq_dim: reorder_sequence \"r\": expected a dimension from 0 to 1, got "
        "-1");
  CHECK(refused(R"("cp_size": 2, "seq_dim": 2)") ==
        "f:5:87: /program/0/seq_dim: reorder_sequence \"r\": expected a dimension from 0 to 1, got "
        "2");
  CHECK(
      refused(R"("seq_dim": 1)") ==
      "f:5:13: /program/0: reorder_sequence \"r\": expected the parameter \"cp_size\", an integer");
}

TEST_CASE("bad input: all errors of a file at once, in its order") {
  Small s;
  s.version = "2";
  s.cluster = R"({"devices": 4, "topology": "rign", "bandwidth": "50 GB/s", "latency": 1})";
  s.arrays = R"({"a": {"shape": [8], "dtype": "f31", "spec": ["x"]}})";
  s.program = R"([{"id": "r", "op": "psun", "of": "a", "axis_name": "x"},
{"id": "q", "op": "psum", "of": "r", "axis_name": "x", "tiled": true}, 7])";
  s.more = R"("nane": "small")";
  CHECK(
      refusal(s.text()) ==
      "f:1:12: /orrery: expected version 1 of the format, got 2\n"
      "f:2:39: /cluster/topology: expected \"ring\", \"line\", \"fully_connected\", \"switch\", "
      "\"links\" or an object, got \"rign\"; did you mean \"ring\"?\n"
      "f:2:82: /cluster/latency: expected a time such as \"1 us\", got 1\n"
      "f:4:41: /arrays/a/dtype: expected a dtype (one of pred, s8, s16, s32, s64, u8, u16, u32, "
      "u64, f16, bf16, f32, f64, f8e4m3fn, f8e5m2, c64, c128), got \"f31\"; did you mean \"f32\"?\n"
      "f:5:31: /program/0/op: unknown op \"psun\"; did you mean \"psum\"?\n"
      "f:6:56: /program/1/tiled: unknown key \"tiled\"; expected one of \"id\", \"op\", \"of\", "
      "\"donate\", \"site\", \"axis_name\", \"axis_index_groups\", \"algorithm\", \"channels\", "
      "\"protocol\", \"stream\", \"slots\", \"entry\"\n"
      "f:6:72: /program/2: expected an op such as {\"id\": \"y\", \"op\": \"psum\", \"of\": "
      "\"x\"}, got 7\n"
      "f:7:1: /nane: unknown key \"nane\"; did you mean \"name\"?");
}

}  // namespace
}  // namespace orrery
