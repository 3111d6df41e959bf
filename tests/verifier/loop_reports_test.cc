// Tests what a run reports of loops that leave out iterations: how many were added up, and the
// limit on those that are run one by one.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/diagnostics.h"
#include "models/program/loops.h"
#include "models/scenario/reader.h"
#include "tests/support/tries.h"
#include "verifier/report.h"
#include "verifier/run.h"

namespace orrery {
namespace {

std::string loop(const std::string& id, int64_t trips, const std::string& body) {
  return fmt::format(R"({{"id": "{0}", "op": "fori_loop", "lower": 0, "upper": {1},
                         "carry": {{"{0}h": "a"}}, "body": [{2}], "yield": {{"{0}h": "{0}h"}}}})",
                     id, trips, body);
}

std::string add(const std::string& id) {
  return fmt::format(R"({{"id": "{}", "op": "add", "of": ["a", "a"]}})", id);
}

Report report_of(const std::string& program, const std::string& more = "", Limits limits = {}) {
  const std::string text = R"({"orrery": 1, "check_types": false, "mesh": {"x": 2},
    "cluster": {"devices": 2, "topology": "switch", "bandwidth": "1 GB/s", "latency": "1 us",
                "launch": "1 us", "memory_bandwidth": "1 TB/s"},
    "arrays": {"a": {"shape": [4], "dtype": "f32"}},)" +
                           more + R"("program": [)" + program + "]}";
  RunOptions options;
  options.limits = limits;
  return run(read_scenario("f", text), options);
}

std::vector<std::string> added(const Report& report) {
  std::vector<std::string> labels;
  for (const std::string& label : report.labels)
    if (label.find("are added up") != std::string::npos)
      labels.push_back(label);
  return labels;
}

TEST_CASE("loop reports: a loop in a loop is named once") {
  const std::vector<std::string> labels =
      added(report_of(loop("l", 1000, loop("m", 1000, add("y")))));
  REQUIRE(labels.size() == 2);
  CHECK(labels[0].find("\"l\": ") == 0);
  CHECK(labels[1].find("\"l.m\": ") == 0);
}

TEST_CASE("loop reports: of many loops the first are named") {
  std::vector<std::string> loops;
  for (int i = 0; i < 20; ++i)
    loops.push_back(loop(fmt::format("l{}", i), 100'000, add(fmt::format("y{}", i))));
  const std::vector<std::string> labels =
      added(report_of(fmt::format("{}", fmt::join(loops, ","))));
  REQUIRE(labels.size() == 9);
  CHECK(labels[7].find("\"l7\": ") == 0);
  CHECK(labels[8] == "loops: iterations of 12 others are added up too");
}

TEST_CASE("loop reports: iterations that do not repeat are run up to a limit") {
  // Device 1 begins late, and gains a little on device 0 in each iteration, so each iteration
  // differs.
  const int64_t trips = test::is_all_tried() ? 1'000'000 : 60'000;
  const std::string program =
      loop("l", trips, add("y") + R"(, {"id": "m", "op": "ppermute", "of": "y", "axis_name": "x",
                           "perm": [[0, 1]]})");
  const std::string faults = R"("faults": [{"slow_device": 0, "factor": 1.5},
                                           {"late_start": 1, "by": "1000 s"}],)";
  // On 2 devices, a few iterations are written and all others are repeated.
  Limits limits;
  limits.runs = 4 * trips;
  CHECK(added(report_of(program, faults, limits)).empty());
  limits.runs = 2 * trips - trips / 10;
  try {
    (void)report_of(program, faults, limits);
    FAIL("the limit is exceeded");
  } catch (const InputError& error) {
    REQUIRE(error.diagnostics().size() == 1);
    CHECK(error.diagnostics()[0].origin.pointer == "/program/0/body/0");
    CHECK(error.diagnostics()[0].message ==
          fmt::format("add \"l.y\": expected at most {} ops run one by one in loops, got more "
                      "(--limit runs=N allows more) (in l[{}])",
                      limits.runs, trips - 1));
  }
  CHECK_NOTHROW(report_of(program, "", limits));
  // Steps count where they are run, also those of schedules that are lowered once.
  Limits few_steps;
  few_steps.steps = trips / 2;
  try {
    (void)report_of(program, faults, few_steps);
    FAIL("the limit is exceeded");
  } catch (const InputError& error) {
    REQUIRE(error.diagnostics().size() == 1);
    CHECK(error.diagnostics()[0].origin.pointer == "/program/0/body/1");
    CHECK(error.diagnostics()[0].message ==
          fmt::format("ppermute \"l.m\": expected at most {} steps of collectives, got more "
                      "(--limit steps=N allows more) (in l[{}])",
                      few_steps.steps, trips - 1));
  }
  CHECK_NOTHROW(report_of(program, "", few_steps));
}

TEST_CASE("loop reports: a collective of a long loop is proved once, under its name in the body") {
  const Report report =
      report_of(loop("l", 1'000'000, R"({"id": "y", "op": "psum", "of": "lh", "axis_name": "x"})"));
  std::vector<std::string> proofs;
  for (const Check& check : report.checks)
    if (check.name == "SCHEDULE.PROVED")
      proofs.push_back(check.message);
  REQUIRE(proofs.size() == 1);
  CHECK(proofs[0].find("\"l[].y\"") == 0);
}

TEST_CASE("loop reports: what a loop that never runs has is neither proved nor searched") {
  const Report report =
      report_of(loop("l", 0, R"({"id": "y", "op": "psum", "of": "lh", "axis_name": "x"})") + "," +
                loop("m", 1'000'000, R"({"id": "z", "op": "psum", "of": "mh", "axis_name": "x"})"));
  CHECK(report.holds());
  CHECK(std::ranges::count(report.checks, "SCHEDULE.PROVED", &Check::name) == 1);
}

TEST_CASE(
    "loop reports: the fingerprint has the outputs of single iterations, and no other value "
    "there") {
  Report report =
      report_of(loop("l", 100, R"({"id": "y", "op": "psum", "of": "lh", "axis_name": "x"},
                                  {"id": "z", "op": "add", "of": ["y", "a"]})"),
                R"("outputs": ["l[3].y"],)");
  const std::string before = report.fingerprint;
  REQUIRE(report.values);
  const auto changed = [&](const char* name) {
    const ValueId value = values_by_name(report.scenario->program).at(name);
    std::optional<Tensor>& tensor = report.values->at(value, LogicalId(1));
    const Tensor was = tensor.value();
    tensor->as<float>()[0] += 1;
    const bool differs = fingerprint(report) != before;
    tensor = was;
    return differs;
  };
  CHECK(changed("l[3].y"));
  CHECK_FALSE(changed("l[4].y"));
}

TEST_CASE("loop reports: the fingerprint has every iteration, those that are not shown too") {
  Report report =
      report_of(loop("l", 100, R"({"id": "y", "op": "psum", "of": "lh", "axis_name": "x"},
                                              {"id": "z", "op": "add", "of": ["y", "a"]})"));
  const std::string before = report.fingerprint;
  REQUIRE(fingerprint(report) == before);
  const Program& program = report.scenario->program;
  REQUIRE(program.ops.size() == 200);
  const OpId middle(101);
  REQUIRE(program.op(middle).name == "l[50].z");
  REQUIRE_FALSE(shown_when_shortened(program)[middle.index()]);
  for (OpSpan& span : report.completion->spans[middle.index()]) {
    const OpSpan was = span;
    span.end = span.end + Duration(1);
    CHECK(fingerprint(report) != before);
    span = was;
  }
  CHECK(fingerprint(report) == before);
  // One iteration more is another program, though the program shows the same iterations.
  CHECK(report_of(loop("l", 101, add("y"))).fingerprint !=
        report_of(loop("l", 100, add("y"))).fingerprint);
}

TEST_CASE("loop reports: a cut collective whose copies end late takes as long as written out") {
  // Device 0 hears from the slow device 51 us late, and copies its own part meanwhile.
  const std::string text = R"({"orrery": 1, "check_types": false, "mesh": {"x": 3},
    "cluster": {"devices": 3, "topology": {"links": [
                  {"from": 0, "to": 1, "latency": "51 us"}, {"from": 0, "to": 2}, {"from": 1, "to": 0},
                  {"from": 1, "to": 2}, {"from": 2, "to": 0}, {"from": 2, "to": 1}]},
                "latency": "100 ns", "bandwidth": "1 TB/s", "copy_rate": "10 GB/s",
                "flops": {"f32": "1 TFLOP/s"},
                "transport": {"protocols": {"p": {"slot": "300 kB", "slots": 8, "channels": 2}}}},
    "faults": [{"slow_device": 1, "factor": 2}],
    "arrays": {"a": {"shape": [750000], "dtype": "f32"}},
    "program": [{"id": "l", "op": "fori_loop", "lower": 0, "upper": 300, "carry": {"h": "a"},
      "body": [{"id": "c", "op": "compute", "flops": "1 MFLOP", "bytes": "0 B", "dtype": "f32"},
               {"id": "g", "op": "all_to_all", "split_axis": 0, "concat_axis": 0, "of": "a",
                "axis_name": "x", "tiled": true, "algorithm": "direct", "channels": 2}],
      "yield": {"h": "h"}}]})";
  const auto takes = [&](std::optional<uint64_t> most_ops_shown) {
    RunOptions options;
    options.data = Data::Off;
    options.most_ops_shown = most_ops_shown;
    return run(read_scenario("f", text), options).completion.value().makespan;
  };
  CHECK(takes(10) == takes(std::nullopt));
}

}  // namespace
}  // namespace orrery
