// Tests the planner: points against runs of their scenarios, and random plans.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/base/random.h"
#include "models/scenario/cluster_json.h"
#include "tests/support/tries.h"
#include "verifier/plan/planner.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

TEST_CASE("planner: times that are known of other points choose what a run by itself chooses") {
  // Sizes recur on equal clusters, and the same sizes on others.
  const Plan plan(
      "f", R"({"sweep": {"mib": [1, 64], "nodes": [1, 2], "sums": [1, 2], "slow": [false, true]},
"orrery": 1, "cluster": {"catalog": "h100-sxm-8", "nodes": "${nodes}", "nic": "${if(slow, 100, 400)} Gb/s"},
"mesh": {"x": "${8 * nodes}"}, "check_types": false,
"arrays": {"a": {"shape": ["${mib * 524288}"], "dtype": "bf16", "init": "zeros"}},
"program": [{"id": "l", "op": "fori_loop", "lower": 0, "upper": "${sums}", "carry": {"h": "a"},
  "body": [{"id": "s", "op": "psum", "of": "h", "axis_name": "x"}], "yield": {"h": "s"}},
 {"id": "g", "op": "all_gather", "of": "a", "axis_name": "x", "tiled": true}]})");
  const PlanReport report = answer(plan);
  REQUIRE(report.points.size() == 16);
  uint64_t seed = 0;
  for (const PlanPoint& point : report.points) {
    CAPTURE(point.id);
    REQUIRE(point.times() != nullptr);
    if (!is_tried_sanitized(++seed))
      continue;
    RunOptions options;
    options.data = Data::Off;
    options.wanted = Wanted::Checks;
    const Report whole = run(plan.scenario(point.values), options);
    CHECK(point.times()->makespan == whole.completion->makespan - Instant());
    CHECK(point.figures->peak == whole.memory.largest_peak());
  }
}

TEST_CASE("planner: better hardware gives what a run by itself takes on it") {
  const Plan plan("f", R"({"sweep": {"mib": [64], "recompute": [1]}, "orrery": 1,
"cases": [{"id": "small", "let": {"mib": 1, "recompute": 1}}, {"id": "again", "let": {"mib": 64, "recompute": 2}}],
"cluster": {"catalog": "h100-sxm-8", "nodes": 2}, "mesh": {"x": 2, "y": 8}, "check_types": false,
"arrays": {"a": {"shape": ["${mib * 524288}"], "dtype": "bf16", "init": "zeros"}},
"program": [{"id": "l", "op": "fori_loop", "lower": 0, "upper": "${recompute}", "carry": {"h": "a"},
  "body": [{"id": "c", "op": "compute", "of": "h", "flops": "2 GFLOP", "bytes": "10 MB", "dtype": "bf16",
     "shape": ["${mib * 524288}"]},
   {"id": "s", "op": "psum", "of": "c", "axis_name": ["x", "y"]}], "yield": {"h": "s"}},
 {"id": "g", "op": "all_gather", "of": "l.h", "axis_name": "x", "tiled": true}]})");
  const PlanReport report = answer(plan);
  REQUIRE(report.what_if.size() == 3);
  for (const WhatIf& what_if : report.what_if) {
    for (const WhatIfResult& result : what_if.results) {
      CAPTURE(result.point.id);
      CAPTURE(static_cast<int>(result.improvement));
      Scenario scenario = plan.scenario(report.points[what_if.point].values);
      scenario.cluster = *improved(scenario.cluster, result.improvement, {});
      RunOptions options;
      options.data = Data::Off;
      options.wanted = Wanted::Checks;
      const Report whole = run(std::move(scenario), options);
      REQUIRE(result.point.times() != nullptr);
      CHECK(result.point.times()->makespan == whole.completion->makespan - Instant());
    }
  }
}

/// The figures of a random plan's cluster that say what communication takes.
struct LinkTexts {
  std::string bandwidth;
  std::string latency;
  std::string launch;
};

LinkTexts random_links(Random& random) {
  return {fmt::format("{} MB/s", 1 + random.below(100'000)),
          fmt::format("{} ns", random.below(10'000)), fmt::format("{} ns", random.below(10'000))};
}

/// Returns a plan's text with a random program of rings and local ops on a fabric where messages
/// share no link.
std::string random_plan(Random& random, const LinkTexts& links) {
  std::string program;
  std::string last = "a";
  const uint64_t memory_rate = 1 + random.below(1'000'000);
  const uint64_t flops_rate = 1 + random.below(1'000'000);
  const uint64_t ops = 1 + random.below(6);
  for (uint64_t op = 0; op < ops; ++op) {
    const std::string id = fmt::format("v{}", op);
    program += program.empty() ? "" : ", ";
    const uint64_t flops = random.below(1'000'000);
    const uint64_t bytes = random.below(1'000'000);
    if (random.below(2) == 0)
      program += fmt::format(
          R"({{"id": "{}", "op": "psum", "of": "{}", "axis_name": "x", "algorithm": "ring"}})", id,
          last);
    else
      program += fmt::format(
          R"({{"id": "{}", "op": "compute", "of": "{}", "flops": "{} FLOP", "bytes": "{} B", "dtype": "f32", "shape": [4096]}})",
          id, last, flops, bytes);
    last = id;
  }
  return fmt::format(
      R"({{"sweep": {{"n": [1, 2, 4]}}, "orrery": 1, "cluster": {{"topology": "fully_connected", "devices": 4,
"bandwidth": "{}", "latency": "{}", "launch": "{}", "memory": "1 MB", "memory_bandwidth": "{} MB/s",
"flops": {{"f32": "{} MFLOP/s"}}}}, "mesh": {{"x": "${{n}}"}}, "check_types": false,
"arrays": {{"a": {{"shape": [4096], "dtype": "f32", "init": "zeros"}}}}, "program": [{}]}})",
      links.bandwidth, links.latency, links.launch, memory_rate, flops_rate, program);
}

TEST_CASE("planner: better hardware never lengthens a step, and jobs change nothing") {
  Random random(36);
  for (uint64_t t = 0; t < tries(500); ++t) {
    const std::string text = random_plan(random, random_links(random));
    CAPTURE(text);
    const Plan plan("f", text);
    const PlanReport one = answer(plan);
    PlanOptions options;
    options.jobs = 2;
    const PlanReport two = answer(plan, options);
    CHECK(one.front == two.front);
    CHECK(one.best == two.best);
    for (size_t p = 0; p < one.points.size(); ++p)
      CHECK(one.points[p].times()->makespan == two.points[p].times()->makespan);
    const WhatIf& what_if = one.what_if.front();
    for (const WhatIfResult& result : what_if.results)
      CHECK(result.point.times()->makespan <= one.points[what_if.point].times()->makespan);
  }
}

TEST_CASE(
    "planner: where communication is all but free, a step takes its compute and its messages") {
  Random random(37);
  for (uint64_t t = 0; t < tries(200); ++t) {
    // Each message between n devices has 16384 / n bytes, at 256 B/ps: 32 or 16 ps.
    const std::string text = random_plan(random, {"256 TB/s", "0 s", "0 s"});
    CAPTURE(text);
    const Plan plan("f", text);
    for (const PlanPoint& point : answer(plan).points) {
      CAPTURE(point.id);
      const int64_t n = point.devices;
      Duration messages;
      for (size_t at = text.find("ring"); at != std::string::npos; at = text.find("ring", at + 1))
        messages += Duration(2 * (n - 1) * (64 / n));
      CHECK(point.times()->makespan == point.times()->parts.compute + messages);
      CHECK((n > 1 || point.times()->makespan == point.times()->parts.compute));
    }
  }
}

}  // namespace
}  // namespace orrery::test
