// Tests arrays on some of the devices: all forms of "on", the keys that it goes with, and the data
// of each device.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/text.h"
#include "models/scenario/scenario.h"
#include "models/scenario/writer.h"
#include "tests/models/scenario/same.h"
#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::refusal;
using test::Small;

/// Returns a scenario of no ops on {y: 2, x: 2}: device d is at (d / 2, d % 2).
Small with_array_on(const std::string& array) {
  Small small;
  small.mesh = R"({"y": 2, "x": 2})";
  small.arrays = R"({"a": )" + array + "}";
  small.program = "[]";
  return small;
}

std::vector<uint32_t> devices_of(const Scenario& scenario) {
  std::vector<uint32_t> ids;
  for (const LogicalId device : scenario.arrays.at(0).on.value())
    ids.push_back(device.index());
  return ids;
}

Scenario read_on(const std::string& array) {
  return read_scenario("f", with_array_on(array).text());
}

TEST_CASE("array on devices: a place, an interval, a list") {
  using Ids = std::vector<uint32_t>;
  const auto on = [](const std::string& devices) {
    return devices_of(read_on(R"({"shape": [4], "dtype": "f32", "on": )" + devices + "}"));
  };
  CHECK(on(R"({"y": 1})") == Ids{2, 3});
  CHECK(on(R"({"y": [0, 1], "x": 1})") == Ids{1});
  CHECK(on("[3, 0]") == Ids{0, 3});
}

TEST_CASE("array on devices: naming all devices is the same as naming none") {
  CHECK_FALSE(read_on(R"({"shape": [4], "dtype": "f32", "on": {}})").arrays[0].on.has_value());
  CHECK_FALSE(read_on(R"({"shape": [4], "dtype": "f32"})").program.arguments[0].on.has_value());
}

TEST_CASE("array on devices: its lists are by ascending device id") {
  const Scenario scenario = read_on(
      R"({"local_shape": [2], "dtype": "s32", "on": [3, 1], "per_device": [[1, 2], [3, 4]]})");
  const auto first = [&](uint32_t device) {
    return element_text(initial_value(scenario, scenario.arrays[0], LogicalId(device), 0), 0);
  };
  CHECK(first(1) == "1");
  CHECK(first(3) == "3");
}

TEST_CASE("array on devices: the spec cuts it over the axes that the devices span") {
  // Over x, each device of the upper row has one half.
  const Scenario scenario =
      read_on(R"({"shape": [4], "dtype": "s32", "on": {"y": 1}, "spec": ["x"], "init": "iota"})");
  CHECK(scenario.program.values[0].type.shape == Shape{2});
  const Tensor part = initial_value(scenario, scenario.arrays[0], LogicalId(3), 0);
  CHECK(element_text(part, 0) == "2");
}

TEST_CASE("array on devices: written and read again it is the same") {
  for (const char* array :
       {R"({"shape": [4], "dtype": "s32", "on": {"y": 1}, "spec": ["x"], "init": "iota"})",
        R"({"local_shape": [1], "dtype": "s32", "on": [0, 3], "per_device": [[1], [2]]})"}) {
    CAPTURE(array);
    const Scenario scenario = read_on(array);
    const std::string text = write_scenario(scenario);
    const Scenario again = read_scenario("f", text);
    CHECK(test::difference(scenario, again) == "");
    CHECK(write_scenario(again) == text);
    CHECK(again.arrays[0].on.has_value());
  }
}

TEST_CASE("array on devices: keys that contradict each other are refused") {
  struct Row {
    std::string array;
    std::string error;
  };
  for (const Row& row : std::vector<Row>{
           {R"({"shape": [4], "dtype": "f32", "on": []})",
            "f:4:54: /arrays/a/on: expected a device for the array, got none"},
           {R"({"shape": [4], "dtype": "f32", "on": [4]})",
            "f:4:55: /arrays/a/on/0: expected a device from 0 to 3, got 4"},
           {R"({"shape": [4], "dtype": "f32", "on": [1, 1]})",
            "f:4:58: /arrays/a/on/1: device 1 is named twice"},
           {R"({"shape": [4], "dtype": "f32", "on": {"z": 1}})",
            "f:4:55: /arrays/a/on/z: unknown key \"z\"; expected one of \"y\", \"x\""},
           {R"({"shape": [4], "dtype": "f32", "on": {"x": [1, 1]}})",
            "f:4:60: /arrays/a/on/x: expected an interval such as [0, 2], without its end"},
           {R"({"shape": [4], "dtype": "f32", "on": 1})",
            "f:4:54: /arrays/a/on: expected an object with a place or an interval per axis, or a "
            "list of devices, got 1"},
           {R"({"shape": [4], "dtype": "f32", "on": {"y": 1}, "spec": ["y"]})",
            "f:4:73: /arrays/a/spec/0: expected an axis that the array's devices span whole, got "
            "\"y\": device 2 has the array, device 0 does not"},
           {R"({"shape": [4], "dtype": "f32", "on": [0, 1, 2], "spec": ["x"]})",
            "f:4:74: /arrays/a/spec/0: expected an axis that the array's devices span whole, got "
            "\"x\": device 2 has the array, device 3 does not"},
           {R"({"local_shape": [1], "dtype": "s8", "on": [1, 3], "per_device": [[1]]})",
            "f:4:81: /arrays/a/per_device: expected 2 lists, one per device, got 1"}}) {
    CAPTURE(row.array);
    CHECK(refusal(with_array_on(row.array).text()) == row.error);
  }
}

}  // namespace
}  // namespace orrery
