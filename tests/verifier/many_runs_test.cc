// Tests runs of many scenarios in one process: those for checks alone, and those that share work.

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/schedule/lowered.h"
#include "tests/verifier/scenario_rig.h"

namespace orrery {
namespace {

/// Returns psums and gathers of `rows` rows a device. `algorithm` is that of the psum.
test::ScenarioParts collectives(int64_t rows, const std::string& algorithm) {
  test::ScenarioParts parts;
  parts.arrays = R"({"a": {"shape": [)" + std::to_string(16 * rows) +
                 R"(], "dtype": "f32", "spec": ["x"], "init": "random"}})";
  parts.checked = false;
  parts.program =
      R"([{"id": "s", "op": "psum_scatter", "of": "a", "axis_name": "x", "tiled": true},
          {"id": "g", "op": "all_gather", "of": "s", "axis_name": "x", "tiled": true},
          {"id": "r", "op": "psum", "of": "a", "axis_name": "x", "algorithm": ")" +
      algorithm + R"("}])";
  parts.outputs = R"(["g", "r"])";
  parts.expect =
      R"([{"close": ["g", "r"]}, {"equal": ["g", "r"]}, {"holds": ["race_free", "proved"]}])";
  return parts;
}

/// Returns two programs whose psums wait for each other.
test::ScenarioParts hang() {
  test::ScenarioParts parts;
  parts.threads = true;
  parts.devices = 2;
  parts.mesh = R"({"x": 2})";
  parts.checked = false;
  parts.program = R"([
    {"on": [0], "do": [{"id": "p", "op": "psum", "of": "a", "axis_name": "x", "site": "one"},
                       {"id": "q", "op": "psum", "of": "a", "axis_name": "x", "site": "two"}]},
    {"on": [1], "do": [{"id": "t", "op": "psum", "of": "a", "axis_name": "x", "site": "two"},
                       {"id": "u", "op": "psum", "of": "a", "axis_name": "x", "site": "one"}]}])";
  parts.expect = R"([{"holds": ["deadlock_free"]}])";
  return parts;
}

test::ScenarioParts slow_link() {
  test::ScenarioParts parts = collectives(2, "ring");
  parts.faults = R"([{"slow_link": {"from": 0, "to": 1}, "factor": 3}])";
  return parts;
}

test::ScenarioParts loop() {
  test::ScenarioParts parts;
  parts.checked = false;
  parts.program =
      R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 3, "index": "i", "carry": {"h": "a"},
           "body": [{"id": "s", "op": "psum", "of": "h", "axis_name": "x"}], "yield": {"h": "s"}}])";
  return parts;
}

std::vector<test::ScenarioParts> scenarios() {
  return {collectives(0, "ring"),
          collectives(1, "ring"),
          collectives(1, "recursive_doubling"),
          collectives(3, "ring"),
          hang(),
          slow_link(),
          loop()};
}

using Conclusion = std::tuple<std::string, Verdict, std::string, std::string,
                              std::vector<std::pair<std::string, std::string>>, std::string>;

std::vector<Conclusion> conclusions(const Report& report) {
  std::vector<Conclusion> all;
  for (const Check& check : report.checks)
    all.emplace_back(check.name, check.verdict, check.of, check.message, check.witness,
                     check.caveat);
  return all;
}

TEST_CASE("a run for checks alone: the checks and the makespan are those of a whole report") {
  RunOptions only;
  only.wanted = Wanted::Checks;
  for (const test::ScenarioParts& parts : scenarios()) {
    const Report whole = test::run_parts(parts).report;
    const Report checked = test::run_parts(parts, only).report;
    CHECK(conclusions(checked) == conclusions(whole));
    CHECK(checked.verdict == whole.verdict);
    REQUIRE(checked.completion.has_value() == whole.completion.has_value());
    if (whole.completion)
      CHECK(checked.completion->makespan == whole.completion->makespan);
  }
}

TEST_CASE("a run for checks alone: nothing is described") {
  RunOptions only;
  only.wanted = Wanted::Checks;
  const Report report = test::run_parts(collectives(1, "ring"), only).report;
  CHECK(report.labels.empty());
  CHECK(report.ops.empty());
  CHECK(report.links.empty());
  CHECK(report.devices.empty());
  CHECK(report.critical_path.empty());
  CHECK(report.fingerprint.empty());
}

TEST_CASE("shared work: runs have the same checks and fingerprints as runs alone") {
  RunOptions sharing;
  sharing.shared = shared_work();
  for (int round = 0; round < 2; ++round)
    for (const test::ScenarioParts& parts : scenarios()) {
      const Report alone = test::run_parts(parts).report;
      const Report shared = test::run_parts(parts, sharing).report;
      CHECK(conclusions(shared) == conclusions(alone));
      CHECK(shared.labels == alone.labels);
      CHECK(shared.fingerprint == alone.fingerprint);
    }
}

TEST_CASE("shared work: a budget that an earlier run did not have is kept to") {
  RunOptions options;
  options.shared = shared_work();
  test::ScenarioParts parts = collectives(1, "ring");
  parts.expect = "[]";  // so that the budget counts
  CHECK(test::run_parts(parts, options).check("SCHEDULE.PROVED").holds());
  options.proof_piece_budget = 1;
  for (const Check& check : test::run_parts(parts, options).report.checks)
    CHECK(check.name != "SCHEDULE.PROVED");
}

TEST_CASE("shared work: equal schedules of several runs are one") {
  RunOptions options;
  options.shared = shared_work();
  const Report first = test::run_parts(collectives(1, "ring"), options).report;
  const Report second = test::run_parts(collectives(1, "ring"), options).report;
  const Report other = test::run_parts(collectives(2, "ring"), options).report;
  CHECK(second.lowered->collectives[2].schedule == first.lowered->collectives[2].schedule);
  CHECK(other.lowered->collectives[2].schedule != first.lowered->collectives[2].schedule);
}

TEST_CASE("shared work: it is forgotten when it is much, and reports keep their schedules") {
  RunOptions options;
  options.shared = shared_work();
  options.wanted = Wanted::Checks;
  const Report first = test::run_parts(collectives(1, "ring"), options).report;
  for (int64_t rows = 2; rows < 600; ++rows)
    (void)test::run_parts(collectives(rows, "ring"), options);
  const Report again = test::run_parts(collectives(1, "ring"), options).report;
  CHECK(again.lowered->collectives[2].schedule != first.lowered->collectives[2].schedule);
  CHECK(first.lowered->collectives[2].schedule->extent().nodes == 4);
}

}  // namespace
}  // namespace orrery
