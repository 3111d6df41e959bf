// Tests outputs with a "spec": the resulting types, and the errors.

#include <string>

#include <doctest/doctest.h>

#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::refusal;
using test::Small;

/// Returns a scenario on {x: 2, y: 2} whose output is "a", s32[2] on each device, with the type
/// `states`.
std::string with_output(const std::string& states, const std::string& output,
                        const std::string& check_types = "true") {
  Small small;
  small.mesh = R"({"x": 2, "y": 2})";
  small.arrays = R"({"a": {"dtype": "s32", "local_shape": [2], )" + states +
                 R"("per_device": [[1, 2], [1, 2], [1, 2], [1, 2]]}})";
  small.program = "[]";
  small.more = R"("check_types": )" + check_types + R"(, "outputs": [)" + output + "]";
  return small.text();
}

/// Returns the error of `output`, after its place.
std::string output_error(const std::string& states, const std::string& output) {
  const std::string message = refusal(with_output(states, output));
  const size_t place = message.find(": /outputs/0");
  return place == std::string::npos ? message : message.substr(place + 2);
}

TEST_CASE("boundary: a value that varies over the axes of its spec leaves") {
  CHECK(output_error(R"("varying": ["x"], )", R"({"id": "a", "spec": ["x"]})") == "");
  CHECK(output_error(R"("varying": ["x", "y"], )", R"({"id": "a", "spec": [["y", "x"]]})") == "");
}

TEST_CASE("boundary: an invarying value becomes varying, and a varying one unreduced") {
  CHECK(output_error(R"("varying": [], )", R"({"id": "a", "spec": ["x"]})") == "");
  CHECK(output_error(R"("varying": ["x"], )", R"({"id": "a", "spec": [], "unreduced": ["x"]})") ==
        "");
  CHECK(output_error(R"("varying": [], "unreduced": ["x"], )",
                     R"({"id": "a", "spec": ["y"], "unreduced": "x"})") == "");
  CHECK(output_error(R"("varying": [], "reduced": ["x"], )",
                     R"({"id": "a", "spec": [], "reduced": ["x"]})") == "");
}

TEST_CASE("boundary: other states are refused, with the op that repairs if there is one") {
  CHECK(output_error(R"("varying": ["x", "y"], )", R"({"id": "a", "spec": ["x"]})") ==
        "/outputs/0/spec: \"a\": expected an output that is invarying over y, got s32[2]{V:(x,y)}; "
        "with y in its spec it may vary, psum over y makes it invarying");
  CHECK(output_error(R"("varying": [], "unreduced": ["x"], )", R"({"id": "a", "spec": []})") ==
        "/outputs/0/spec: \"a\": expected an output that is invarying over x, got s32[2]{U:x}; "
        "psum over "
        "x makes it invarying");
  CHECK(output_error(R"("varying": [], "reduced": ["y"], )", R"({"id": "a", "spec": ["y"]})") ==
        "/outputs/0/spec: \"a\": expected an output that is varying or invarying over y, got "
        "s32[2]{R:y}; reduced_vary_cast over y makes it varying");
  CHECK(
      output_error(R"("varying": [], )", R"({"id": "a", "spec": [], "unreduced": ["x"]})") ==
      "/outputs/0/spec: \"a\": expected an output that is unreduced or varying over x, got s32[2]; "
      "pvary over x makes it varying");
  CHECK(output_error(R"("varying": ["x"], )", R"({"id": "a", "spec": []})") ==
        "/outputs/0/spec: \"a\": expected an output that is invarying over x, got s32[2]{V:x}; "
        "with x in its spec it may vary, psum over x makes it invarying");
  CHECK(output_error(R"("varying": [], "unreduced": ["x"], )", R"({"id": "a", "spec": ["x"]})") ==
        "/outputs/0/spec: \"a\": expected an output that is varying or invarying over x, got "
        "s32[2]{U:x}; "
        "psum over x makes it invarying");
  CHECK(output_error(R"("varying": [], "reduced": ["x"], )", R"({"id": "a", "spec": []})") ==
        "/outputs/0/spec: \"a\": expected an output that is invarying over x, got s32[2]{R:x}; "
        "\"reduced\": [\"x\"] beside its spec lets it be");
  CHECK(output_error(R"("varying": [], "reduced": ["x"], )",
                     R"({"id": "a", "spec": [], "unreduced": ["x"]})") ==
        "/outputs/0/spec: \"a\": expected an output that is unreduced or varying over x, got "
        "s32[2]{R:x}; "
        "reduced_vary_cast over x makes it varying");
  CHECK(output_error(R"("varying": ["x"], )", R"({"id": "a", "spec": [], "reduced": ["x"]})") ==
        "/outputs/0/spec: \"a\": expected an output that is reduced over x, got s32[2]{V:x}");
  CHECK(output_error(R"("varying": [], )", R"({"id": "a", "spec": [], "reduced": ["x"]})") ==
        "/outputs/0/spec: \"a\": expected an output that is reduced over x, got s32[2]; preduced "
        "over x "
        "makes it reduced");
}

TEST_CASE("boundary: without checked types any value leaves") {
  CHECK(refusal(with_output(R"("varying": ["x", "y"], )", R"({"id": "a", "spec": ["x"]})",
                            "false")) == "");
}

TEST_CASE("boundary: what is wrong in the entry itself") {
  const std::string states = R"("varying": ["x"], )";
  CHECK(output_error(states, R"({"id": "a", "spec": ["x", null, null]})") == "");
  CHECK(output_error(states, R"({"id": "a", "spec": ["x", "y"]})") ==
        "/outputs/0/spec: \"a\": expected at most one entry per dimension of [2], got 2");
  CHECK(output_error(states, R"({"id": "a"})") == "/outputs/0: missing key \"spec\"");
  CHECK(output_error(states, R"({"id": "b", "spec": []})") ==
        "/outputs/0/id: expected the id of an array or of an earlier op, got \"b\"");
  CHECK(output_error(states, R"({"id": "a", "spec": ["z"]})") ==
        "/outputs/0/spec/0: the mesh has no axis \"z\"; it has \"x\", \"y\"");
  CHECK(output_error(states, R"({"id": "a", "spec": ["x"], "unreduced": ["x"]})") ==
        "/outputs/0/unreduced: expected each axis in one place of the array's spec and states, "
        "got \"x\" again");
  CHECK(output_error(states, R"({"id": "a", "spec": ["x"], "spek": 1})") ==
        "/outputs/0/spek: unknown key \"spek\"; did you mean \"spec\"?");
  CHECK(output_error(states, "3") ==
        "/outputs/0: expected an id, or an object with \"id\" and \"spec\", got 3");
}

TEST_CASE("boundary: an output has one spec") {
  CHECK(refusal(with_output(R"("varying": ["x"], )",
                            R"({"id": "a", "spec": ["x"]}, {"id": "a", "spec": [["x"]]})"))
            .ends_with(
                "/outputs/1/spec: expected one spec for \"a\", of which a report has one whole "
                "array, got another"));
}

TEST_CASE("boundary: a whole array is of less than 2^63 bytes") {
  Small small;
  small.mesh = R"({"x": 4})";
  small.arrays = R"({"a": {"shape": [4611686018427387904], "dtype": "s8", "spec": []}})";
  small.program = "[]";
  small.more = R"("outputs": [{"id": "a", "spec": ["x"]}])";
  CHECK(refusal(small.text())
            .ends_with("/outputs/0/spec: \"a\": expected a whole array of less than 2^63 bytes, "
                       "got parts of "
                       "s8[4611686018427387904]"));
}

TEST_CASE("boundary: the value of one program is not on all devices") {
  Small small;
  small.mesh = R"({"x": 4})";
  small.arrays =
      R"({"a": {"local_shape": [1], "dtype": "s8", "per_device": [[1], [2]], "on": [0, 1]}})";
  small.program = "[]";
  small.more = R"("outputs": [{"id": "a", "spec": ["x"]}])";
  CHECK(refusal(small.text())
            .ends_with("/outputs/0/spec: \"a\": expected a value of all 4 devices, got one of 2"));
}

TEST_CASE("boundary: a value as a report prints it, with the whole array, is an expectation") {
  std::string text = with_output(R"("varying": ["x"], )", R"({"id": "a", "spec": ["x"]})");
  text.insert(text.rfind('}'), R"(, "expect": [{"values": {"a": {"dtype": "s32", "shape": [2],
    "global": {"dtype": "s32", "shape": [4], "elements": [1, 2, 1, 2]},
    "per_device": [[1, 2], [1, 2], [1, 2], [1, 2]]}}}])");
  CHECK(refusal(text) == "");
}

TEST_CASE("boundary: written as it is read") {
  const std::string output = R"({"id": "a", "spec": [["y", "x"]]})";
  const std::string text = with_output(R"("varying": ["x", "y"], )", output);
  CHECK(write_scenario(read_scenario("f", text)).find("\"outputs\": [" + output + "]") !=
        std::string::npos);
  const std::string unreduced = R"({"id": "a", "spec": [], "unreduced": ["x"]})";
  CHECK(write_scenario(read_scenario("f", with_output(R"("varying": ["x"], )", unreduced)))
            .find("\"outputs\": [" + unreduced + "]") != std::string::npos);
}

}  // namespace
}  // namespace orrery
