// Tests that a program which leaves out iterations of its loops has the times and the memory of the
// program with all iterations.

#include "verifier/long_loops.h"

#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/random.h"
#include "models/program/loops.h"
#include "tests/support/tries.h"
#include "tests/verifier/long_loops_rig.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

TEST_CASE("long loops: one iteration after the other is added up at once") {
  const std::string body = R"({"id": "s", "op": "psum", "of": "h", "axis_name": ["x", "y"]},
                              {"id": "y", "op": "add", "of": ["h", "s"]})";
  const auto program = [&](int64_t trips) {
    return R"("program": [)" + loop("l", trips, R"("h": "a")", body, R"("h": "y")") +
           R"(, {"id": "z", "op": "psum", "of": "l", "axis_name": "x"}])";
  };
  for (const int64_t trips : {4, 5, 6, 7, 30}) {
    const Outcome outcome = check_same(scenario_text(kSwitch, program(trips)));
    CHECK(outcome.left_out == (trips > 5));
  }
  // In 10^9 iterations, 2 ops are written for each of 5 iterations, and all but a few are added up.
  Timed many(scenario_text(kSwitch, program(1'000'000'000)), LongLoops::LeftOut, {});
  Timed ten(scenario_text(kSwitch, program(10)), LongLoops::LeftOut, {});
  Timed eleven(scenario_text(kSwitch, program(11)), LongLoops::LeftOut, {});
  CHECK(many.scenario.program.ops.size() == ten.scenario.program.ops.size());
  const Duration each = eleven.stages.times()->makespan - ten.stages.times()->makespan;
  CHECK(many.stages.times()->makespan == ten.stages.times()->makespan + each * 999'999'990);
  CHECK(many.stages.times()->added[0].count > 999'999'900);
  CHECK(many.stages.times()->added[0].later == each);
}

TEST_CASE("long loops: the critical path has the iterations that are added up as one period") {
  // The last device of the ring that computes is one or the other, so two iterations are a period.
  const auto program = [](int64_t trips) {
    return R"("program": [)" +
           loop("l", trips, R"("h": "a")",
                R"({"id": "s", "op": "psum", "of": "h", "axis_name": ["x", "y"]},
                   {"id": "y", "op": "add", "of": ["h", "s"]})",
                R"("h": "y")") +
           "]";
  };
  Timed many(scenario_text(kRing, program(1'000'000'000)), LongLoops::LeftOut, {});
  const std::optional<Completion>& times = many.stages.times();
  const auto path = std::get<std::vector<PathEntry>>(many.stages.critical_path());
  CHECK(path.size() < 40);
  Duration takes;
  uint64_t stretches = 0;
  for (const PathEntry& entry : path) {
    takes += entry.takes();
    stretches += entry.times();
  }
  CHECK(takes == times->makespan - Instant());
  CHECK(stretches == 2'000'000'000);
}

TEST_CASE(
    "long loops: to show single runs, all are written, and too many are refused by their number") {
  RunOptions options;
  options.most_ops_shown.reset();
  const std::string text =
      scenario_text(kSwitch, R"("program": [)" +
                                 loop("l", 1'000'000, R"("h": "a")",
                                      R"({"id": "s", "op": "psum", "of": "h", "axis_name": "x"},
                           {"id": "y", "op": "add", "of": ["h", "s"]})",
                                      R"("h": "y")") +
                                 "]");
  const std::string expected =
      "to show any single run of an op, all iterations are written: expected at most 262144 ops, "
      "got 2000000 (--limit ops=N allows more)";
  CHECK_THROWS_WITH_AS(run(read_scenario("f", text), options), ("f: " + expected).c_str(),
                       InputError);
}

TEST_CASE(
    "long loops: values that roundings move are compared by bounds that go through all "
    "iterations") {
  const std::string text =
      scenario_text(kSwitch, R"("program": [)" +
                                 loop("l", 20, R"("h": "a")",
                                      R"({"id": "s", "op": "pmean", "of": "h", "axis_name": "x"},
                                         {"id": "y", "op": "neg", "of": "s"})",
                                      R"("h": "y")") +
                                 R"(, {"id": "more", "op": "add", "of": ["l", "a"]},
                                      {"id": "z", "op": "sub", "of": ["more", "a"]}],
                                     "expect": [{"close": ["l", "z"]}])");
  const auto judged = [&](uint64_t most_ops_shown, const Limits& limits) {
    RunOptions options;
    options.most_ops_shown = most_ops_shown;
    options.limits = limits;
    return run(read_scenario("f", text), options).checks.back();
  };
  const Check all = judged(1000, Limits());
  CHECK(all.holds());
  CHECK(all.message.find("differ by at most") != std::string::npos);
  const Check few = judged(0, Limits());
  CHECK(few.holds());
  CHECK(few.message == all.message);
  Limits limits;
  limits.ops = 41;  // of 42 in all iterations: none of these need be written
  CHECK(judged(0, limits).message == all.message);
  // An array takes 16 KiB. The program with regions has 8 values, all iterations have 40 and more.
  RunOptions little;
  little.most_ops_shown = 0;
  little.data_budget = Bytes(300 << 10);
  CHECK(run(read_scenario("f", text), little).checks.back().message == all.message);
}

TEST_CASE("long loops: where all are written, carries count as ops, which the error says") {
  const std::string text = scenario_text(
      kSwitch,
      R"("program": [)" +
          loop("l", 20, R"("h": "a")", R"({"id": "y", "op": "neg", "of": "h"})", R"("h": "y")") +
          "]");
  RunOptions options;
  options.most_ops_shown.reset();
  options.limits.ops = 30;
  try {
    (void)run(read_scenario("f", text), options);
    FAIL("the limit is exceeded");
  } catch (const InputError& error) {
    CHECK(std::string(error.what())
              .find("to show any single run of an op, all iterations are written, where each loop "
                    "and each carry in an iteration counts as an op: expected at most 30 ops, "
                    "got") != std::string::npos);
  }
}

TEST_CASE("long loops: a path that goes through too many runs one by one is not computed") {
  if (is_sanitized())
    return;  // it times 600,000 runs
  // The devices drift apart, so no iteration repeats one before. The path goes back through three
  // instructions of each: two local ops, and an entry or a wait.
  const std::string text = R"({"orrery": 1, "check_types": false, "mesh": {"x": 2},
    "cluster": {"devices": 2, "topology": "switch", "bandwidth": "1 GB/s", "latency": "0 s",
                "launch": "3 us", "memory_bandwidth": "1 TB/s"},
    "faults": [{"slow_device": 1, "factor": 3}],
    "arrays": {"a": {"shape": [800], "dtype": "f32", "init": "ones"}}, "program": [)" +
                           loop("l", 100'000, R"("h": "a")",
                                R"({"id": "y", "op": "mul", "of": ["h", "a"]},
                                   {"id": "z", "op": "add", "of": ["y", "h"]},
                                   {"id": "s", "op": "ppermute", "of": "z", "axis_name": "x",
                                    "perm": [[0, 1]]})",
                                R"("h": "s")") +
                           R"(], "outputs": ["l"]})";
  RunOptions options;
  options.data = Data::Off;
  const Report report = run(read_scenario("f", text), options);
  CHECK(report.critical_path.empty());
  CHECK(report.no_critical_path == "it goes through more than 262144 instructions of loops");
}

TEST_CASE("long loops: a million iterations in which carries change places") {
  const auto text = [](int64_t trips, int places) {
    return scenario_text(kSwitch,
                         R"("program": [{"id": "b", "op": "neg", "of": "a"},
                                {"id": "c", "op": "neg", "of": "b"},)" +
                             loop("l", trips, R"("p": "a", "q": "b", "r": "c")",
                                  R"({"id": "s", "op": "psum", "of": "p", "axis_name": "x"},
                             {"id": "y", "op": "add", "of": ["s", "q"]})",
                                  places == 2 ? R"("p": "q", "q": "p", "r": "r")"
                                              : R"("p": "q", "q": "r", "r": "p")") +
                             "]");
  };
  for (const int places : {2, 3}) {
    for (const int64_t trips : {8, 9, 10, 11, 12, 13, 40, 41, 42})
      CHECK(check_same(text(trips, places)).left_out == (trips >= 3 * places + 2));
    Timed many(text(1'000'000, places), LongLoops::LeftOut, {});
    Timed ten(text(10, places), LongLoops::LeftOut, {});
    Timed eleven(text(11, places), LongLoops::LeftOut, {});
    CHECK(many.scenario.program.ops.size() < 35);
    const Duration each = eleven.stages.times()->makespan - ten.stages.times()->makespan;
    CHECK(many.stages.times()->makespan == ten.stages.times()->makespan + each * 999'990);
    CHECK(many.stages.times()->added[0].count > 999'900);
    const Report report = run(read_scenario("f", text(1'000'000, places)), {});
    CHECK(report.holds());
  }
}

TEST_CASE("long loops: in a switch, also where copies of several iterations are on their way") {
  const std::string cluster = kSwitch + R"(, "in_switch_reduction": true)";
  const auto program = [](const std::string& op) {
    return R"("program": [)" +
           loop("l", 40, R"("h": "a")",
                R"({"id": "s", "of": "h", "axis_name": "x", "algorithm": "in_switch", )" + op + "}",
                R"("h": "s")") +
           "]";
  };
  CHECK(check_same(scenario_text(cluster, program(R"("op": "psum")"))).left_out);
  const std::string broadcast = program(R"("op": "pbroadcast", "source": 0)");
  CHECK(check_same(scenario_text(cluster, broadcast)).added > 20);
  // The source never waits. Where the links down are slower, more and more copies are in flight.
  SlowLink slow_link;
  slow_link.from = VertexId(4);
  slow_link.to = VertexId(1);
  slow_link.bandwidth = BytesPerSecond(1'000'000'000);
  CHECK(check_same(scenario_text(cluster, broadcast), {slow_link}).left_out);
}

TEST_CASE("long loops: a slower device, and a collective carried in flight") {
  const std::string program =
      R"("program": [{"id": "f0", "op": "psum_start", "of": "a", "axis_name": "x"},)" +
      loop("l", 50, R"("h": "a", "f": "f0")",
           R"({"id": "d", "op": "done", "of": "f"},
              {"id": "f1", "op": "psum_start", "of": "h", "axis_name": "x"},
              {"id": "y", "op": "add", "of": ["h", "d"]},
              {"id": "p", "op": "ppermute", "of": "y", "axis_name": "y", "perm": [[0, 1]]})",
           R"("h": "y", "f": "f1")") +
      R"(, {"id": "z", "op": "done", "of": "l.f"}])";
  CHECK(check_same(scenario_text(kSwitch, program)).added > 30);
  CHECK(check_same(scenario_text(kSwitch, program), {slow(2, 7, 3)}).added > 30);
}

TEST_CASE(
    "long loops: devices that drift apart run every iteration where their messages may meet") {
  const std::string program = R"("program": [)" +
                              loop("l", 40, R"("h": "a")",
                                   R"({"id": "y", "op": "add", "of": ["h", "a"]},
              {"id": "s", "op": "psum", "of": "y", "axis_name": "y"})",
                                   R"("h": "s")") +
                              R"(, {"id": "z", "op": "psum", "of": "l", "axis_name": "x"}])";
  const Outcome outcome = check_same(scenario_text(kSwitch, program), {slow(0, 2, 1)});
  CHECK(outcome.left_out);
  CHECK(outcome.added == 0);
}

TEST_CASE("long loops: a period of two iterations is added up where messages may share links") {
  // Two devices swap "h", and device 0 takes twice as long to compute it. So each device is late by
  // the time that the other took, and this repeats only after two iterations. The ops before the
  // loop use the same links on another stream.
  const std::string swap = R"("axis_name": "x", "perm": [[0, 1], [1, 0]])";
  const std::string text = scenario_text(
      kSwitch, R"("program": [{"id": "p", "op": "ppermute_start", "of": "a", "stream": 1, )" +
                   swap + R"(}, {"id": "q", "op": "done", "of": "p"}, )" +
                   loop("l", 200, R"("h": "a")",
                        R"({"id": "y", "op": "neg", "of": "h"},
                           {"id": "s", "op": "ppermute", "of": "y", )" +
                            swap + "}",
                        R"("h": "s")") +
                   "]");
  // Each device only sends, and receives, one message at a time, so the sweep times this.
  const Outcome outcome = check_same(text, {slow(0, 2, 1), slow(1, 2, 1)});
  CHECK(outcome.by == TimedBy::Sweep);
  CHECK(outcome.added > 100);
  CHECK(outcome.longest_period == 2);
}

TEST_CASE("long loops: threads whose loops meet at sites run in step") {
  const auto body = [](const std::string& more) {
    return loop("l", 25, R"("h": "a")",
                more + R"({"id": "s", "op": "psum", "of": "h", "axis_name": "x", "site": "meet"},
                          {"id": "y", "op": "add", "of": ["s", "a"]})",
                R"("h": "y")");
  };
  const auto programs = [&](const std::string& first, const std::string& second) {
    return R"("programs": [{"on": {"x": 0}, "do": [)" + first + R"(]}, {"on": {"x": 1}, "do": [)" +
           second + "]}]";
  };
  std::string other = body(R"({"id": "w", "op": "exp", "of": "h"},)");
  for (const std::string_view id : {"\"l\"", "\"w\"", "\"s\"", "\"y\""})
    for (size_t at = other.find(id); at != std::string::npos; at = other.find(id, at + 2))
      other.insert(at + 1, "o");
  CHECK(check_same(scenario_text(kSwitch, programs(body(""), other))).added > 10);
}

TEST_CASE("long loops: loops that meet and carry differently leave out the same iterations") {
  const auto psum = [](const std::string& id, const std::string& of) {
    return fmt::format(
        R"({{"id": "{}", "op": "psum", "of": "{}", "axis_name": "x", "site": "meet"}})", id, of);
  };
  // The psum's operand is of the iteration zero, one or two before: not carried, carried, or handed
  // on once.
  const std::vector<std::string> first = {
      loop("l", 100, "", psum("s", "a"), ""),
      loop("l", 100, R"("h": "a")", psum("s", "h"), R"("h": "s")"),
      loop("l", 100, R"("h": "a", "g": "a")", psum("s", "g"), R"("h": "s", "g": "h")")};
  const std::vector<std::string> second = {
      loop("m", 100, "", psum("t", "a"), ""),
      loop("m", 100, R"("k": "a")", psum("t", "k"), R"("k": "t")"),
      loop("m", 100, R"("k": "a", "j": "a")", psum("t", "j"), R"("k": "t", "j": "k")")};
  for (const std::string& cluster : {kSwitch, kRing}) {
    for (const std::string& left : first) {
      for (const std::string& right : second) {
        const Outcome outcome = check_same(
            scenario_text(cluster, R"("programs": [{"on": {"x": 0}, "do": [)" + left +
                                       R"(]}, {"on": {"x": 1}, "do": [)" + right + "]}]"));
        CHECK(outcome.left_out);
        CHECK(outcome.added > 0);
      }
    }
  }
}

TEST_CASE("long loops: loops that meet, in which two, three or no carries change places") {
  const auto round = [](const std::string& p, int places) {
    const std::string carry = R"("{0}p": "a", "{0}q": "{0}b", "{0}r": "{0}c")";
    const std::string yield = std::array{
        R"("{0}p": "{0}s", "{0}q": "{0}p", "{0}r": "{0}q")",
        R"("{0}p": "{0}q", "{0}q": "{0}p", "{0}r": "{0}r")",
        R"("{0}p": "{0}q", "{0}q": "{0}r", "{0}r": "{0}p")"}[static_cast<size_t>(places - 1)];
    return fmt::format(R"({{"id": "{0}b", "op": "neg", "of": "a"}},
                          {{"id": "{0}c", "op": "neg", "of": "{0}b"}}, )",
                       p) +
           loop(p + "l", 100, fmt::format(fmt::runtime(carry), p),
                fmt::format(R"({{"id": "{0}s", "op": "psum", "of": "{0}p", "axis_name": "x",
                                 "site": "meet"}})",
                            p),
                fmt::format(fmt::runtime(yield), p));
  };
  for (const std::string& cluster : {kSwitch, kRing})
    for (const int left : {1, 2, 3})
      for (const int right : {1, 2, 3}) {
        const Outcome outcome = check_same(scenario_text(
            cluster, R"("programs": [{"on": {"x": 0}, "do": [)" + round("m", left) +
                         R"(]}, {"on": {"x": 1}, "do": [)" + round("n", right) + "]}]"));
        CHECK(outcome.left_out);
        CHECK(outcome.left_out_period == std::lcm(left, right));
        CHECK(outcome.added > 0);
      }
}

TEST_CASE("long loops: loops run in step, and the body of the second program ends with one") {
  const auto outer = [](const std::string& id, const std::string& inside, const std::string& next) {
    return loop(id, 20, R"("h": "a")",
                fmt::format(R"({{"id": "s{0}", "op": "psum", "of": "h", "axis_name": "x",
                                 "site": "meet"}}, {1})",
                            id, inside),
                fmt::format(R"("h": "{}")", next));
  };
  const std::string add = R"({"id": "y", "op": "add", "of": ["sl", "a"]})";
  const std::string inner =
      loop("m", 12, R"("g": "sk")", R"({"id": "u", "op": "neg", "of": "g"})", R"("g": "u")");
  check_same(scenario_text(kSwitch, R"("programs": [{"on": {"x": 0}, "do": [)" +
                                        outer("l", add, "y") + R"(]}, {"on": {"x": 1}, "do": [)" +
                                        outer("k", inner, "m") + "]}]"));
}

TEST_CASE("long loops: loops in loops") {
  const std::string program =
      R"("program": [)" +
      loop("l", 30, R"("h": "a")",
           inner_loop() + R"(, {"id": "v", "op": "psum", "of": "m", "axis_name": "y"},)" +
               loop("n", 8, R"("g": "v")", R"({"id": "w", "op": "neg", "of": "g"})", R"("g": "w")"),
           R"("h": "n")") +
      "]";
  CHECK(check_same(scenario_text(kSwitch, program)).added > 0);
}

TEST_CASE(
    "long loops: groups that drift apart in loops in loops, and meet in the outer one or not") {
  const auto outcome = [](const std::string& meet) {
    const std::string inner =
        loop("m", 40, R"("g": "h")",
             R"({"id": "t", "op": "psum", "of": "g", "axis_name": "y", "algorithm": "ring"},
                {"id": "u", "op": "add", "of": ["t", "a"]})",
             R"("g": "u")");
    const std::string program = loop("l", 30, R"("h": "a")", inner + meet, R"("h": "m")");
    return check_same(scenario_text(kSwitch, R"("program": [)" + program + "]"), {slow(2, 3, 2)});
  };
  CHECK(outcome("").added > 0);
  CHECK(outcome(R"(, {"id": "v", "op": "psum", "of": "m", "axis_name": "x", "algorithm": "ring"})")
            .added > 0);
}

TEST_CASE("long loops: a device that meets others late catches up, and then has to wait") {
  // Over y, device 0 sends to 1 and 2 to 3. The senders are slower, and the receivers begin late.
  const std::string program = R"("program": [)" +
                              loop("l", 300, R"("h": "a")",
                                   R"({"id": "y", "op": "add", "of": ["h", "a"]},
              {"id": "m", "op": "ppermute", "of": "y", "axis_name": "y", "perm": [[0, 1]]})",
                                   R"("h": "m")") +
                              "]";
  const Duration late(10'000'000);  // about 100 times what device 1 gains in an iteration
  const std::vector<Fault> faults = {slow(0, 11, 10), slow(2, 12, 10),
                                     LateStart{LogicalId(1), late}, LateStart{LogicalId(3), late}};
  CHECK(check_same(scenario_text(kSwitch, program), faults).added > 100);
}

TEST_CASE("long loops: what loops in loops hold to the end") {
  // "u" of an iteration is held by that iteration and the next one, "t" by one, and "v" by the
  // outer loop's.
  const std::string inner = loop("m", 9, R"("g": "h")",
                                 R"({"id": "s", "op": "psum_start", "of": "g", "axis_name": "x"},
              {"id": "u", "op": "add", "of": ["g", "a"]},
              {"id": "t", "op": "psum_start", "of": "u", "axis_name": "y", "stream": 1})",
                                 R"("g": "u")");
  for (const std::string_view next : {"v", "m", "h"})
    check_same(scenario_text(
        kSwitch, R"("program": [)" +
                     loop("l", 8, R"("h": "a")", inner + R"(, {"id": "v", "op": "neg", "of": "m"},
                                       {"id": "w", "op": "psum_start", "of": "v", "axis_name": "y"})",
                          fmt::format(R"("h": "{}")", next)) +
                     "]"));
}

TEST_CASE("long loops: a collective that was started before the loop meets a late iteration") {
  // The second collective on stream 1 begins after the first, when 80 of 300 iterations have run.
  const auto text = [](std::string_view second) {
    return fmt::format(
        R"({{"orrery": 1, "check_types": false, "mesh": {{"x": 2}},
      "cluster": {{"devices": 2, "topology": "ring", "bandwidth": "10 GB/s", "latency": "100 ns",
                  "launch": "0 ns", "flops": {{"f32": "1 TFLOP/s"}}, "memory_bandwidth": "1 TB/s"}},
      "arrays": {{"a": {{"shape": [250], "dtype": "f32"}},
                 "first": {{"shape": [250000], "dtype": "f32"}},
                 "second": {{"shape": [25000], "dtype": "f32"}}}},
      "program": [
        {{"id": "f", "op": "ppermute_start", "of": "first", "axis_name": "x", "perm": [[1, 0]],
          "stream": 1}},
        {{"id": "g", "op": "ppermute_start", "of": "second", "axis_name": "x", "perm": [{}],
          "stream": 1}},
        {},
        {{"id": "d", "op": "done", "of": "f"}}, {{"id": "e", "op": "done", "of": "g"}}]}})",
        second,
        loop("l", 300, R"("h": "a")",
             R"({"id": "w", "op": "compute", "flops": "1 MFLOP", "bytes": "0 B", "dtype": "f32"},
                {"id": "m", "op": "ppermute", "of": "h", "axis_name": "x", "perm": [[0, 1]]})",
             R"("h": "m")"));
  };
  CHECK(check_same(text("[0, 1]")).by == TimedBy::Engine);
  const Outcome passed = check_same(text("[1, 0]"));
  CHECK(passed.by == TimedBy::Sweep);
  CHECK(passed.added > 150);
}

/// Each of the two programs has a loop, with other ops before and after it. On ring links that both
/// use, large messages meet some iterations in the middle of a loop, or one loop drifts past the
/// other.
class SeveralPrograms {
 public:
  explicit SeveralPrograms(Random& random) : random_(random) {}

  std::string text() {
    // Messages along y share no links with those of other devices; along x they do.
    const uint64_t form = random_.below(3);
    axis_ = form == 2 ? "x" : "y";
    const std::string_view apart = form == 2 ? "y" : "x";
    const std::string programs =
        form == 0 ? fmt::format(R"("program": [{}])", issued("p"))
                  : fmt::format(R"("programs": [{{"on": {{"{0}": 0}}, "do": [{1}]}},
                                                {{"on": {{"{0}": 1}}, "do": [{2}]}}])",
                                apart, issued("p"), issued("q"));
    return R"({"orrery": 1, "check_types": false, "mesh": {"x": 2, "y": 2},
      "cluster": {"devices": 4, "topology": "ring", "bandwidth": "10 GB/s", "latency": "100 ns",
                  "launch": "10 ns", "flops": {"f32": "1 TFLOP/s"}, "memory_bandwidth": "1 TB/s"},
      "arrays": {"a": {"shape": [256], "dtype": "f32"}, "big": {"shape": [40000], "dtype": "f32"}},)" +
           programs + "}";
  }

 private:
  /// Returns a program's ops. Their ids begin with the program's name, so that all are different.
  std::string issued(const std::string& program) {
    std::vector<std::string> ops;
    std::vector<std::string> dones;
    for (size_t i = random_.below(2); i-- > 0;)
      ops.push_back(work(fmt::format("{}b{}", program, i)));
    for (size_t i = random_.below(2); i-- > 0;) {
      const std::string id = fmt::format("{}f{}", program, i);
      ops.push_back(moved(id, "ppermute_start", "big", 1 + random_.below(2)));
      dones.push_back(fmt::format(R"({{"id": "{0}d", "op": "done", "of": "{0}"}})", id));
    }
    const std::string carry = program + "h";
    std::vector<std::string> body = {work(program + "w"),
                                     moved(program + "m", "ppermute", carry, random_.below(2))};
    if (random_.below(2) == 0)
      body.push_back(work(program + "v"));
    std::string loops =
        loop(program + "l", 20 + static_cast<int64_t>(random_.below(100)),
             fmt::format(R"("{}": "a")", carry), fmt::format("{}", fmt::join(body, ",")),
             fmt::format(R"("{}": "{}m")", carry, program));
    if (random_.below(3) == 0) {  // in a loop with a large message of its own
      const std::string outer =
          loops + "," + moved(program + "n", "ppermute", "big", random_.below(2));
      loops = loop(program + "o", 5 + static_cast<int64_t>(random_.below(10)),
                   fmt::format(R"("{}g": "a")", program), outer,
                   fmt::format(R"("{0}g": "{0}l")", program));
    }
    ops.push_back(loops);
    for (size_t i = random_.below(2); i-- > 0;) {
      ops.push_back(work(fmt::format("{}c{}", program, i)));
      ops.push_back(moved(fmt::format("{}e{}", program, i), "ppermute", "big", random_.below(3)));
    }
    ops.insert(ops.end(), dones.begin(), dones.end());
    return fmt::format("{}", fmt::join(ops, ","));
  }

  std::string work(const std::string& id) {
    return fmt::format(
        R"({{"id": "{}", "op": "compute", "flops": "{} FLOP", "bytes": "0 B", "dtype": "f32"}})",
        id, 1000 * (1 + random_.below(random_.below(2) == 0 ? 300 : 30'000)));
  }

  std::string moved(const std::string& id, const std::string& op, const std::string& of,
                    uint64_t stream) {
    const std::string_view perm = random_.below(4) > 0 ? "[[0, 1]]" : "[[1, 0]]";
    return fmt::format(
        R"({{"id": "{}", "op": "{}", "of": "{}", "axis_name": "{}", "perm": {}, "stream": {}}})",
        id, op, of, axis_, perm, stream);
  }

  Random& random_;
  std::string_view axis_;
};

TEST_CASE("long loops: collectives outside of a loop meet the iterations that could be added") {
  Random random(9);
  size_t by_engine = 0;
  size_t added = 0;
  const size_t random_programs = tries(60);
  for (size_t i = 0; i < random_programs; ++i) {
    const Outcome outcome = check_same(SeveralPrograms(random).text());
    by_engine += outcome.by == TimedBy::Engine ? 1 : 0;
    added += outcome.added > 0 ? 1 : 0;
  }
  MESSAGE("of " << random_programs << " programs, " << added << " added some iterations, "
                << by_engine << " were run by the engine");
  CHECK(added > random_programs / 10);
  if (is_all_tried())  // a share is too small to count
    CHECK(by_engine > random_programs / 10);
}

/// Returns the report of a loop of a million iterations whose ops meet ops outside it by a token.
Report with_tokens(const std::string& perm) {
  const std::string transfer = fmt::format(R"("axis_name": "x", "perm": {})", perm);
  const std::string program =
      R"("program": [{"id": "t", "op": "psend", "of": "a", )" + transfer + "}, " +
      loop("l", 1'000'000, R"("h": "a")",
           R"({"id": "v", "op": "precv", "of": "t", "shape": [1024], "dtype": "f32", )" + transfer +
               R"(}, {"id": "y", "op": "add", "of": ["v", "h"]})",
           R"("h": "y")") +
      "]";
  return run(read_scenario("f", scenario_text(kSwitch, program)), {});
}

TEST_CASE("long loops: iterations that wait for what another one has taken never end") {
  const Report report = with_tokens("[[0, 1]]");
  CHECK_FALSE(report.completion.has_value());
  CHECK_FALSE(report.holds());
}

TEST_CASE("long loops: where ops of different iterations meet, more than the limit is refused") {
  try {
    (void)with_tokens("[]");
    FAIL("all iterations are needed");
  } catch (const InputError& error) {
    CHECK(error.diagnostics()[0].message ==
          "precv \"l.v\": every iteration is timed where a site joins ops of different iterations, "
          "or of a loop and outside of it: expected at most 262144 ops, got more (--limit ops=N "
          "allows more) (in l[999999])");
  }
}

}  // namespace
}  // namespace orrery::test
