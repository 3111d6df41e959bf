// Tests the memory of each device: with several programs, with none, and with loops that leak.

#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/scenario/reader.h"
#include "tests/verifier/scenario_rig.h"
#include "verifier/stages.h"

namespace orrery {
namespace {

TEST_CASE("time and memory for planners: those of the report, per device") {
  test::ScenarioParts parts;
  parts.threads = true;
  parts.devices = 3;
  parts.mesh = R"({"x": 3})";
  parts.arrays = R"({"a": {"shape": [16], "dtype": "f32", "init": "ones"}})";
  // Device 1 runs both lists, and device 2 runs none.
  parts.program = R"([{"on": [0, 1], "do": [{"id": "b", "op": "add", "of": ["a", "a"]}]},
{"on": [1], "do": [{"id": "c", "op": "mul", "of": ["a", "a"]}]}])";
  const Report report = test::run_parts(parts).report;
  const Scenario& scenario = *report.scenario;
  Diagnostics diagnostics("planned");
  StageOptions options;
  options.memory = scenario.memory;
  const TimeAndMemory planned =
      time_and_memory(scenario.program, scenario.cluster, diagnostics, options);
  REQUIRE(diagnostics.empty());
  CHECK(planned.makespan == report.completion->makespan - Instant());
  REQUIRE(planned.peaks.size() == 3);
  CHECK(planned.peaks[0] == report.memory.of(LogicalId(0)).peak);
  CHECK(planned.peaks[1] == report.memory.of(LogicalId(1)).peak);
  CHECK(planned.peaks[1] > planned.peaks[0]);
  CHECK(planned.peaks[2] == Bytes());
}

/// Returns the label that says which programs have no result among the outputs, or "".
std::string label_of_outputs(const std::string& outputs, bool has_second) {
  test::ScenarioParts parts;
  parts.threads = true;
  parts.program =
      R"([{"name": "P", "on": [0], "do": [{"id": "b", "op": "add", "of": ["a", "a"]}]})" +
      std::string(has_second
                      ? R"(, {"name": "Q", "on": [1], "do": [{"id": "c", "op": "neg", "of": "a"}]})"
                      : "") +
      "]";
  parts.outputs = outputs;
  for (const std::string& label : test::run_parts(parts).report.labels)
    if (label.starts_with("outputs: "))
      return label;
  return "";
}

TEST_CASE("memory: the report says whose results are freed since they are no outputs") {
  const std::string freed = "; results are freed after their last use";
  CHECK(label_of_outputs("[]", false) == "outputs: none is named" + freed);
  CHECK(label_of_outputs(R"(["a"])", false) == "outputs: only arguments are named" + freed);
  CHECK(label_of_outputs(R"(["b"])", false) == "");
  CHECK(label_of_outputs(R"(["b"])", true) == "outputs: none of program \"Q\"" + freed);
  CHECK(label_of_outputs(R"(["b", "c"])", true) == "");
}

TEST_CASE("memory: an array on a device without a program counts there") {
  test::ScenarioParts parts;
  parts.threads = true;
  parts.devices = 2;
  parts.mesh = R"({"x": 2})";
  parts.memory = "8 KiB";
  parts.arrays = R"({"a": {"shape": [64], "dtype": "f32", "init": "ones", "on": [0]},
"w": {"shape": [4096], "dtype": "f32", "init": "ones", "on": [1]}})";
  parts.program = R"([{"on": [0], "do": [{"id": "b", "op": "add", "of": ["a", "a"]}]}])";
  const test::Ran ran = test::run_parts(parts);
  const Check& capacity = ran.check("MEMORY.CAPACITY");
  CHECK(capacity.verdict == Verdict::Fails);
  CHECK(capacity.message ==
        "Before the first op device 1 holds 16 KiB, over its 8 KiB: \"w\" 16 KiB (argument).");
  REQUIRE(ran.report.devices.size() == 2);
  CHECK(ran.report.memory.of(LogicalId(1)).peak == Bytes(4 * 4096));
  CHECK(ran.report.memory.largest_peak() == Bytes(4 * 4096));
}

TEST_CASE("memory: an array on a device without a program takes whole units of the alignment") {
  test::ScenarioParts parts;
  parts.threads = true;
  parts.devices = 2;
  parts.mesh = R"({"x": 2})";
  parts.arrays = R"({"a": {"shape": [64], "dtype": "f32", "init": "ones", "on": [0]},
"w": {"shape": [65], "dtype": "f32", "init": "ones", "on": [1]}})";
  parts.program = R"([{"on": [0], "do": [{"id": "b", "op": "add", "of": ["a", "a"]}]}])";
  const test::Ran ran = test::run_parts(parts);
  CHECK(ran.report.memory.of(LogicalId(1)).peak == Bytes(512));  // 260, in units of 256
}

TEST_CASE(
    "memory: the message names the largest buffers and counts the rest, the witness has all") {
  test::ScenarioParts parts;
  parts.devices = 1;
  parts.mesh = R"({"x": 1})";
  parts.memory = "8 KiB";
  parts.arrays = "";
  for (int size = 1; size <= 9; ++size)
    parts.arrays += fmt::format(R"({}"a{}": {{"shape": [{}], "dtype": "f32", "init": "ones"}})",
                                size == 1 ? "{" : ", ", size, size * 256);
  parts.arrays += "}";
  parts.program = "[]";
  const test::Ran ran = test::run_parts(parts);
  const Check& capacity = ran.check("MEMORY.CAPACITY");
  REQUIRE(capacity.verdict == Verdict::Fails);
  size_t named = 0;
  for (int size = 1; size <= 9; ++size) {
    const std::string name = fmt::format("a{}", size);
    named += capacity.message.find(fmt::format("\"{}\"", name)) != std::string::npos ? 1 : 0;
    CHECK(std::count_if(capacity.witness.begin(), capacity.witness.end(),
                        [&](const auto& line) { return line.first == name; }) == 1);
  }
  CHECK(capacity.message.find("\"a9\" 9 KiB") != std::string::npos);
  CHECK(capacity.message.find(fmt::format(", and {} more", 9 - named)) != std::string::npos);
}

/// Returns the peak of the only thread, with all iterations or without most of them.
Bytes peak(const std::string& program, LongLoops long_loops) {
  const std::string text =
      R"({"orrery": 1, "cluster": {"devices": 2, "topology": "ring", "bandwidth": "1 GB/s",
"latency": "1 us"}, "mesh": {"x": 2}, "check_types": false,
"arrays": {"a": {"shape": [64], "dtype": "f32", "init": "zeros"}}, "program": )" +
      program + "}";
  const Scenario scenario = written(read_scenario("f", text), long_loops).scenario;
  Diagnostics diagnostics("f");
  Stages stages(scenario.program, scenario.cluster, {}, diagnostics);
  REQUIRE(diagnostics.empty());
  return stages.memory().lists.front().peak;
}

TEST_CASE("memory: what a long loop leaks counts for each iteration") {
  // "a" has 256 bytes. Each iteration holds its sum to the end; with "own", also its operand.
  const std::string shared = R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 1000, "body": [
{"id": "s", "op": "psum_start", "of": "a", "axis_name": "x", "algorithm": "ring"}]}])";
  CHECK(peak(shared, LongLoops::LeftOut) == Bytes(256 + 1000 * 256));
  CHECK(peak(shared, LongLoops::WrittenOut) == Bytes(256 + 1000 * 256));
  const std::string own = R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 1000, "body": [
{"id": "y", "op": "add", "of": ["a", "a"]},
{"id": "s", "op": "psum_start", "of": "y", "axis_name": "x", "algorithm": "ring"}]}])";
  CHECK(peak(own, LongLoops::LeftOut) == peak(own, LongLoops::WrittenOut));
  CHECK(peak(own, LongLoops::LeftOut) == Bytes(256 + 1000 * 512));
}

TEST_CASE("memory: what is done of one iteration alone, all others leak") {
  // The sum that is done is held to its "done", which is the last op.
  for (const std::string_view done :
       {"l.f", "l[0].s", "l[1].s", "l[2].s", "l[500].s", "l[998].s"}) {
    CAPTURE(done);
    const std::string program = fmt::format(
        R"([{{"id": "s", "op": "psum_start", "of": "a", "axis_name": "x"}},
{{"id": "l", "op": "fori_loop", "lower": 0, "upper": 1000, "carry": {{"f": "s"}},
"body": [{{"id": "s", "op": "psum_start", "of": "a", "axis_name": "x"}}], "yield": {{"f": "s"}}}},
{{"id": "z", "op": "done", "of": "{}"}}])",
        done);
    CHECK(peak(program, LongLoops::LeftOut) == Bytes(256 + 1001 * 256));
    CHECK(peak(program, LongLoops::WrittenOut) == Bytes(256 + 1001 * 256));
  }
}

TEST_CASE("memory: what is done of one iteration alone of loops in loops, all others leak") {
  for (const std::string_view done : {"l[0].m[0].s", "l[20].m[30].s", "l[39].m[59].s"}) {
    CAPTURE(done);
    const std::string program = fmt::format(
        R"([{{"id": "l", "op": "fori_loop", "lower": 0, "upper": 40, "body": [
{{"id": "y", "op": "add", "of": ["a", "a"]}},
{{"id": "m", "op": "fori_loop", "lower": 0, "upper": 60, "body": [
{{"id": "s", "op": "psum_start", "of": "y", "axis_name": "x"}}]}}]}},
{{"id": "z", "op": "done", "of": "{}"}}])",
        done);
    CHECK(peak(program, LongLoops::LeftOut) == Bytes(256 + 40 * 256 + 40 * 60 * 256));
    CHECK(peak(program, LongLoops::WrittenOut) == Bytes(256 + 40 * 256 + 40 * 60 * 256));
  }
}

TEST_CASE("memory: a loop in a loop leaks what each of its runs makes") {
  // The outer loop makes "y", which is held once for each of its iterations.
  const std::string nested = R"([{"id": "o", "op": "fori_loop", "lower": 0, "upper": 30, "body": [
{"id": "y", "op": "add", "of": ["a", "a"]},
{"id": "l", "op": "fori_loop", "lower": 0, "upper": 40, "body": [
{"id": "s", "op": "psum_start", "of": "y", "axis_name": "x", "algorithm": "ring"}]}]}])";
  CHECK(peak(nested, LongLoops::LeftOut) == Bytes(256 + 30 * 256 + 30 * 40 * 256));
  CHECK(peak(nested, LongLoops::WrittenOut) == Bytes(256 + 30 * 256 + 30 * 40 * 256));
}

}  // namespace
}  // namespace orrery
