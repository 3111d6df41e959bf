// Tests a report that is kept, as a binding keeps one, after the scenario it was made from is gone.

#include <memory>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "models/scenario/reader.h"
#include "tests/tools/report/sample.h"
#include "tools/report/explain.h"
#include "tools/report/json.h"
#include "tools/report/text.h"
#include "tools/report/trace.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

constexpr const char* kKeptScenario = R"({
  "orrery": 1,
  "name": "kept",
  "cluster": {"devices": 2, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us"},
  "mesh": {"x": 2},
  "arrays": {"a": {"shape": [8], "dtype": "f32", "spec": ["x"], "init": "iota"}},
  "program": [{"id": "s", "op": "psum", "of": "a", "axis_name": "x"}],
  "outputs": ["s"]
})";

/// Returns everything that can be shown of a report.
std::string shown(const Report& report) {
  std::ostringstream text;
  const Explanation explanation = explain(report, "s");
  text << report_text(report, Style()) << explanation_text(report, explanation, Style())
       << json_text(report, {outputs(report), Encoding::Values, &explanation});
  write_trace(report, text);
  return text.str();
}

TEST_CASE("report: what is shown of it does not need the scenario that was run") {
  Report kept;
  std::string before;
  {
    Scenario scenario = read_scenario("kept.json", kKeptScenario);
    kept = run(scenario, {});
    before = shown(kept);
    scenario.program = Program();  // and what the report shows stays
  }
  CHECK(before.find("\"scenario\": \"kept\"") != std::string::npos);
  CHECK(shown(kept) == before);
}

TEST_CASE("report: of a scenario that is shared, it is the scenario's owner too") {
  auto scenario = std::make_shared<const Scenario>(read_scenario("kept.json", kKeptScenario));
  const Report report = run(scenario, {});
  CHECK(report.scenario == scenario);  // not a copy
  scenario.reset();
  CHECK(report.scenario->name == "kept");
}

}  // namespace
}  // namespace orrery::test
