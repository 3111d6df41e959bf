// Tests the whole array of an output, assembled from the devices' parts.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/text.h"
#include "tests/verifier/scenario_rig.h"
#include "verifier/report.h"

namespace orrery {
namespace {

/// Returns the shape and elements of the output "r" on {x: 2, y: 3}, where device d has -10 d and
/// -10 d - 1.
std::string whole_of(const std::string& output, const std::string& shape = "[1, 2]") {
  test::ScenarioParts parts;
  parts.devices = 6;
  parts.mesh = R"({"x": 2, "y": 3})";
  parts.checked = false;
  parts.arrays = R"({"a": {"local_shape": )" + shape +
                 R"(, "dtype": "s32", "per_device": [[0, 1], [10, 11], [20, 21], [30, 31], )"
                 R"([40, 41], [50, 51]]}})";
  parts.program = R"([{"id": "r", "op": "neg", "of": "a"}])";
  parts.outputs = R"([{"id": "r", )" + output + "}]";
  const test::Ran ran = test::run_parts(parts);
  const Scenario& scenario = *ran.report.scenario;
  const Tensor whole = assembled(scenario, scenario.boundaries.at(0), *ran.report.values).value();
  std::string text = whole.shape().text() + ":";
  for (int64_t i = 0; i < whole.elements(); ++i)
    text += " " + element_text(whole, i);
  return text;
}

TEST_CASE("assembled: parts lie along the dimensions that their axes cut") {
  CHECK(whole_of(R"("spec": ["y"])") == "[3,2]: 0 -1 -10 -11 -20 -21");
  CHECK(whole_of(R"("spec": [null, "y"])") == "[1,6]: 0 -1 -10 -11 -20 -21");
  CHECK(whole_of(R"("spec": ["x", "y"])") == "[2,6]: 0 -1 -10 -11 -20 -21 -30 -31 -40 -41 -50 -51");
  CHECK(whole_of(R"("spec": ["y", "x"])") == "[3,4]: 0 -1 -30 -31 -10 -11 -40 -41 -20 -21 -50 -51");
}

TEST_CASE("assembled: of two axes on a dimension the first is the major one") {
  CHECK(whole_of(R"("spec": [["y", "x"]])", "[2]") ==
        "[12]: 0 -1 -30 -31 -10 -11 -40 -41 -20 -21 -50 -51");
}

TEST_CASE("assembled: without a spec it is the first device's") {
  CHECK(whole_of(R"("spec": [])") == "[1,2]: 0 -1");
}

TEST_CASE("assembled: along unreduced axes the copies are added") {
  CHECK(whole_of(R"("spec": [], "unreduced": ["y"])") == "[1,2]: -30 -33");
  CHECK(whole_of(R"("spec": ["y"], "unreduced": ["x"])") == "[3,2]: -30 -32 -50 -52 -70 -72");
}

TEST_CASE("assembled: a sum of pred is counted") {
  test::ScenarioParts parts;
  parts.checked = false;
  parts.arrays = R"({"a": {"local_shape": [2], "dtype": "pred", "per_device": )"
                 R"([[true, false], [true, false], [true, true], [false, false]]}})";
  parts.program = "[]";
  parts.outputs = R"([{"id": "a", "spec": [], "unreduced": ["x"]}])";
  const test::Ran ran = test::run_parts(parts);
  const Scenario& scenario = *ran.report.scenario;
  const Tensor whole = assembled(scenario, scenario.boundaries.at(0), *ran.report.values).value();
  CHECK(whole.dtype() == Dtype::S32);
  CHECK(element_text(whole, 0) == "3");
  CHECK(element_text(whole, 1) == "1");
}

TEST_CASE("assembled: of a scalar") {
  test::ScenarioParts parts;
  parts.arrays = R"({"a": {"shape": [], "dtype": "s32", "init": 7}})";
  parts.program = "[]";
  parts.outputs = R"([{"id": "a", "spec": []}])";
  const test::Ran ran = test::run_parts(parts);
  const Scenario& scenario = *ran.report.scenario;
  const Tensor whole = assembled(scenario, scenario.boundaries.at(0), *ran.report.values).value();
  CHECK(whole.shape() == Shape({}));
  CHECK(element_text(whole, 0) == "7");
}

}  // namespace
}  // namespace orrery
