// Tests what reports, explanations and traces say of an mpmd_map.

#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "models/scenario/reader.h"
#include "tests/verifier/core_maps.h"
#include "tools/report/explain.h"
#include "tools/report/json.h"
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

}  // namespace
}  // namespace orrery::test
