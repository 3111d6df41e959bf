// Tests that each hardware fault changes exactly what it should.

#include <algorithm>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/base/random.h"
#include "models/program/loops.h"
#include "models/scenario/reader.h"
#include "simulator/lower/lower.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"
#include "tests/support/property.h"
#include "tests/support/units.h"
#include "tests/verifier/scenario_rig.h"

using namespace orrery;
using namespace orrery::test;

namespace {

// The rig's links have 1 GB/s and 1 us; its devices have 1 TB/s and 1 TFLOP/s, and no launch.

/// Returns a computation of 2 us, an all-reduce of 32 B on a ring of `devices` devices, and an
/// addition of 96 ps (3 x 32 B at 1 TB/s). There are enough slots that no send waits for a slot.
ScenarioParts compute_reduce_add(int devices, const std::string& faults) {
  ScenarioParts parts;
  parts.mesh = fmt::format(R"({{"x": {}}})", devices);
  parts.arrays = fmt::format(
      R"({{"a": {{"shape": [{}], "dtype": "f32", "spec": ["x"], "init": "iota"}}}})", 8 * devices);
  parts.program =
      R"([{"id": "c", "op": "compute", "flops": "2 MFLOP", "bytes": "0 B", "dtype": "f32"},
          {"id": "r", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring", "slots": 6},
          {"id": "e", "op": "add", "of": ["a", "r"]}])";
  parts.outputs = R"(["e"])";
  parts.faults = faults;
  return parts;
}

/// `Spans` are the start and end of an op on each device.
using Spans = std::vector<std::pair<int64_t, int64_t>>;
Spans spans(const Ran& ran, const std::string& name) {
  const Program& program = ran.report.scenario->program;
  Spans result;
  for (size_t i = 0; i < program.ops.size(); ++i)
    if (program.ops[i].name == name)
      for (const OpSpan& span : ran.report.completion->spans[i])
        result.emplace_back(span.entered.picoseconds(), span.end.picoseconds());
  return result;
}

/// Checks that everything except times is equal: values, memory, verdicts, messages, and the
/// choices with their reasons.
void same_but_for_time(const Ran& a, const Ran& b) {
  CHECK(a.report.completion->digest == b.report.completion->digest);
  CHECK(a.report.completion->messages == b.report.completion->messages);
  for (uint32_t v = 0; v < a.report.scenario->program.values.size(); ++v)
    for (uint32_t d = 0; d < a.report.scenario->program.mesh.devices(); ++d)
      CHECK(a.report.values->at(ValueId(v), LogicalId(d)) ==
            b.report.values->at(ValueId(v), LogicalId(d)));
  REQUIRE(a.report.memory.lists.size() == b.report.memory.lists.size());
  for (size_t t = 0; t < a.report.memory.lists.size(); ++t) {
    CHECK(a.report.memory.lists[t].live == b.report.memory.lists[t].live);
    CHECK(a.report.memory.lists[t].arena == b.report.memory.lists[t].arena);
  }
  for (size_t i = 0; i < a.report.ops.size(); ++i) {
    CHECK(a.report.ops[i].messages == b.report.ops[i].messages);
    CHECK(a.report.ops[i].bytes == b.report.ops[i].bytes);
    if (a.report.ops[i].choice) {
      CHECK(a.report.ops[i].choice->algorithm == b.report.ops[i].choice->algorithm);
      CHECK(a.report.ops[i].choice->because == b.report.ops[i].choice->because);
    }
  }
  size_t at = 0;  // among the checks of a
  for (const Check& check : b.report.checks) {
    CHECK(check.holds());
    if (check.name == "ROUTE.LEFT")
      continue;
    CHECK(check.name == a.report.checks[at++].name);
  }
  CHECK(at == a.report.checks.size());
}

/// Runs the program with the fault. Compares it with the run without the fault.
Ran faulty(int devices, const std::string& faults) {
  Ran ran = run_parts(compute_reduce_add(devices, faults));
  same_but_for_time(run_parts(compute_reduce_add(devices, "[]")), ran);
  return ran;
}

TEST_CASE("jitter: each iteration of a long loop has an amount of its own") {
  test::ScenarioParts parts;
  parts.program = R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 200, "carry": {"h": "a"},
"body": [{"id": "y", "op": "add", "of": ["h", "h"]}], "yield": {"h": "y"}}])";
  RunOptions options;
  options.data = Data::Off;
  options.most_ops_shown = 0;
  CHECK(leaves_out_iterations(test::run_parts(parts, options).report.scenario->program));
  parts.faults = R"([{"jitter": {"ops": "1 us"}}])";
  const Report few = test::run_parts(parts, options).report;
  CHECK(few.scenario->program.ops.size() < 10);
  options.most_ops_shown.reset();
  const Report report = test::run_parts(parts, options).report;
  CHECK(report.scenario->program.ops.size() == 200);
  CHECK(few.completion->makespan == report.completion->makespan);
  CHECK(few.fingerprint == report.fingerprint);
  std::set<Duration> durations;
  for (size_t op = 0; op < report.completion->spans.size(); ++op) {
    const OpSpan& span = report.completion->spans[op].front();
    durations.insert(span.end - span.entered);
  }
  CHECK(durations.size() > 100);
}

}  // namespace

TEST_CASE("no fault: the times that the others are compared with") {
  const Ran two = run_parts(compute_reduce_add(2, "[]"));
  // There are two hops of 1 us and 16 B at 1 GB/s.
  CHECK(spans(two, "r") == Spans{{2 * kUs, 4'032'000}, {2 * kUs, 4'032'000}});
  const Ran four = run_parts(compute_reduce_add(4, "[]"));
  // There are six hops of 1 us and 8 B at 1 GB/s.
  CHECK(spans(four, "r") == Spans(4, {2 * kUs, 8'048'000}));
  CHECK(spans(four, "e") == Spans(4, {8'048'000, 8'048'096}));
  CHECK(four.report.faults.empty());
}

TEST_CASE("slow device: its local ops take longer, and devices that need it wait") {
  const Ran ran = faulty(2, R"([{"slow_device": 1, "factor": 1.5}])");
  CHECK(spans(ran, "c") == Spans{{0, 2 * kUs}, {0, 3 * kUs}});
  // Device 1 sends its chunk over [3, 3.016] us, and device 0 has it at 4.016. Device 0 ends when
  // device 1's reduced chunk arrives, sent over [3.016, 3.032]. Device 0 sends its own over [4.016,
  // 4.032].
  CHECK(spans(ran, "r") == Spans{{2 * kUs, 4'032'000}, {3 * kUs, 5'032'000}});
  CHECK(spans(ran, "e") == Spans{{4'032'000, 4'032'096}, {5'032'000, 5'032'144}});
  CHECK(ran.report.completion->by == TimedBy::Sweep);
  CHECK(ran.report.faults ==
        std::vector<std::string>{"Device 1 is slow: its local ops take 1.5 times as long."});
}

TEST_CASE("slow device: an op's time rounds up") {
  // The time is 96 ps and one millionth of it.
  const Ran ran = faulty(2, R"([{"slow_device": 0, "factor": 1.000001}])");
  CHECK(spans(ran, "e")[0].second - spans(ran, "e")[0].first == 97);
}

TEST_CASE("late start: the device begins later, and devices that need it wait") {
  const Ran ran = faulty(2, R"([{"late_start": 1, "by": "5 us"}])");
  CHECK(spans(ran, "c") == Spans{{0, 2 * kUs}, {5 * kUs, 7 * kUs}});
  // The times are as behind a slow device that enters at 7 us.
  CHECK(spans(ran, "r") == Spans{{2 * kUs, 8'032'000}, {7 * kUs, 9'032'000}});
}

TEST_CASE("slow link: a message takes exactly so many times as long, whatever the factor") {
  // One chunk of n x 4 B goes over the link, at 1 GB/s 4 ns per element, rounded up to whole ps.
  // Device 1 gets one message over the link, and sends one that is not slow.
  const auto hop = [](const std::string& factor, int elements) {
    ScenarioParts parts;
    parts.mesh = R"({"x": 2})";
    parts.devices = 2;
    parts.arrays =
        fmt::format(R"({{"a": {{"shape": [{}], "dtype": "f32", "spec": ["x"], "init": "iota"}}}})",
                    2 * elements);
    parts.program =
        R"([{"id": "p", "op": "ppermute", "of": "a", "axis_name": "x", "perm": [[0, 1]]}])";
    parts.outputs = R"(["p"])";
    parts.faults =
        fmt::format(R"([{{"slow_link": {{"from": 0, "to": 1}}, "factor": {}}}])", factor);
    const Ran ran = run_parts(parts);
    CHECK(ran.report.labels.at(0) == "algorithms: chosen for the links without their faults");
    return ran.report.completion->makespan.picoseconds() - kUs;
  };
  CHECK(hop("3", 16) == 3 * 64'000);
  CHECK(hop("1.3", 10) == 13 * 4'000);
  CHECK(hop("7", 1) == 28'000);
  CHECK(hop("1.01", 1) == 4'040);
  CHECK(hop("1.37", 100) == 548'000);
}

TEST_CASE("slow link: a ratio of too many parts is rounded down, and labelled") {
  const Ran ran = faulty(4, R"([{"slow_link": {"from": 0, "to": 1}, "factor": 1.000003}])");
  CHECK(ran.report.labels.at(1) ==
        "link device 0 -> device 1: 1 GB/s divided by 1.000003 is rounded down to whole B/s");
  // 10^9 / 1.5 is 2,000,000,000 thirds, so the other link is still exact.
  const Ran two = faulty(4, R"([{"slow_link": {"from": 0, "to": 1}, "factor": 1.000003},
                                {"slow_link": {"from": 1, "to": 2}, "factor": 1.5}])");
  CHECK(two.report.labels.at(1) ==
        "link device 0 -> device 1: 1 GB/s divided by 1.000003 is rounded down to 1/3 B/s");
  CHECK(two.report.fabric().rate_parts() == 3);
  const LinkId slow = two.report.fabric().links_between(VertexId(1), VertexId(2)).front();
  CHECK(two.report.fabric().link(slow).bandwidth == BytesPerSecond(2'000'000'000));
}

TEST_CASE("slow link: in any order, those of the most parts are rounded down") {
  // 1 GB/s is divided by 7, 11 and 13: the first two make 77 parts, and 1,001 would be too many.
  std::vector<std::string> faults = {R"({"slow_link": {"from": 0, "to": 1}, "factor": 7})",
                                     R"({"slow_link": {"from": 1, "to": 2}, "factor": 11})",
                                     R"({"slow_link": {"from": 2, "to": 3}, "factor": 13})"};
  std::sort(faults.begin(), faults.end());
  do {
    const std::string list = "[" + faults[0] + "," + faults[1] + "," + faults[2] + "]";
    CAPTURE(list);
    const Ran ran = faulty(4, list);
    const Fabric& fabric = ran.report.fabric();
    CHECK(fabric.rate_parts() == 77);
    const auto bandwidth = [&](uint32_t from) {
      return fabric.link(fabric.links_between(VertexId(from), VertexId(from + 1)).front())
          .bandwidth.count();
    };
    CHECK(bandwidth(0) == 11'000'000'000);
    CHECK(bandwidth(1) == 7'000'000'000);
    CHECK(bandwidth(2) == 77'000'000'000 / 13);
    CHECK(ran.report.labels.at(1) ==
          "link device 2 -> device 3: 1 GB/s divided by 13 is rounded down to 1/77 B/s");
  } while (std::next_permutation(faults.begin(), faults.end()));
}

TEST_CASE("slow link: a fast link leaves room for fewer parts") {
  // 2^63 / 27,720 units of a share are 332 parts of 10^12 B/s, and 665 of half of that.
  const auto parts = [](const std::string& bandwidth, int factor) {
    ScenarioParts scenario = compute_reduce_add(
        4, fmt::format(R"([{{"slow_link": {{"from": 0, "to": 1}}, "factor": {}}}])", factor));
    scenario.bandwidth = bandwidth;
    return run_parts(scenario).report.fabric().rate_parts();
  };
  CHECK(parts("1 TB/s", 331) == 331);
  CHECK(parts("1 TB/s", 337) == 1);
  CHECK(parts("500 GB/s", 509) == 509);
  CHECK(parts("500 GB/s", 521) == 1);
}

TEST_CASE("slow link: why its program is not swept is said in exact parts") {
  ScenarioParts parts =
      compute_reduce_add(8, R"([{"slow_link": {"from": 0, "to": 1}, "factor": 3}])");
  parts.devices = 8;
  // Doubling sends from 0 to 4 and from 6 to 2 over the link.
  parts.program =
      R"([{"id": "p", "op": "ppermute", "of": "a", "axis_name": "x", "perm": [[0, 1], [3, 2]]},
          {"id": "s", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "recursive_doubling"}])";
  parts.outputs = R"(["s"])";
  CHECK(run_parts(parts).report.completion->because ==
        "link device 0 -> device 1 has 333333333 1/3 B/s, and 2 chains of messages may ask it for "
        "666666666 2/3 B/s");
}

TEST_CASE("slow link: each message over it takes longer") {
  // Six hops end on each device. One of the hops to device 0 crosses the link, two to device 1, two
  // to device 2 and one to device 3. A chunk takes 16 ns there instead of 8.
  const Spans once_or_twice = {
      {2 * kUs, 8'056'000}, {2 * kUs, 8'064'000}, {2 * kUs, 8'064'000}, {2 * kUs, 8'056'000}};
  const Ran half = faulty(4, R"([{"slow_link": {"from": 0, "to": 1}, "factor": 2}])");
  CHECK(spans(half, "c") == Spans(4, {0, 2 * kUs}));
  CHECK(spans(half, "r") == once_or_twice);
  CHECK(half.report.labels.front() == "algorithms: chosen for the links without their faults");
  const Ran given = faulty(4, R"([{"slow_link": {"from": 0, "to": 1}, "bandwidth": "500 MB/s"}])");
  CHECK(spans(given, "r") == once_or_twice);
  // The hops are the same, each 1 us longer.
  const Ran far = faulty(4, R"([{"slow_link": {"from": 0, "to": 1}, "latency": "2 us"}])");
  CHECK(spans(far, "r") == Spans{{2 * kUs, 9'048'000},
                                 {2 * kUs, 10'048'000},
                                 {2 * kUs, 10'048'000},
                                 {2 * kUs, 9'048'000}});
}

TEST_CASE("slow link: an unused one changes nothing") {
  const Ran ran = faulty(4, R"([{"slow_link": {"from": 1, "to": 0}, "factor": 100}])");
  CHECK(spans(ran, "r") == Spans(4, {2 * kUs, 8'048'000}));
}

TEST_CASE("cut link: its messages take another route, here two links longer") {
  const Ran ran = faulty(4, R"([{"cut_link": {"from": 0, "to": 1}}])");
  // The route is 0 -> 3 -> 2 -> 1. Each hop over the link takes 2 us more; the bandwidth is the
  // same.
  CHECK(spans(ran, "r") == Spans{{2 * kUs, 10'048'000},
                                 {2 * kUs, 12'048'000},
                                 {2 * kUs, 12'048'000},
                                 {2 * kUs, 10'048'000}});
  CHECK(ran.report.completion->by == TimedBy::Sweep);
  CHECK(ran.check("ROUTE.LEFT").message ==
        "Every message has a route over the links that are not cut.");
}

TEST_CASE("cut link: where the other route is in use, the link is shared") {
  ScenarioParts parts;
  parts.program =
      R"([{"id": "m", "op": "ppermute", "of": "a", "axis_name": "x", "perm": [[0, 1], [3, 2]]}])";
  const Ran healthy = run_parts(parts);
  // The makespan is 32 B at 1 GB/s, and 1 us.
  CHECK(healthy.report.completion->makespan == Instant(1'032'000));
  CHECK(healthy.report.completion->by == TimedBy::Sweep);
  parts.faults = R"([{"cut_link": {"from": 0, "to": 1}}])";
  const Ran ran = run_parts(parts);
  // 0 -> 3 -> 2 -> 1 and 3 -> 2 share the link 3 -> 2: each has half of it to the end, for 64 ns.
  CHECK(ran.report.completion->makespan == Instant(3'064'000));
  CHECK(spans(ran, "m")[2].second == 1'064'000);
  CHECK(ran.report.completion->by == TimedBy::Engine);
  same_but_for_time(healthy, ran);
}

TEST_CASE(
    "cut link: without another route the verdict names the collective, the devices, the link") {
  ScenarioParts parts = compute_reduce_add(
      4, R"([{"cut_link": {"from": 0, "to": 3}}, {"cut_link": {"from": 0, "to": 1}}])");
  parts.expect = R"([{"makespan": {"at_most": "1 s"}}, {"holds": ["deadlock_free"]}])";
  const Ran ran = run_parts(parts);
  CHECK(ran.report.verdict == Verdict::Fails);
  const Check& check = ran.check("ROUTE.LEFT");
  const std::string message =
      "\"r\" cannot end: device 0 sends to device 1, and no route is left since the link device 0 "
      "-> device 1 is cut.";
  CHECK(check.message == message);
  CHECK(check.of == "/program/1");
  CHECK(check.witness ==
        std::vector<std::pair<std::string, std::string>>{{"collective", "r"},
                                                         {"from", "device 0"},
                                                         {"to", "device 1"},
                                                         {"cut_link", "device 0 -> device 1"}});
  CHECK_FALSE(ran.report.completion);
  CHECK_FALSE(ran.report.values);
  // No check says that the program ends.
  CHECK(ran.broken() == std::vector<std::string>{"ROUTE.LEFT", "TIME.MAKESPAN", "PROPERTY.HOLDS"});
  for (const Check& other : ran.report.checks)
    CHECK(other.name != "DEADLOCK.FREE");
  CHECK(ran.check("TIME.MAKESPAN").message == "Undecided: the program cannot end.");
  CHECK(ran.check("PROPERTY.HOLDS").message == "deadlock_free does not hold: " + message);
}

TEST_CASE("cut link: a device that no other needs may be cut off") {
  ScenarioParts parts = compute_reduce_add(
      4, R"([{"cut_link": {"from": 0, "to": 3}}, {"cut_link": {"from": 0, "to": 1}}])");
  parts.program =
      R"([{"id": "m", "op": "ppermute", "of": "a", "axis_name": "x", "perm": [[1, 2]]}])";
  parts.outputs = "[]";
  CHECK(run_parts(parts).broken().empty());
}

TEST_CASE("jitter: local ops take longer by a draw of the seed, at most the bound") {
  const std::string faults = R"([{"jitter": {"ops": "500 ns"}}])";
  const Ran ran = faulty(4, faults);
  std::set<int64_t> times;
  for (const auto& [start, end] : spans(ran, "c")) {
    CHECK(end >= 2 * kUs);
    CHECK(end <= 2 * kUs + 500'000);
    times.insert(end);
  }
  CHECK(times.size() == 4);  // of half a million each
  CHECK(spans(run_parts(compute_reduce_add(4, faults)), "c") == spans(ran, "c"));
  RunOptions other;
  other.seed = 1;
  CHECK(spans(run_parts(compute_reduce_add(4, faults), other), "c") != spans(ran, "c"));
  CHECK(ran.report.faults ==
        std::vector<std::string>{"Jitter of seed 0: local ops take up to 500 ns longer."});
}

TEST_CASE("jitter: a draw does not depend on the rest of the program; ops of no time have none") {
  ScenarioParts parts = compute_reduce_add(4, R"([{"jitter": {"ops": "500 ns"}}])");
  const Spans before = spans(run_parts(parts), "c");
  parts.program.insert(1, R"({"id": "v", "op": "reshape", "of": "a", "new_sizes": [2, 4]},)");
  const Ran ran = run_parts(parts);
  CHECK(spans(ran, "c") == before);
  CHECK(spans(ran, "v") == Spans(4, {0, 0}));
}

TEST_CASE("jitter: both ends of the range are drawn") {
  const Ran ran = faulty(4, R"([{"jitter": {"ops": "1 ps"}}])");
  std::set<int64_t> added;
  for (const char* op : {"c", "e"})
    for (const auto& [start, end] : spans(ran, op))
      added.insert(end - start - (op[0] == 'c' ? 2 * kUs : 96));
  CHECK(added == std::set<int64_t>{0, 1});
}

TEST_CASE("jitter: a link's latency is longer by one draw for the whole run") {
  ScenarioParts parts;
  parts.program =
      R"([{"id": "m", "op": "ppermute", "of": "a", "axis_name": "x", "perm": [[0, 1]]},
          {"id": "n", "op": "ppermute", "of": "m", "axis_name": "x", "perm": [[0, 1]]}])";
  parts.faults = R"([{"jitter": {"links": "100 ns"}}])";
  const Spans first = spans(run_parts(parts), "m");
  const Spans second = spans(run_parts(parts), "n");
  const int64_t took = first[1].second - first[0].first;
  // The hop takes 32 ns and 1 us, and up to 100 ns more.
  CHECK(took > 1'032'000);
  CHECK(took <= 1'132'000);
  CHECK(second[1].second - second[0].first == took);
}

TEST_CASE("faults: their order has no effect") {
  const std::string jitter = R"({"jitter": {"ops": "1 us", "links": "1 us"}})";
  const std::string slow = R"({"slow_link": {"from": 0, "to": 1}, "latency": "2 us"})";
  const std::string device = R"({"slow_device": 0, "factor": 3})";
  CHECK(
      spans(run_parts(compute_reduce_add(4, "[" + jitter + "," + slow + "," + device + "]")),
            "e") ==
      spans(run_parts(compute_reduce_add(4, "[" + device + "," + slow + "," + jitter + "]")), "e"));
}

TEST_CASE("faults: times that leave 64 bits are wrong input") {
  CHECK_THROWS_AS(
      run_parts(compute_reduce_add(4, R"([{"late_start": 0, "by": "9223372036854775807 ps"}])")),
      InputError);
}

TEST_CASE("faults: sweep and engine agree to the picosecond under any") {
  holds_for_all("sweep is engine", [](uint64_t seed) {
    Random random(seed);
    std::string faults = fmt::format(R"([{{"jitter": {{"ops": "{} ps", "links": "{} ps"}}}})",
                                     random.below(1000), random.below(2 * kUs));
    faults += fmt::format(R"(, {{"slow_device": {}, "factor": {}.{:06}}})", random.below(4),
                          1 + random.below(3), random.below(1'000'000));
    faults += fmt::format(R"(, {{"late_start": {}, "by": "{} ps"}})", random.below(4),
                          random.below(5 * kUs));
    const uint64_t slow = random.below(4);
    const uint64_t whole = 1 + random.below(9);
    const uint64_t hundredths = random.below(100);
    faults += fmt::format(R"(, {{"slow_link": {{"from": {}, "to": {}}}, "factor": {}.{:02}}})",
                          slow, (slow + 1) % 4, whole, hundredths);
    if (random.below(2) == 0)
      faults += fmt::format(R"(, {{"cut_link": {{"from": {}, "to": {}}}}})", (slow + 1) % 4,
                            (slow + 2) % 4);
    const Ran ran = run_parts(compute_reduce_add(4, faults + "]"));
    const Scenario& scenario = *ran.report.scenario;
    Diagnostics diagnostics("f");
    Lowered lowered = lower(scenario.program, scenario.cluster, diagnostics);
    const FaultEffects fault_effects =
        apply_faults(scenario.faults, scenario.program, scenario.cluster.fabric, 0, lowered);
    const auto swept =
        sweep(scenario.program, lowered, *fault_effects.fabric, {fault_effects.device_start});
    EngineOptions options;
    options.device_start = fault_effects.device_start;
    const Completion run = simulate(scenario.program, lowered, *fault_effects.fabric, options);
    RC_ASSERT(std::get<Completion>(swept).spans == run.spans);
    RC_ASSERT(ran.report.completion->spans == run.spans);
  });
}
