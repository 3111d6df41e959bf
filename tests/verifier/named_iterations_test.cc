// Tests loops of which the scenario names single iterations. Each such loop is written in parts,
// but the times, the memory and the report must be those of the program with all iterations.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/random.h"
#include "tests/support/tries.h"
#include "tests/verifier/long_loops_rig.h"
#include "verifier/long_loops.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

/// Returns a loop over a psum and an add, with an output for each of these iterations.
std::string named(int64_t trips, const std::vector<int64_t>& iterations) {
  std::vector<std::string> outputs = {R"("l")"};
  for (const int64_t iteration : iterations)
    outputs.push_back(fmt::format(R"("l[{}].y")", iteration));
  return R"("program": [)" +
         loop("l", trips, R"("h": "a")",
              R"({"id": "s", "op": "psum", "of": "h", "axis_name": ["x", "y"]},
                 {"id": "y", "op": "add", "of": ["h", "s"]})",
              R"("h": "y")") +
         fmt::format(R"(], "outputs": [{}])", fmt::join(outputs, ", "));
}

TEST_CASE("named iterations: random ones, on links that are shared or not") {
  Random random(11);
  size_t added = 0;
  const size_t random_programs = tries(40);
  for (size_t i = 0; i < random_programs; ++i) {
    const uint64_t trips = 20 + random.below(200);
    std::vector<int64_t> iterations;
    for (uint64_t n = random.below(4); n-- > 0;) {
      const auto iteration = static_cast<int64_t>(random.below(trips - 1));
      if (std::find(iterations.begin(), iterations.end(), iteration) == iterations.end())
        iterations.push_back(iteration);
    }
    const std::string& cluster = random.below(2) == 0 ? kSwitch : kRing;
    std::vector<Fault> faults;
    if (random.below(3) == 0)
      faults.push_back(slow(1, 5, 2));
    const Outcome outcome =
        check_same(scenario_text(cluster, named(static_cast<int64_t>(trips), iterations)), faults);
    CHECK(outcome.left_out);
    added += outcome.added > 0 ? 1 : 0;
  }
  CHECK(added > random_programs / 2);
}

TEST_CASE("named iterations: one of the first, in whose place the last ones name it") {
  for (int64_t iteration = 0; iteration < 6; ++iteration)
    check_same(scenario_text(kSwitch, named(30, {iteration})));
}

TEST_CASE("named iterations: of loops in loops") {
  const std::string program =
      R"("program": [)" +
      loop("l", 30, R"("h": "a")",
           inner_loop() + R"(, {"id": "v", "op": "psum", "of": "m", "axis_name": "y"})",
           R"("h": "v")") +
      "]";
  for (const std::string_view name : {"l[15].v", "l[15].m[20].u", "l[0].m[20].t"})
    CHECK(check_same(scenario_text(kSwitch, program + fmt::format(R"(, "outputs": ["{}"])", name)))
              .added > 0);
}

TEST_CASE("named iterations: random ones of loops in loops") {
  Random random(12);
  for (size_t i = 0; i < tries(12); ++i) {
    const uint64_t trips = 10 + random.below(30);
    std::string program =
        R"("program": [)" +
        loop("l", static_cast<int64_t>(trips), R"("h": "a")",
             inner_loop() + R"(, {"id": "v", "op": "psum", "of": "m", "axis_name": "y"})",
             R"("h": "v")") +
        R"(], "outputs": ["l")";
    for (uint64_t n = 1 + random.below(4); n-- > 0;) {
      const uint64_t outer = random.below(trips);
      const uint64_t inner = random.below(40);
      const std::string name = fmt::format(R"(, "l[{}].m[{}].u")", outer, inner);
      if (program.find(name) == std::string::npos)
        program += name;
    }
    program += "]";
    const std::string& cluster = random.below(2) == 0 ? kSwitch : kRing;
    CHECK(check_same(scenario_text(cluster, program), {slow(1, 5, 2)}).left_out);
  }
}

TEST_CASE("named iterations: of one of two programs whose loops meet") {
  const auto body = [](const std::string& id, const std::string& more) {
    return loop(id + "l", 200, fmt::format(R"("{}h": "a")", id),
                fmt::format(R"({1}{{"id": "{0}s", "op": "psum", "of": "{0}h", "axis_name": "x",
                                    "site": "meet"}},
                               {{"id": "{0}y", "op": "add", "of": ["{0}s", "a"]}})",
                            id, more),
                fmt::format(R"("{0}h": "{0}y")", id));
  };
  const std::string programs = R"("programs": [{"on": {"x": 0}, "do": [)" + body("p", "") +
                               R"(]}, {"on": {"x": 1}, "do": [)" +
                               body("q", R"({"id": "qw", "op": "exp", "of": "qh"},)") +
                               R"(]}], "outputs": ["ql[90].qy"])";
  for (const std::string& cluster : {kSwitch, kRing}) {
    const Outcome outcome = check_same(scenario_text(cluster, programs));
    CHECK(outcome.left_out);
    CHECK(outcome.added > 0);
  }
}

TEST_CASE("named iterations: each of several literal values has a verdict of its own") {
  const auto literal = [](const std::string& name, int element) {
    return fmt::format(R"("{0}": [[{1}], [{1}]])", name, element);
  };
  const auto verdicts = [&](const std::string& values) {
    const std::string text = fmt::format(
        R"({{"orrery": 1, "check_types": false, "mesh": {{"x": 2}},
            "cluster": {{"devices": 2, "topology": "switch", "bandwidth": "1 GB/s", "latency": "1 us"}},
            "arrays": {{"a": {{"shape": [], "dtype": "s32", "init": "ones"}}}},
            "program": [{}], "expect": [{{"values": {{{}}}}}]}})",
        loop("l", 1'000'000, R"("h": "a")",
             R"({"id": "s", "op": "psum", "of": "h", "axis_name": "x"},
                {"id": "y", "op": "sub", "of": ["s", "a"]})",
             R"("h": "y")"),
        values);
    std::vector<Verdict> found;
    for (const Check& check : run(read_scenario("f", text), {}).checks)
      if (check.name == "VALUES.LITERAL")
        found.push_back(check.verdict);
    return found;
  };
  using Verdicts = std::vector<Verdict>;
  const std::string right = literal("l[0].s", 2);
  CHECK(verdicts(right + ", " + literal("l[1].s", 3)) == Verdicts{Verdict::Holds, Verdict::Fails});
  CHECK(verdicts(literal("l[1].s", 3) + ", " + right) == Verdicts{Verdict::Fails, Verdict::Holds});
}

Report report_of(const std::string& program, uint64_t most_ops_shown = 200'000) {
  RunOptions options;
  options.most_ops_shown = most_ops_shown;
  return run(read_scenario("f", scenario_text(kSwitch, program)), options);
}

/// Returns when the op ends on device 0.
Instant end_of(const Report& report, const std::string& name) {
  const std::vector<Op>& ops = report.scenario->program.ops;
  const auto op =
      std::find_if(ops.begin(), ops.end(), [&](const Op& each) { return each.name == name; });
  REQUIRE(op != ops.end());
  return report.completion->spans[static_cast<size_t>(op - ops.begin())].front().end;
}

TEST_CASE("named iterations: one of a million, within the limits") {
  const Report report = report_of(named(1'000'000, {500'000}));
  CHECK(report.scenario->program.ops.size() < 30);
  // Every iteration takes as long as the second.
  const Instant first = end_of(report, "l[0].y");
  const Duration each = end_of(report, "l[1].y") - first;
  CHECK(end_of(report, "l[500000].y") == first + each * 500'000);
  CHECK(end_of(report, "l[999999].y") == first + each * 999'999);
  // The named value lives to the end, beside "a", the carried value, the sum and the new value.
  const Bytes value(4096);
  CHECK(report_of(named(1'000'000, {})).memory.largest_peak() + value ==
        report.memory.largest_peak());
  const auto has_label = [&](std::string_view begin) {
    return std::any_of(report.labels.begin(), report.labels.end(),
                       [&](const std::string& label) { return label.find(begin) == 0; });
  };
  CHECK(has_label(
      "loops: only the first and the last iterations, and those that are named, are shown"));
  CHECK(has_label("\"l\": "));
}

TEST_CASE("named iterations: an expectation is checked where values are computed") {
  const std::string expect = R"(, "expect": [{"equal": ["l[5].s", "l[15].h2"]}])";
  const auto program = [&](int64_t trips) {
    return R"("program": [)" +
           loop("l", trips, R"("h": "a")",
                R"({"id": "s", "op": "psum", "of": "a", "axis_name": "x"},
                   {"id": "h2", "op": "psum", "of": "a", "axis_name": "x"})",
                R"("h": "s")") +
           "]" + expect;
  };
  const Report few = report_of(program(30));
  const Report many = report_of(program(1'000'000));
  CHECK(few.holds());
  CHECK(many.holds());
  CHECK(many.checks.back().message == few.checks.back().message);
}

TEST_CASE("named iterations: the first ones decide what does not depend on later ones") {
  const auto many = [](const std::string& expect) {
    const std::string program =
        R"("program": [)" +
        loop("l", 1'000'000, R"("h": "a")",
             R"({"id": "s", "op": "psum", "of": "h", "axis_name": "x"},
                {"id": "y", "op": "neg", "of": "s"})",
             R"("h": "y")") +
        R"(, {"id": "z", "op": "psum", "of": "l", "axis_name": "x"}], "expect": [)" + expect + "]";
    return read_scenario("f", scenario_text(kSwitch, program));
  };
  const auto decided = [&](const std::string& expect, uint64_t budget, const Limits& limits = {}) {
    const std::optional<FirstIterations> first = first_iterations(many(expect), budget, limits);
    return first ? first->decided.size() : 0;
  };
  const std::string near = R"({"equal": ["l[3].s", "l[7].s"]})";
  const std::string far = R"({"close": ["l[400000].s", "l[7].s"]})";
  const std::string last = R"({"equal": ["z", "l[7].s"]})";
  CHECK(decided(near, 1000) == 1);
  // There are 8 iterations of 2 ops, and the psum, on 4 devices.
  CHECK(decided(near, 4 * (2 * 8 + 1)) == 1);
  CHECK(decided(near, 4 * (2 * 8 + 1) - 1) == 0);
  CHECK(decided(far, 1000) == 0);
  Limits many_ops;
  many_ops.ops = 1'000'000;
  CHECK(decided(far, 4'000'000, many_ops) == 1);
  CHECK(decided(far, 4'000'000) == 0);
  CHECK(decided(last, 4'000'000) == 0);
  CHECK(decided(near + "," + far + "," + last, 1000) == 1);
  Limits few;
  few.ops = 10;
  CHECK(decided(near, 1000, few) == 0);
  CHECK(decided(R"({"makespan": {"at_most": "1 s"}})", 1000) == 0);
}

TEST_CASE("named iterations: first ones of a loop in a loop, which may be long itself") {
  const auto decided = [](int64_t outer, int64_t inner, uint64_t budget) {
    const std::string program =
        R"("program": [)" +
        loop("l", outer, R"("h": "a")",
             loop("m", inner, R"("g": "h")", R"({"id": "t", "op": "neg", "of": "g"})",
                  R"("g": "t")") +
                 R"(, {"id": "s", "op": "psum", "of": "m", "axis_name": "x"})",
             R"("h": "s")") +
        R"(], "expect": [{"equal": ["l[3].m[5].t", "l[3].m[7].t"]}])";
    const Scenario scenario = read_scenario("f", scenario_text(kSwitch, program));
    const std::optional<FirstIterations> first = first_iterations(scenario, budget, Limits());
    return first && first->decided.size() == 1;
  };
  // The inner loop is whole: its carried result goes into the next outer iteration. On 4 devices,
  // each of 4 outer iterations has the ops of the inner loop, and the psum.
  CHECK(decided(1'000'000, 20, 4 * 4 * 21));
  CHECK_FALSE(decided(1'000'000, 20, 4 * 4 * 21 - 1));
}

TEST_CASE(
    "named iterations: each loop is cut by itself, and one that is not read to one iteration") {
  const auto neg = [](const std::string& of) {
    return R"({"id": "t", "op": "neg", "of": ")" + of + R"("})";
  };
  const std::string program =
      R"("program": [)" + loop("p", 1'000'000, R"("g": "a")", neg("g"), R"("g": "t")") + ", " +
      loop("q", 20, R"("g": "a")", neg("g"), R"("g": "t")") + ", " +
      loop("l", 1'000'000, R"("h": "q")",
           loop("m", 1'000'000, R"("g": "h")", neg("g"), R"("g": "t")") +
               R"(, {"id": "s", "op": "psum", "of": "h", "axis_name": "x"})",
           R"("h": "s")") +
      R"(], "expect": [{"equal": ["l[2].m[50].t", "l[2].m[40].t"]},
                       {"equal": ["p", "a"]}, {"equal": ["q", "a"]}])";
  const Scenario scenario = read_scenario("f", scenario_text(kSwitch, program));
  const auto decided = [&](uint64_t budget) {
    const std::optional<FirstIterations> first = first_iterations(scenario, budget, Limits());
    return first ? first->decided : std::vector<size_t>();
  };
  // On 4 devices: an iteration of p, all of q, and 3 of l, each with 51 of m and the psum. The
  // expectation on q alone needs one iteration of each other loop.
  CHECK(decided(4 * (1 + 20 + 3 * (51 + 1))) == std::vector<size_t>{0, 2});
  CHECK(decided(4 * (1 + 20 + 3 * (51 + 1)) - 1) == std::vector<size_t>{2});
  CHECK(decided(4 * (1 + 20 + 2)) == std::vector<size_t>{2});
  CHECK(decided(4 * (1 + 20 + 2) - 1).empty());
}

TEST_CASE("named iterations: the first half of a loop decides what would take too long to write") {
  // The inner loop is whole, with 60,000 ops on 4 devices in each of the two iterations that come
  // before the one that is named.
  const std::string program =
      R"("program": [)" +
      loop("l", 1'000'000, R"("h": "a")",
           loop("m", 60'000, R"("g": "h")", R"({"id": "t", "op": "neg", "of": "g"})",
                R"("g": "t")") +
               R"(, {"id": "s", "op": "pmax", "of": "m", "axis_name": "x"})",
           R"("h": "s")") +
      R"(], "expect": [{"equal": ["l[1].m[0].t", "l[1].m[2].t"]}])";
  const Report report = report_of(program);
  CHECK(report.checks.back().name == "VALUES.EQUAL");
  CHECK(report.holds());
}

TEST_CASE("named iterations: a value of loops in loops takes as many as the loop that needs most") {
  const std::string inner = loop("m", 1'000'000, R"("g": "h")",
                                 R"({"id": "s", "op": "psum", "of": "g", "axis_name": "x"},
                                    {"id": "y", "op": "neg", "of": "s"})",
                                 R"("g": "y")") +
                            R"(, {"id": "v", "op": "neg", "of": "h"})";
  for (const std::string where : {"l[5].m[0]", "l[0].m[5]"}) {
    CAPTURE(where);
    const Scenario scenario = read_scenario(
        "f",
        scenario_text(
            kSwitch, R"("program": [)" + loop("l", 1'000'000, R"("h": "a")", inner, R"("h": "v")") +
                         fmt::format(R"(], "expect": [{{"equal": ["{0}.s", "{0}.y"]}}])", where)));
    const std::optional<FirstIterations> first = first_iterations(scenario, 1000, Limits());
    REQUIRE(first);
    CHECK(first->decided == std::vector<size_t>{0});
  }
}

TEST_CASE("named iterations: those of an inner loop that the body of the outer one reads") {
  // The three values live at once, to the end of the inner loop.
  const std::string program =
      R"("program": [)" +
      loop("l", 50, R"("h": "a")",
           loop("m", 100, R"("g": "h")",
                R"({"id": "t", "op": "psum", "of": "g", "axis_name": "x"})", R"("g": "t")") +
               R"(, {"id": "u", "op": "add", "of": ["l[].m[50].t", "l[].m[60].t"]},
                   {"id": "v", "op": "add", "of": ["u", "l[].m[40].t"]})",
           R"("h": "v")") +
      "]";
  CHECK(check_same(scenario_text(kSwitch, program)).left_out);
}

}  // namespace
}  // namespace orrery::test
