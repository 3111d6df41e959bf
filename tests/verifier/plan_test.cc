// Tests the planner: figures of points against closed forms, and answers against the points. Runs
// of their scenarios are compared here for the simplest plan, and for others in plan_runs_test.cc.

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "verifier/plan/planner.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

/// A plan of `devices` on a switch of 8, which computes 8 GFLOP at 1 TFLOP/s on all together and
/// then sums 80 MB over them.
struct SmallPlan {
  std::string keys = R"("sweep": {"n": [1, 2, 4, 8]})";
  std::string cluster =
      R"("topology": "switch", "devices": 8, "bandwidth": "10 GB/s", "latency": "1 us",
"memory": "300 MB", "memory_bandwidth": "1 TB/s", "flops": {"f32": "1 TFLOP/s"}, "launch": "5 us")";
  std::string arrays = R"("w_up": {"shape": [20000000], "dtype": "f32", "init": "zeros"})";
  std::string program =
      R"({"id": "c", "op": "compute", "of": "w_up", "flops": "${8000000000 / n} FLOP", "bytes": "0 B",
 "dtype": "f32", "shape": [20000000]},
{"id": "s", "op": "psum", "of": "c", "axis_name": "x", "algorithm": "ring"})";

  Plan plan() const {
    return {"f", fmt::format(R"({{{}, "orrery": 1, "cluster": {{{}}}, "mesh": {{"x": "${{n}}"}},
"check_types": false, "arrays": {{{}}}, "program": [{}], "outputs": ["s"]}})",
                             keys, cluster, arrays, program)};
  }
};

PlanReport answered(const SmallPlan& small, unsigned jobs = 1) {
  PlanOptions options;
  options.jobs = jobs;
  return answer(small.plan(), options);
}

std::vector<std::string> ids(const PlanReport& report, const std::vector<size_t>& points) {
  std::vector<std::string> ids;
  for (const size_t p : points)
    ids.push_back(report.points[p].id);
  return ids;
}

using Ids = std::vector<std::string>;

/// Returns the time of a ring's sum of 80 MB over `n` devices on the switch, whose messages cross
/// two links: 2 (n - 1) steps, and one launch.
Duration ring_time(int64_t n) {
  const Duration message(80'000'000 / n * 100);  // 10 GB/s is 100 ps a byte
  return Duration(5'000'000) + (2 * (n - 1)) * (message + Duration(2'000'000));
}

TEST_CASE("planner: times and their parts have their closed forms, and add up") {
  const PlanReport report = answered({});
  REQUIRE(report.points.size() == 4);
  for (const PlanPoint& point : report.points) {
    CAPTURE(point.id);
    const int64_t n = point.devices;
    REQUIRE(point.times() != nullptr);
    const PointTimes& times = *point.times();
    const Duration computes(8'000'000'000 / n);  // 1 TFLOP/s is 1 ps a flop
    CHECK(times.parts.compute == computes);
    CHECK(times.parts.launch == Duration(5'000'000));
    CHECK(times.parts.exposed == ring_time(n));
    CHECK(times.parts.idle == Duration());
    CHECK(times.parts.compute + times.parts.launch + times.parts.exposed + times.parts.idle ==
          times.makespan);
    CHECK(*times.mfu == doctest::Approx(static_cast<double>(computes.count()) /
                                        static_cast<double>(times.makespan.count()))
                            .epsilon(1e-12));
    CHECK(times.hfu == times.mfu);
    CHECK(point.figures->memory == std::vector<MemoryOfKind>{{"outputs", Bytes(80'000'000)},
                                                             {"temporaries", Bytes(80'000'000)},
                                                             {"w_*", Bytes(80'000'000)}});
  }
}

TEST_CASE("planner: each point has the makespan and the peak of a run of its scenario") {
  SmallPlan small;
  small.keys = R"("sweep": {"n": [2, 4], "trips": [1, 3, 40], "kept": ["none", "all"]},
"where": "n * trips < 100")";
  small.arrays =
      R"("x": {"shape": [64, 64], "dtype": "f32", "init": "zeros"}, "w_a": {"shape": [64, 64], "dtype": "f32", "init": "zeros"})";
  small.program =
      R"({"id": "l", "op": "fori_loop", "lower": 0, "upper": "${trips}", "carry": {"h": "x"},
 "body": [{"id": "d", "op": "dot_general", "of": ["h", "w_a"], "dimension_numbers": [[[1], [0]], [[], []]]},
  {"id": "t", "op": "psum", "of": "d", "axis_name": "x"}], "yield": {"h": "t"}},
{"id": "s", "op": "add", "of": ["l.h", "l.h"]})";
  small.keys += R"(, "kinds": {"weights": "w_*"})";
  const Plan plan = small.plan();
  const PlanReport report = answer(plan);
  REQUIRE(report.points.size() == 10);
  for (const PlanPoint& point : report.points) {
    CAPTURE(point.id);
    CAPTURE(point.because);
    REQUIRE(point.times() != nullptr);
    const Report whole = run(plan.scenario(point.values), {});
    CHECK(point.times()->makespan == whole.completion->makespan - Instant());
    CHECK(point.figures->peak == whole.memory.largest_peak());
    const TimeParts& parts = point.times()->parts;
    CHECK(parts.compute + parts.launch + parts.exposed + parts.idle == point.times()->makespan);
    Bytes sum;
    for (const MemoryOfKind& memory : point.figures->memory)
      sum += memory.bytes;
    CHECK(sum == point.figures->peak);
    CHECK(whole.devices.front().times.computing == parts.compute + parts.launch);
  }
}

TEST_CASE("planner: memory of a backward pass by kind; products that are made again count in HFU") {
  SmallPlan small;
  small.keys = R"("sweep": {"n": [2], "again": ["none", "all"]}, "kinds": {"weights": ["w_*"]})";
  small.arrays =
      R"("x": {"shape": [1024, 1024], "dtype": "f32", "init": "zeros"}, "ct_y": {"shape": [1024, 1024], "dtype": "f32", "init": "zeros"},
 "w_a": {"shape": [1024, 1024], "dtype": "f32", "init": "zeros"}, "w_b": {"shape": [1024, 1024], "dtype": "f32", "init": "zeros"})";
  small.program =
      R"({"id": "a", "op": "dot_general", "of": ["x", "w_a"], "dimension_numbers": [[[1], [0]], [[], []]]},
{"id": "e", "op": "exp", "of": "a"},
{"id": "y", "op": "dot_general", "of": ["e", "w_b"], "dimension_numbers": [[[1], [0]], [[], []]]})";
  const auto text = [&](const std::string& again) {
    return fmt::format(R"({{{}, "orrery": 1, "cluster": {{{}}}, "mesh": {{"x": "${{n}}"}},
"check_types": false, "arrays": {{{}}}, "program": [{}],
"transform": {{"vjp": {{"of": ["y"], "with_respect_to": ["x", "w_a", "w_b"]{}}}}}}})",
                       small.keys, small.cluster, small.arrays, small.program, again);
  };
  const PlanReport kept = answer(Plan("f", text("")));
  const PlanReport again = answer(Plan("f", text(R"(, "recompute": ["a", "e"])")));
  const PointTimes& of_kept = *kept.points.front().times();
  const PointTimes& of_again = *again.points.front().times();
  // Forward 2 products, backward 4; one of those is made again. A product takes 2 * 1024^3 ps.
  const double product = 2.0 * 1024 * 1024 * 1024;
  CHECK(*of_kept.mfu * static_cast<double>(of_kept.makespan.count()) ==
        doctest::Approx(6 * product).epsilon(1e-12));
  CHECK(of_kept.hfu == of_kept.mfu);
  CHECK(*of_again.mfu * static_cast<double>(of_again.makespan.count()) ==
        doctest::Approx(6 * product).epsilon(1e-12));
  CHECK(*of_again.hfu * static_cast<double>(of_again.makespan.count()) ==
        doctest::Approx(7 * product).epsilon(1e-12));
  // Arrays of 4 MiB: at the peak of the first, "e" is kept, and of the second it is made again.
  const auto memory = [](const PlanReport& report, const std::string& kind) {
    for (const MemoryOfKind& each : report.points.front().figures->memory)
      if (each.kind == kind)
        return each.bytes.count() >> 20U;
    return int64_t{0};
  };
  CHECK(memory(kept, "weights") == 8);
  CHECK(memory(again, "weights") == 8);
  CHECK(memory(kept, "activations") == 4);
  CHECK(memory(kept, "recomputed") == 0);
  CHECK(memory(again, "activations") == 0);
  CHECK(memory(again, "recomputed") == 4);
}

TEST_CASE("planner: the scores that gradients of attention compute again count in HFU alone") {
  const Plan plan("f", R"({"sweep": {"n": [1]}, "orrery": 1, "check_types": false,
"cluster": {"topology": "switch", "devices": 2, "bandwidth": "1 GB/s", "latency": "1 us", "flops": {"f32": "1 TFLOP/s"}},
"mesh": {"x": "${n}"}, "arrays": {"q": {"shape": [64, 2, 8], "dtype": "f32", "init": "zeros"},
"k": {"shape": [64, 2, 8], "dtype": "f32", "init": "zeros"}, "v": {"shape": [64, 2, 8], "dtype": "f32", "init": "zeros"},
"ct_y": {"shape": [64, 2, 8], "dtype": "f32", "init": "zeros"}},
"program": [{"id": "y", "op": "dot_product_attention", "of": ["q", "k", "v"]}],
"transform": {"vjp": {"of": ["y"], "with_respect_to": ["q", "k", "v"]}}})");
  const PlanReport report = answer(plan);
  const PointTimes& times = *report.points.front().times();
  // Two products forward and five back, one of them again: each 2 * 2 * 64 * 64 * 8 flops, a flop
  // a picosecond.
  const double product = 2.0 * 2 * 64 * 64 * 8;
  CHECK(*times.mfu * static_cast<double>(times.makespan.count()) ==
        doctest::Approx(6 * product).epsilon(1e-12));
  CHECK(*times.hfu * static_cast<double>(times.makespan.count()) ==
        doctest::Approx(7 * product).epsilon(1e-12));
}

TEST_CASE("planner: what cannot fit is not timed, and what is no scenario is refused") {
  SmallPlan small;
  small.keys = R"("sweep": {"n": [2, 3, 8, 16]}, "constraints": {"devices": {"at_most": 4}})";
  PlanReport report = answered(small);
  CHECK(report.timed == 1);
  CHECK(report.pruned == 1);
  CHECK(report.refused == 2);
  CHECK(report.points[1].status == PointStatus::Refused);
  CHECK(report.points[1].because ==
        "f:3:163: /program/0/flops: \"8000000000 / n\": 8000000000 / 3 is not a whole number");
  CHECK(report.points[2].status == PointStatus::DoesNotFit);
  CHECK(report.points[2].because == "devices: 8, 4 more than the 4 allowed");
  CHECK(report.points[2].beyond == 1);
  CHECK(report.points[3].because ==
        "f:2:109: /mesh: expected a mesh of at most 8 devices, the cluster's, got 16");

  small.keys = R"("sweep": {"n": [2, 4]}, "constraints": {"peak_memory": {"at_most": "100 MB"}})";
  report = answered(small);
  CHECK(report.pruned == 2);
  CHECK(report.points[0].times() == nullptr);
  CHECK(report.points[0].because ==
        "peak_memory: 228.9 MiB, 133.5 MiB more than the 95.37 MiB allowed");
  CHECK_FALSE(report.best);

  // The memory of a device counts beside the constraint.
  small.keys = R"("sweep": {"n": [2]}, "constraints": {"peak_memory": {"at_most": "1 GB"}})";
  small.cluster.replace(small.cluster.find("300 MB"), 6, "220 MB");
  CHECK(answered(small).points[0].because ==
        "peak_memory: 228.9 MiB, 19.07 MiB more than the 209.8 MiB of a device");

  small.keys = R"("sweep": {"n": [2, 4]}, "constraints": {"makespan": {"at_most": "15 ms"}})";
  small.cluster.replace(small.cluster.find("220 MB"), 6, "300 MB");
  report = answered(small);
  CHECK(report.timed == 2);
  CHECK(report.points[0].status == PointStatus::Fits);  // 12.009 ms
  CHECK(report.points[1].status == PointStatus::Fits);  // 14.022 ms
  small.keys = R"("sweep": {"n": [2, 4]}, "constraints": {"makespan": {"at_most": "13 ms"}})";
  report = answered(small);
  CHECK(report.points[1].because == "makespan: 14.02 ms, 1.022 ms more than the 13 ms allowed");

  // Figures that would be rounded to one text are exact: 3 arrays of 80 MB, and 14.022 ms.
  small.keys = R"("sweep": {"n": [2]}, "constraints": {"peak_memory": {"at_most": "239999999 B"}})";
  CHECK(answered(small).points[0].because ==
        "peak_memory: 240 MB, 1 B more than the 239999999 B allowed");
  small.keys = R"("sweep": {"n": [4]}, "constraints": {"makespan": {"at_most": "14021999999 ps"}})";
  CHECK(answered(small).points[0].because ==
        "makespan: 14022 us, 1 ps more than the 14021999999 ps allowed");

  small.keys = R"("sweep": {"n": [3, 16]})";
  CHECK_THROWS_WITH_AS(
      answered(small),
      "f: expected a point that can be timed, got none of 2; the first is refused: f:3:163: "
      "/program/0/flops: \"8000000000 / n\": 8000000000 / 3 is not a whole number",
      InputError);
}

TEST_CASE("planner: a slow device is slow in its launches too, and faults are told") {
  SmallPlan small;
  small.keys = R"("faults": [{"slow_device": 1, "factor": 2}], "sweep": {"n": [2]})";
  const PlanReport report = answered(small);
  const TimeParts& parts = report.points.front().times()->parts;
  CHECK(parts.compute == Duration(8'000'000'000));
  CHECK(parts.launch == Duration(10'000'000));
  CHECK(report.points.front().figures->labels.front().starts_with("Device 1 is slow"));
}

TEST_CASE("planner: a plan without programs takes no time") {
  const Plan plan(
      "f", R"({"sweep": {"n": [1, 2]}, "orrery": 1, "cluster": {"topology": "switch", "devices": 2,
 "bandwidth": "1 GB/s", "latency": "1 us"}, "mesh": {"x": "${n}"}, "check_types": false,
 "arrays": {"a": {"shape": [4], "dtype": "f32", "init": "zeros"}}, "programs": []})");
  for (const PlanPoint& point : answer(plan).points) {
    CHECK(point.times()->makespan == Duration());
    CHECK(point.times()->parts == TimeParts());
    CHECK(point.figures->peak == Bytes());  // no device runs anything that reads the array
  }
}

TEST_CASE("planner: a \"where\" without a value at a number that was tried leaves that out") {
  SmallPlan small;
  small.keys =
      R"("sweep": {"n": [4]}, "where": "8 / n >= 1", "constraints": {"devices": {"at_most": 1}})";
  const PlanReport report = answered(small);
  CHECK(report.nearest == 0);
  REQUIRE(report.changes.size() == 1);
  CHECK(report.changes[0].to == TemplateValue{int64_t{1}});
}

TEST_CASE("planner: a point whose program hangs is refused with the reason") {
  const Plan plan(
      "f", R"({"sweep": {"m": [1]}, "orrery": 1, "cluster": {"topology": "switch", "devices": 2,
 "bandwidth": "1 GB/s", "latency": "1 us"}, "mesh": {"x": 2}, "check_types": false,
 "arrays": {"a": {"shape": [4], "dtype": "f32", "init": "zeros"}},
 "programs": [{"name": "p", "devices": [0], "program": [
   {"id": "a1", "op": "psum", "of": "a", "axis_name": "x", "site": "s"}, {"id": "a2", "op": "psum", "of": "a", "axis_name": "x", "site": "t"}]},
  {"name": "q", "devices": [1], "program": [
   {"id": "b2", "op": "psum", "of": "a", "axis_name": "x", "site": "t"}, {"id": "b1", "op": "psum", "of": "a", "axis_name": "x", "site": "s"}]}]})");
  CHECK_THROWS_AS(answer(plan), InputError);
}

TEST_CASE("planner: the best point, the front, and the fewest devices") {
  SmallPlan small;
  // n = 1, 2, 4, 8 take 8.01, 12.009, 14.022 and 15.038 ms: one device is best in all.
  PlanReport report = answered(small);
  CHECK(ids(report, report.front) == Ids{"n=1"});
  CHECK(report.points[*report.best].id == "n=1");
  // With links ten times as fast, more devices are faster.
  small.cluster.replace(small.cluster.find("10 GB/s"), 7, "1 TB/s");
  report = answered(small);
  CHECK(ids(report, report.front) == Ids{"n=8", "n=4", "n=2", "n=1"});
  CHECK(report.points[*report.best].id == "n=8");
  CHECK(report.points[*report.fewest_devices].id == "n=1");
  // By cost one device is best: a device costs as much per hour, whatever their number.
  small.keys += R"(, "minimize": ["cost", "makespan"], "price": {"per_device_hour": "3.6 USD"})";
  report = answered(small);
  CHECK(report.points[*report.best].id == "n=1");
  // 3.6 USD an hour is 0.001 USD a second.
  CHECK(figure_of(report.points[*report.best], PlanAxis::Cost) ==
        doctest::Approx(static_cast<double>(report.points[*report.best].times()->makespan.count()) *
                        1e-15)
            .epsilon(1e-12));
  // With work that grows with the devices, time counts by unit of work.
  small.keys =
      R"("sweep": {"n": [1, 2, 4, 8]}, "minimize": ["makespan"], "work": {"items": "${n * n * n}"})";
  small.cluster.replace(small.cluster.find("1 TB/s"), 6, "10 GB/s");
  report = answered(small);
  CHECK(ids(report, report.front) == Ids{"n=8"});
}

TEST_CASE("planner: what has another currency than the first point is refused") {
  SmallPlan small;
  small.keys = R"("sweep": {"n": [1, 2, 4]}, "minimize": ["cost"],
"price": {"per_device_hour": "2 ${if(n == 2, 'JPY', 'USD')}"})";
  PlanReport report = answered(small);
  CHECK(report.refused == 1);
  CHECK(report.points[1].because ==
        "f: expected a price in \"USD\", as the first point has it, got one in \"JPY\"");
  CHECK(ids(report, report.front) == Ids{"n=1"});

  // The first point is the first that has terms. Cases are compared too.
  small.keys = R"("sweep": {"n": [1, 2, 4]}, "minimize": ["cost"],
"price": {"per_device_hour": "${4 / n - n / 2 + 3} ${if(n == 4, 'JPY', 'USD')}"}, "cases": [{"id": "yen", "let": {"n": 4}}])";
  report = answered(small);
  CHECK(report.refused == 2);
  CHECK(report.points[0].because ==
        "f:2:30: /price/per_device_hour: \"4 / n - n / 2 + 3\": 1 / 2 is not a whole number");
  for (const size_t p : {size_t{2}, size_t{3}})
    CHECK(report.points[p].because ==
          "f: expected a price in \"USD\", as the first point has it, got one in \"JPY\"");
}

TEST_CASE("planner: cases are timed also where they do not fit, and a change is found") {
  SmallPlan small;
  small.keys = R"("sweep": {"n": [1, 2]}, "constraints": {"devices": {"at_most": 2}},
"cases": [{"id": "ours", "let": {"n": 8}}, {"id": "three", "let": {"n": 3}}])";
  const PlanReport report = answered(small);
  REQUIRE(report.points.size() == 4);
  CHECK(report.swept == 2);
  CHECK(report.points[2].id == "ours");
  CHECK(report.points[2].status == PointStatus::DoesNotFit);
  REQUIRE(report.points[2].times() != nullptr);
  CHECK(report.points[2].times()->parts.exposed == ring_time(8));
  CHECK(report.points[3].status == PointStatus::Refused);
  REQUIRE(report.changes.size() == 1);
  CHECK(report.changes[0].point == 2);
  CHECK(report.changes[0].from == TemplateValue{int64_t{8}});
  CHECK(report.changes[0].to == TemplateValue{int64_t{2}});  // half of 8 is still too many
  REQUIRE(report.what_if.size() == 2);                       // of the best point and of "ours"
  CHECK(report.what_if[1].point == 2);
}

TEST_CASE("planner: if nothing fits, the nearest point is that which is least beyond") {
  SmallPlan small;
  small.keys = R"("sweep": {"n": [4, 8]}, "constraints": {"devices": {"at_most": 2}})";
  const PlanReport report = answered(small);
  CHECK(report.nearest == 0);
  REQUIRE(report.changes.size() == 1);
  CHECK(report.changes[0].to == TemplateValue{int64_t{2}});
  CHECK(report.front.empty());
}

TEST_CASE("planner: better hardware changes its own part of the time") {
  SmallPlan small;
  small.keys = R"("sweep": {"n": [4]})";
  const PlanReport report = answered(small);
  REQUIRE(report.what_if.size() == 1);
  const PointTimes& before = *report.points[0].times();
  for (const WhatIfResult& result : report.what_if[0].results) {
    const PointTimes& after = *result.point.times();
    TimeParts expected = before.parts;
    switch (result.improvement) {
      case Improvement::FasterLinks:  // a message takes 1 ms instead of 2 ms
        expected.exposed = before.parts.exposed - Duration(6 * 1'000'000'000LL);
        break;
      case Improvement::FasterFlops:
        expected.compute = Duration(1'000'000'000);
        break;
      case Improvement::NoLatency:
        expected.exposed = before.parts.exposed - Duration(6 * 2'000'000);
        break;
      case Improvement::NoLaunch:
        expected.launch = Duration();
        expected.exposed = before.parts.exposed - Duration(5'000'000);
        break;
      case Improvement::FasterMemory:
      case Improvement::MoreMemory:
        break;
    }
    CAPTURE(static_cast<int>(result.improvement));
    CHECK(after.parts == expected);
  }
}

TEST_CASE("planner: with a quarter more memory, a better point may fit") {
  SmallPlan small;
  small.keys = R"("sweep": {"n": [1, 2]}, "minimize": ["makespan"])";
  // One device is faster, and holds 40 MB more than two.
  small.arrays = R"("w_up": {"shape": [20000000], "dtype": "f32", "init": "zeros"},
"w_more": {"shape": ["${if(n == 1, 20000000, 10000000)}"], "dtype": "f32", "init": "zeros"})";
  small.cluster.replace(small.cluster.find("300 MB"), 6, "300 MB");
  const PlanReport report = answered(small);
  CHECK(report.points[*report.best].id == "n=2");
  CHECK(report.what_if[0].results.back().point.id == "n=1");
  CHECK(report.what_if[0].results.back().point.times()->makespan <
        report.points[1].times()->makespan);
}

}  // namespace
}  // namespace orrery::test
