// Tests what reports, explanations and traces say of an mpmd_map.

#include <map>
#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "models/base/diagnostics.h"
#include "models/scenario/document.h"
#include "models/scenario/reader.h"
#include "tests/verifier/core_maps.h"
#include "tools/report/difference.h"
#include "tools/report/explain.h"
#include "tools/report/json.h"
#include "tools/report/run_record.h"
#include "tools/report/text.h"
#include "tools/report/trace.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

using namespace cores;

Report report_of(const std::string& text) {
  return run(read_scenario("f", text), {});
}

TEST_CASE("cores: a slower device stretches the op, and its rows in the trace") {
  const std::string text = scenario(vector(1, 1, kRowToT + "," + kTToRow), kT, kCores,
                                    R"(, "faults": [{"slow_device": 0, "factor": 2}])");
  std::ostringstream trace;
  write_trace(report_of(text), trace);
  CHECK(trace.str().find("v (c=0, s=0)") != std::string::npos);
  // On device 0 the second copy ends with the op.
  CHECK(trace.str().find(R"("ts":6.000064,"dur":0.000064)") != std::string::npos);
}

TEST_CASE("cores: --explain shows the longest chain, and JSON has it") {
  const Report report = report_of(scenario(vector(1, 2, kRowToT + "," + kTToRow), kT));
  const std::string text = explanation_text(report, explain(report, "m"), Style());
  CHECK(text.find("inside, after a launch of 3 µs, the longest chain of body ops") !=
        std::string::npos);
  CHECK(text.find("copy at functions/0/body/1") != std::string::npos);
}

TEST_CASE("cores: a trace has a row for each instance, also for one that takes no time") {
  const std::string go = R"("go": {"semaphore": true})";
  const std::string waits = R"({"op": "wait", "sem": "go"}, )";
  std::ostringstream trace;
  write_trace(report_of(scenario(scalar(1, R"({"op": "signal", "sem": "go"})") + "," +
                                     vector(1, 1, waits + kRowToT + "," + kTToRow),
                                 kT + ", " + go)),
              trace);
  CHECK(trace.str().find(R"-("name":"z (c=0)")-") != std::string::npos);
  CHECK(trace.str().find(R"-("name":"v (c=0, s=0)")-") != std::string::npos);
}

TEST_CASE("cores: an explanation says whose times it shows, and has no table without body ops") {
  const auto text = [](const std::string& body, const std::string& more) {
    const Report report = report_of(scenario(vector(1, 1, body), kT, kCores, more));
    return explanation_text(report, explain(report, "m"), Style());
  };
  CHECK(text("", "").find("inside, a launch of 3 µs and no body ops\n") != std::string::npos);
  const std::string slow = R"(, "faults": [{"slow_device": 0, "factor": 2}])";
  CHECK(text(kRowToT, slow).find("body ops (on a device that is not slow):\n") !=
        std::string::npos);
}

TEST_CASE("cores: a difference of two runs tells what is held in a space") {
  const auto record = [](const std::string& more) {
    return record_of(report_of(scenario(vector(1, 1, kRowToT + "," + kTToRow), kT + more)));
  };
  const std::string more = R"(, "q": {"shape": [2], "dtype": "f32", "space": "vmem", "core": "v"})";
  const RunComparison comparison = compare(record(""), record(more));
  REQUIRE(comparison.findings.size() == 1);
  const Finding& finding = comparison.findings.front();
  CHECK(finding.aspect == Aspect::Space);
  CHECK(finding.first.at == "m");
  CHECK(finding.first.what == "vmem of a core of \"v\"");
  CHECK(finding.first.a == "32 B");
  CHECK(finding.first.b == "40 B");
}

TEST_CASE("cores: a saved report has what is held in spaces") {
  const Report report = report_of(scenario(vector(1, 1, kRowToT + "," + kTToRow), kT));
  Diagnostics diagnostics("saved");
  const std::string json = json_text(report, {});
  const Document document(json, diagnostics, {});
  const RunRecord saved = read_saved_report(document.root().value(), diagnostics);
  CHECK(saved.ops.at(0).spaces ==
        std::map<std::string, Bytes>{{"vmem of a core of \"v\"", Bytes(32)}});
}

}  // namespace
}  // namespace orrery::test
