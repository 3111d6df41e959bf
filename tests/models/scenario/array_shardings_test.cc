// Tests how a scenario says how an array is cut: "corrected" beside its spec, an HLO text in place
// of it, and a spec beside the parts of each device; and the errors.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/mesh/hlo_sharding.h"
#include "models/scenario/reader.h"
#include "models/scenario/scenario.h"
#include "models/scenario/writer.h"
#include "tests/models/scenario/same.h"
#include "tests/models/scenario/support.h"
#include "tests/support/property.h"

namespace orrery {
namespace {

using test::refusal;
using test::Small;

/// Returns a scenario of no ops on {x: 2, y: 2}, whose array `a` has these members.
std::string with_members(const std::string& members, const std::string& more = R"("name": "n")") {
  Small small;
  small.mesh = R"({"x": 2, "y": 2})";
  small.arrays = R"({"a": {"dtype": "s32", )" + members + "}}";
  small.program = "[]";
  small.more = more;
  return small.text();
}

/// Returns the array after a round trip through its text, which changes nothing.
Array array_of(const std::string& members, const std::string& more = R"("name": "n")") {
  const Scenario scenario = read_scenario("f", with_members(members, more));
  const Scenario again = read_scenario("f", write_scenario(scenario));
  CHECK(test::difference(scenario, again) == "");
  CHECK(write_scenario(again) == write_scenario(scenario));
  return again.arrays[0];
}

std::string type_of_cut(const std::string& members) {
  const Scenario scenario = read_scenario("f", with_members(members));
  return text(scenario.program.values[0].type, scenario.program.mesh);
}

/// Returns the error from the array's key on.
std::string cut_error(const std::string& members, const std::string& more = R"("name": "n")") {
  const std::string message = refusal(with_members(members, more));
  const size_t place = message.find("/arrays/a");
  return place == std::string::npos ? message : message.substr(place + 9);
}

TEST_CASE("corrected: what does not fit is not cut, and the spec that was asked for is kept") {
  const Array array =
      array_of(R"("shape": [4, 3, 8], "spec": ["x", "y", ["z", "y"]], "corrected": true)");
  CHECK(array.spec == PartitionSpec{{{"x"}}});
  CHECK(array.uncorrected == PartitionSpec{{{"x"}, {"y"}, {"z", "y"}}});
  CHECK(array_of(R"("shape": [4], "spec": ["x", null], "corrected": true)").uncorrected ==
        PartitionSpec{{{"x"}}});
  CHECK(array_of(R"("shape": [3], "spec": ["x"], "corrected": true)").spec == PartitionSpec());
  // An axis may cut again what it does not cut first.
  CHECK(array_of(R"("shape": [3, 4], "spec": ["x", "x"], "corrected": true)").spec ==
        PartitionSpec{{{}, {"x"}}});
}

TEST_CASE("corrected: false is as if it were absent") {
  CHECK(array_of(R"("shape": [4], "spec": ["x"], "corrected": false)").uncorrected == std::nullopt);
  CHECK(array_of(R"("shape": [4], "corrected": false)").spec == PartitionSpec());
  CHECK(array_of(R"("shape": [4], "hlo": "{devices=[4]<=[4]}", "corrected": false)").spec ==
        PartitionSpec{{{"x", "y"}}});
}

TEST_CASE("corrected: its errors") {
  CHECK(cut_error(R"("shape": [4, 4], "spec": ["x", ["y", "x"]], "corrected": true)") ==
        "/spec/1/1: axis \"x\" already cuts this array");
  CHECK(cut_error(R"("shape": [4], "corrected": true)") ==
        "/corrected: expected \"spec\" too, which is corrected");
  CHECK(cut_error(R"("shape": [4], "hlo": "{replicated}", "corrected": true)") ==
        "/corrected: expected \"spec\" too, which is corrected");
  // Entries that do not cut are checked too.
  for (const std::string set : {"unreduced", "reduced"})
    CHECK(cut_error(R"("shape": [3], "spec": ["x"], "corrected": true, ")" + set + R"(": ["x"])") ==
          "/" + set +
              ": expected each axis in one place of the array's spec and states, got \"x\" again");
  CHECK(cut_error(R"("shape": [4], "spec": [null, "y"], "corrected": true, "unreduced": ["y"])") ==
        "/unreduced: expected each axis in one place of the array's spec and states, got \"y\" "
        "again");
  CHECK(cut_error(R"("shape": [4], "corrected": 1)") ==
        "/corrected: expected true or false, got 1");
  CHECK(cut_error(R"("shape": [4], "spec": ["x"], "corrected": 1)") ==
        "/corrected: expected true or false, got 1");
  CHECK(cut_error(R"("shape": [4], "spec": [1], "corrected": true)") ==
        "/spec/0: expected null, an axis name or a list of them, got 1");
  CHECK(cut_error(R"("shape": [4], "spec": ["x"], "corrected": true, "on": {"x": 0})") ==
        "/spec/0: expected an axis that the array's devices span whole, got \"x\": device 0 has "
        "the array, device 2 does not");
  // Parts fit any spec.
  CHECK(cut_error(R"("local_shape": [1], "spec": ["x"], "corrected": true,
"per_device": [[1], [1], [2], [2]])")
            .starts_with("/corrected: unknown key \"corrected\""));
}

TEST_CASE("spec: a dimension is not left to a compiler") {
  const std::string error =
      "expected an axis of type Auto in the mesh where a dimension is UNCONSTRAINED; the axes of a "
      "scenario's mesh are Manual";
  CHECK(refusal(with_members(R"("shape": [4, 4], "spec": ["x", "UNCONSTRAINED"])")) ==
        "f:4:65: /arrays/a/spec/1: " + error);
  CHECK(cut_error(R"("shape": [4], "spec": ["UNCONSTRAINED"], "corrected": true)") ==
        "/spec/0: " + error);
  CHECK(refusal(with_members(R"("shape": [4])",
                             R"("outputs": [{"id": "a", "spec": ["UNCONSTRAINED"]}])")) ==
        "f:6:34: /outputs/0/spec/0: " + error);
  CHECK(cut_error(R"("shape": [4], "spec": [["UNCONSTRAINED"]])") == "/spec/0/0: " + error);
  CHECK(cut_error(R"("shape": [4], "spec": [["UNCONSTRAINED"]], "corrected": true)") ==
        "/spec/0/0: " + error);
  CHECK(cut_error(R"("shape": [4], "spec": [["x", "UNCONSTRAINED"]])") ==
        "/spec/0/1: the mesh has no axis \"UNCONSTRAINED\"; it has \"x\", \"y\"");
}

TEST_CASE("hlo: an array cut by an HLO text is the array cut by the spec of the text") {
  const Mesh mesh({{"x", 2}, {"y", 2}});
  test::holds_for_all("HLO", [&] {
    // Each axis cuts a dimension, has addends, or copies.
    AxisCut cut;
    cut.dims.resize(2);
    PartitionSpec spec{{{}, {}}};
    std::string unreduced;
    for (size_t axis = 0; axis < 2; ++axis) {
      const std::string& name = mesh.axes()[axis].name;
      const auto place = test::in_range<size_t>(0, 4);
      if (place < 2) {
        cut.dims[place].push_back(axis);
        spec.dims[place].push_back(name);
      } else if (place == 2) {
        cut.unreduced.push_back(axis);
        unreduced += (unreduced.empty() ? "\"" : ", \"") + name + "\"";
      }
    }
    const auto entry = [&](size_t d) {
      std::string names;
      for (const std::string& name : spec.dims[d])
        names += (names.empty() ? "\"" : ", \"") + name + "\"";
      return "[" + names + "]";
    };
    const Scenario by_spec = read_scenario(
        "f", with_members("\"shape\": [4, 8], \"init\": \"iota\", \"spec\": [" + entry(0) + ", " +
                          entry(1) + "], \"unreduced\": [" + unreduced + "]"));
    const HloSharding hlo(mesh, cut);
    for (const std::string& text : {hlo.text(), hlo.text_v1()}) {
      const Scenario by_hlo = read_scenario(
          "f", with_members("\"shape\": [4, 8], \"init\": \"iota\", \"hlo\": \"" + text + "\""));
      RC_ASSERT(test::difference(by_hlo, by_spec) == "");
      RC_ASSERT(write_scenario(by_hlo) == write_scenario(by_spec));
      for (uint32_t d = 0; d < mesh.devices(); ++d)
        RC_ASSERT(initial_value(by_hlo, by_hlo.arrays[0], LogicalId(d), 0) ==
                  initial_value(by_spec, by_spec.arrays[0], LogicalId(d), 0));
    }
  });
}

TEST_CASE("hlo: its errors") {
  CHECK(refusal(with_members(R"("shape": [4], "hlo": "{devices=2<=[4]}")")) ==
        "f:4:55: /arrays/a/hlo: column 10: expected \"[\", got \"2\"");
  CHECK(cut_error(R"("shape": [4], "hlo": 4)") ==
        "/hlo: expected an HLO sharding such as \"{devices=[4,1]<=[4]}\", got 4");
  CHECK(cut_error(R"("shape": [4], "hlo": "{devices=[2]<=[2]}")") ==
        "/hlo: expected a sharding of 4 devices, got \"{devices=[2]<=[2]}\" of 2");
  CHECK(cut_error(R"("shape": [4, 4], "hlo": "{devices=[4]<=[4]}")") ==
        "/hlo: expected a sharding of arrays of rank 2, got one of rank 1");
  CHECK(cut_error(R"("shape": [6], "hlo": "{devices=[4]<=[4]}")") ==
        "/hlo: expected dimension 0 of extent 6 to be divisible by 4, the size of \"x\", \"y\"");
  CHECK(cut_error(R"("shape": [4], "spec": ["x"], "hlo": "{replicated}")") ==
        "/hlo: expected \"spec\" or \"hlo\", got both");
  CHECK(cut_error(R"("shape": [4], "hlo": "{unreduced}", "unreduced": ["y"])") ==
        "/unreduced: expected each axis in one place of the array's spec and states, got \"y\" "
        "again");
  CHECK(cut_error(R"("shape": [4], "hlo": "{devices=[2,2]<=[4] last_tile_dim_replicate}",
"on": {"x": 1})") ==
        "/hlo: expected an axis that the array's devices span whole, got \"x\": device 2 has the "
        "array, device 0 does not");
  CHECK(cut_error(R"("shape": [4], "hlo": "{unreduced}", "on": {"y": 0})") ==
        "/hlo: expected an axis that the array's devices span whole, got \"y\": device 0 has the "
        "array, device 1 does not");
}

TEST_CASE("parts of a whole array: it varies over the axes of its spec, and others copy it") {
  const std::string parts = R"("local_shape": [1], "per_device": [[1], [2], [1], [2]], )";
  CHECK(type_of_cut(parts + R"("spec": ["y"])") == "s32[1]{V:y}");
  CHECK(type_of_cut(parts + R"("spec": ["y"], "reduced": ["x"])") == "s32[1]{V:y, R:x}");
  CHECK(type_of_cut(parts + R"("spec": [], "unreduced": ["x", "y"])") == "s32[1]{U:(x,y)}");
  CHECK(type_of_cut(parts + R"("hlo": "{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}")") ==
        "s32[1]{V:y}");
  const Array array = array_of(parts + R"("spec": ["y"])");
  CHECK(array.joined);
  CHECK(array.spec == PartitionSpec{{{"y"}}});
  CHECK(array.global == Shape{1});
  CHECK(array_of(R"("local_shape": [1], "spec": [], "per_device": [[1], [1], [1], [1]])").joined);
  CHECK_FALSE(array_of(R"("local_shape": [1], "per_device": [[1], [1], [1], [1]])").joined);
  // Any axes divide a whole array that is made of parts.
  CHECK(array_of(R"("local_shape": [3], "spec": [["y", "x"]], "on": [0, 1, 2, 3],
"per_device": [[1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 2, 3]])")
            .spec == PartitionSpec{{{"y", "x"}}});
}

TEST_CASE("parts of a whole array: copies are equal where types are checked, as they are then") {
  const std::string unequal =
      R"("local_shape": [2], "spec": ["y"], "per_device": [[1, 2], [3, 4], [1, 2], [3, 5]])";
  const std::string error =
      "/arrays/a/per_device: expected the same elements on devices 1 and 3, which differ only "
      "along axes over which the array does not vary, got 4 and 5 in element 1";
  CHECK(refusal(with_members(unequal)) == "f:4:83: " + error);
  CHECK(refusal(with_members(unequal, R"("check_types": true)")) == "f:4:83: " + error);
  CHECK(array_of(unequal, R"("check_types": false)").joined);
  Small nans;
  nans.arrays = R"({"a": {"local_shape": [1], "dtype": "f32", "encoding": "bits", "spec": [],
"per_device": [[2143289344], [2143289345], [2143289344], [2143289344]]}})";
  CHECK(refusal(nans.text())
            .ends_with(", got NaN (bits 2143289344) and NaN (bits 2143289345) in element 0"));
  CHECK(read_scenario("f", with_members(R"("local_shape": [1], "spec": [["x", "y"]],
"per_device": [[1], [2], [3], [4]])"))
            .checks == Checks::States);
}

TEST_CASE("parts of a whole array: their errors") {
  const std::string parts = R"("local_shape": [1], "per_device": [[1], [2], [1], [2]], )";
  CHECK(cut_error(parts + R"("spec": ["y"], "varying": ["y"])") ==
        "/varying: expected no \"varying\" with \"spec\": the array varies over the axes of its "
        "\"spec\"");
  CHECK(cut_error(parts + R"("hlo": "{unreduced}", "varying": [])") ==
        "/varying: expected no \"varying\" with \"hlo\": the array varies over the axes of its "
        "\"hlo\"");
  CHECK(cut_error(parts + R"("spec": ["y", null])") ==
        "/spec: expected at most one entry per dimension of [1], got 2");
  CHECK(cut_error(parts + R"("spec": ["z"])") ==
        "/spec/0: the mesh has no axis \"z\"; it has \"x\", \"y\"");
  CHECK(cut_error(parts + R"("spec": ["x"], "reduced": ["x"])") ==
        "/reduced: expected each axis in one place of the array's spec and states, got \"x\" "
        "again");
  CHECK(cut_error(R"("local_shape": [1], "spec": ["x"], "on": [0, 1], "per_device": [[1], [2]])") ==
        "/spec/0: expected an axis that the array's devices span whole, got \"x\": device 0 has "
        "the array, device 2 does not");
  // Each device has one addend.
  CHECK(refusal(with_members(R"("local_shape": [1], "spec": ["y"], "unreduced": ["x"],
"on": [0, 1], "per_device": [[1], [2]])")) ==
        "f:4:82: /arrays/a/unreduced: expected an axis that the array's devices span whole, got "
        "\"x\": device 0 has the array, device 2 does not");
  CHECK(cut_error(R"("local_shape": [1], "on": [0, 1], "per_device": [[1], [2]],
"hlo": "{devices=[2,2]<=[2,2]T(1,0) last_tile_dims={unreduced}}")") ==
        "/hlo: expected an axis that the array's devices span whole, got \"x\": device 0 has the "
        "array, device 2 does not");
  CHECK(cut_error(R"("local_shape": [1152921504606846976], "spec": ["x"], "per_device": [])")
            .starts_with("/spec: expected a whole array of less than 2^63 bytes, got parts of "
                         "s32[1152921504606846976]"));
}

}  // namespace
}  // namespace orrery
