// Tests "varying", "unreduced" and "reduced" of an array: its type, its data, and the errors.

#include <string>

#include <doctest/doctest.h>

#include "models/array/text.h"
#include "models/scenario/reader.h"
#include "models/scenario/scenario.h"
#include "models/scenario/writer.h"
#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::refusal;
using test::Small;

/// Returns a scenario of no ops on {x: 2, y: 2}, whose array `a` has these members.
Small with_states(const std::string& members) {
  Small small;
  small.mesh = R"({"x": 2, "y": 2})";
  small.arrays = R"({"a": {"dtype": "s32", )" + members + "}}";
  small.program = "[]";
  return small;
}

Scenario read_with(const std::string& members) {
  return read_scenario("f", with_states(members).text());
}

std::string type_of(const std::string& members) {
  const Scenario scenario = read_with(members);
  return text(scenario.program.values[0].type, scenario.program.mesh);
}

/// Returns the elements of each device.
std::string data_of(const std::string& members) {
  const Scenario scenario = read_with(members);
  std::string all;
  for (size_t d = 0; d < scenario.program.mesh.devices(); ++d) {
    const Tensor tensor = initial_value(scenario, scenario.arrays[0], LogicalId(d), 0);
    for (int64_t i = 0; i < tensor.elements(); ++i)
      all += element_text(tensor, i) + (i + 1 < tensor.elements() ? "," : " ");
  }
  return all;
}

std::string error_with_states(const std::string& members) {
  return refusal(with_states(members).text());
}

TEST_CASE("array states: given per device, all axes vary that nothing is said of") {
  const std::string data = R"("local_shape": [1], "per_device": [[1], [1], [2], [2]])";
  CHECK(type_of(data) == "s32[1]{V:(x,y)}");
  CHECK(type_of(data + R"(, "varying": ["x"])") == "s32[1]{V:x}");
  CHECK(type_of(data + R"(, "varying": "x", "reduced": ["y"])") == "s32[1]{V:x, R:y}");
  CHECK(type_of(data + R"(, "unreduced": ["x"])") == "s32[1]{V:y, U:x}");
  CHECK(type_of(data + R"(, "varying": [], "unreduced": ["x"])") == "s32[1]{U:x}");
}

TEST_CASE("array states: given whole, it varies along the axes of its spec") {
  CHECK(type_of(R"("shape": [4], "spec": ["x"], "unreduced": ["y"])") == "s32[2]{V:x, U:y}");
  CHECK(type_of(R"("shape": [4], "reduced": ["x", "y"])") == "s32[4]{R:(x,y)}");
}

TEST_CASE("array states: of the addends of an array given whole, the first is its value") {
  CHECK(data_of(R"("shape": [2], "init": "iota", "unreduced": ["x"])") == "0,1 0,1 0,0 0,0 ");
  CHECK(data_of(R"("shape": [2], "init": 7, "unreduced": ["x", "y"])") == "7,7 0,0 0,0 0,0 ");
  CHECK(data_of(R"("shape": [2], "spec": ["y"], "init": "iota", "unreduced": ["x"])") ==
        "0 1 0 0 ");
  CHECK(data_of(R"("shape": [2], "init": "iota", "reduced": ["x"])") == "0,1 0,1 0,1 0,1 ");
}

TEST_CASE("array states: copies along an axis over which it does not vary are equal") {
  CHECK(error_with_states(
            R"("local_shape": [1], "per_device": [[1], [1], [2], [2]], "varying": ["y"])")
            .ends_with(
                "/arrays/a/per_device: expected the same elements on devices 0 and 2, which "
                "differ only along axes over which the array does not vary, got 1 and 2 in element "
                "0"));
}

TEST_CASE("array states: each axis in one place") {
  CHECK(
      error_with_states(R"("shape": [4], "spec": ["x"], "unreduced": ["x"])")
          .ends_with("/arrays/a/unreduced: expected each axis in one place of the array's spec and "
                     "states, got \"x\" again"));
  CHECK(error_with_states(R"("shape": [4], "unreduced": ["x"], "reduced": ["x"])")
            .ends_with("/arrays/a/reduced: expected each axis in one place of the array's spec and "
                       "states, got \"x\" again"));
  const std::string given = R"("local_shape": [1], "per_device": [[1], [1], [1], [1]], )";
  for (const char* const state : {"unreduced", "reduced"})
    CHECK(error_with_states(given + R"("varying": ["x", "y"], ")" + state + R"(": ["y"])")
              .ends_with(std::string("/arrays/a/") + state +
                         ": expected each axis in one place of the array's spec and states, got "
                         "\"y\" again"));
  CHECK(error_with_states(given + R"("varying": ["x", "x"])")
            .ends_with("/arrays/a/varying: expected each axis in one place of the array's spec and "
                       "states, got \"x\" again"));
  CHECK(error_with_states(given + R"("varying": ["z"])")
            .ends_with("/arrays/a/varying: expected an axis of the mesh (x, y), got \"z\""));
  CHECK(error_with_states(R"("shape": [4], "spec": ["x"], "reduced": ["x"])")
            .ends_with("/arrays/a/reduced: expected each axis in one place of the array's spec and "
                       "states, got \"x\" again"));
  CHECK(error_with_states(R"("shape": [4], "unreduced": [1])")
            .ends_with("/arrays/a/unreduced/0: expected an axis name, got 1"));
  CHECK(error_with_states(R"("shape": [4], "reduced": ["z"])")
            .ends_with("/arrays/a/reduced: expected an axis of the mesh (x, y), got \"z\""));
  CHECK(
      error_with_states(R"("shape": [4], "varying": ["x"])")
          .ends_with("/arrays/a/varying: expected no \"varying\" with \"shape\": the array varies "
                     "over the axes of its \"spec\""));
}

TEST_CASE("array states: a file with states is checked for them, and written as it was read") {
  const std::string members =
      R"("local_shape": [1], "varying": ["x"], "reduced": ["y"], "per_device": [[1], [1], [2], [2]])";
  const Scenario scenario = read_with(members);
  CHECK(scenario.checks == Checks::States);
  const Scenario again = read_scenario("f", write_scenario(scenario));
  CHECK(again.program.values[0].type == scenario.program.values[0].type);
  CHECK(write_scenario(again) == write_scenario(scenario));
}

}  // namespace
}  // namespace orrery
