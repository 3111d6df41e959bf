#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "tests/support/tries.h"
#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

using Json = nlohmann::json;

/// Returns a scenario of two devices and one op; `extra` goes after the outputs.
std::string small_scenario(const std::string& extra = "") {
  return R"({"orrery": 1, "name": "small",
    "cluster": {"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us", "memory": "1 MiB"},
    "mesh": {"x": 2},
    "arrays": {"alpha": {"shape": [4], "dtype": "s32", "spec": ["x"], "init": "iota"}},
    "program": [{"id": "total", "op": "psum", "of": "alpha", "axis_name": "x"}],
    "outputs": ["total"])" +
         extra + "}\n";
}

const char* const kTooLong = R"(, "expect": [{"makespan": {"at_most": "1 ns"}}])";

TEST_CASE("run: 0 when all holds, 1 when a verdict fails, 2 when the input is wrong") {
  const TemporaryFolder folder;
  const std::string good = folder.file("good.json", small_scenario());
  const std::string bad = folder.file("bad.json", small_scenario(kTooLong));
  const std::string wrong = folder.file("wrong.json", small_scenario(", \"surprise\": 1"));
  CHECK(ran({"run", good}).outcome == Outcome::Holds);
  CHECK(ran({"run", bad}).outcome == Outcome::Fails);
  CHECK(ran({"run", wrong}).outcome == Outcome::WrongInput);
}

TEST_CASE("run: a report that is undecided ends with 1, unless that is allowed") {
  const TemporaryFolder folder;
  const std::string expect = R"(, "expect": [{"values": {"total": [[2, 4], [2, 4]]}}])";
  const std::string file = folder.file("small.json", small_scenario(expect));
  CHECK(ran({"run", file}).outcome == Outcome::Holds);
  const Ran open = ran({"run", file, "--data", "off"});
  CHECK(open.outcome == Outcome::Fails);
  CHECK(open.out.starts_with("? UNDECIDED  "));
  CHECK(ran({"run", file, "--data", "off", "--allow-undecided"}).outcome == Outcome::Holds);
  const std::string late = folder.file("late.json", small_scenario(kTooLong));
  CHECK(ran({"run", late, "--allow-undecided"}).outcome == Outcome::Fails);
}

TEST_CASE("run: JSON reports say that they are undecided, allowed or not") {
  const TemporaryFolder folder;
  const std::string expect = R"(, "expect": [{"values": {"total": [[2, 4], [2, 4]]}}])";
  const std::string file = folder.file("small.json", small_scenario(expect));
  const Ran open = ran({"run", file, "--data", "off", "--format", "json", "--allow-undecided"});
  CHECK(open.out.find("  \"holds\": false,\n  \"verdict\": \"undecided\",\n") != std::string::npos);
  CHECK(open.out.find("\"name\":\"VALUES.LITERAL\",\"holds\":false,\"verdict\":\"undecided\"") !=
        std::string::npos);
  const Ran two =
      ran({"run", file, file, "--data", "off", "--format", "json", "--allow-undecided"});
  CHECK(two.outcome == Outcome::Holds);
  CHECK(two.out.find("], \"holds\": false, \"verdict\": \"undecided\"}\n") != std::string::npos);
}

TEST_CASE("run: another cluster in place of the scenario's, of a file or of the catalog") {
  const TemporaryFolder folder;
  const std::string file = folder.file("small.json", small_scenario());
  const std::string cluster = folder.file(
      "cluster.json",
      R"({"devices": 3, "topology": "ring", "bandwidth": "1 GB/s", "latency": "100 us"})");
  const auto has = [&](const std::vector<std::string>& more, const std::string& text) {
    std::vector<std::string> arguments = {"run", file, "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran run = ran(arguments);
    CHECK(run.outcome == Outcome::Holds);
    return run.out.find(text) != std::string::npos;
  };
  // 8 B go in one message each way: 8 ns and the latency.
  CHECK(has({}, "\"makespan_ps\": 1008000,"));
  CHECK(has({"--cluster", cluster}, "\"makespan_ps\": 100008000,"));
  CHECK(
      has({"--cluster", cluster, "--cluster-figure", "latency=5 us"}, "\"makespan_ps\": 5008000,"));
  CHECK(ran({"run", file, "--cluster", "h100-sxm-8"}).out.find("h100-sxm-8") != std::string::npos);
}

TEST_CASE("run: another cluster must have the devices and the links that the scenario names") {
  const TemporaryFolder folder;
  const std::string small = folder.file("small.json", small_scenario());
  const std::string one = folder.file("one.json", R"({"devices": 1, "topology": "ring"})");
  const std::string faulty = folder.file(
      "faulty.json", small_scenario(R"(, "faults": [{"cut_link": {"from": 0, "to": 1}}])"));
  const Ran few = ran({"run", small, "--cluster", one});
  CHECK(few.outcome == Outcome::WrongInput);
  CHECK(few.out == "");
  CHECK(few.err ==
        small + ":3:13: /mesh: expected a mesh of at most 1 devices, the cluster's, got 2\n");
  const Ran links = ran({"run", faulty, "--cluster", "h100-sxm-8"});
  CHECK(links.outcome == Outcome::WrongInput);
  CHECK(links.err == faulty +
                         ":6:51: /faults/0/cut_link: expected a link of the cluster, got device 0 "
                         "-> device 1; from device 0, links lead to switch \"switch\"\n");
  CHECK(ran({"run", small, "--cluster", "h100"}).err ==
        "--cluster: the catalog has no \"h100\"; `orrery show catalog` lists what it has\n");
}

TEST_CASE("run: of several files the worst outcome counts, and each has a line") {
  const TemporaryFolder folder;
  folder.file("below/b.json", small_scenario(kTooLong));
  folder.file("a.json", small_scenario());
  folder.file("below/c.json", "{");
  folder.file("not.schema.json", "{}");
  const Ran all = ran({"run", folder.path()});
  CHECK(all.outcome == Outcome::WrongInput);
  const size_t a = all.out.find("/a.json");
  const size_t b = all.out.find("/below/b.json");
  const size_t c = all.out.find("/below/c.json");
  CHECK(a < b);
  CHECK(b < c);
  CHECK(c != std::string::npos);
  CHECK(all.out.find("not.schema.json") == std::string::npos);
  CHECK(all.out.find("1 of 3 scenarios hold\n") != std::string::npos);
  CHECK(all.err.find("/below/c.json:1:") != std::string::npos);
}

TEST_CASE("run: several JSON reports are one document") {
  const TemporaryFolder folder;
  const std::string good = folder.file("good.json", small_scenario());
  const Ran both = ran({"run", good, good, "--format", "json"});
  CHECK(both.out.compare(0, 13, "{\"reports\": [") == 0);
  CHECK(both.out.find("], \"holds\": true, \"verdict\": \"holds\"}\n") != std::string::npos);
}

TEST_CASE("run: a refused scenario keeps its position among the JSON reports") {
  const TemporaryFolder folder;
  const std::string good = folder.file("good.json", small_scenario());
  const std::string wrong = folder.file("wrong.json", "[]");
  const Ran both = ran({"run", wrong, good, "--format", "json"});
  CHECK(both.outcome == Outcome::WrongInput);
  CHECK(both.err == wrong + ":1:1: expected a scenario, an object, got a list\n");
  const std::string refused = "{\n  \"report\": 1,\n  \"file\": \"" + wrong +
                              R"(",
  "holds": false,
  "errors": [
    {"pointer":"","line":1,"column":1,"message":"expected a scenario, an object, got a list"}
  ]
})";
  CHECK(both.out.compare(0, 14 + refused.size(), "{\"reports\": [\n" + refused) == 0);
  CHECK(both.out.find("], \"holds\": false, \"verdict\": \"fails\"}\n") != std::string::npos);
  CHECK(ran({"run", wrong, "--format", "json"}).out == refused + "\n");
}

TEST_CASE("run: a scenario that cannot be read has no line in its JSON errors") {
  const Ran missing = ran({"run", "no-such-file.json", "--format", "json"});
  CHECK(
      missing.out.find(R"({"pointer":"","line":null,"column":null,"message":"cannot be read: )") !=
      std::string::npos);
}

TEST_CASE("run: a file that is not there") {
  const Ran missing = ran({"run", "no-such-file.json"});
  CHECK(missing.outcome == Outcome::WrongInput);
  CHECK(missing.out == "");
  CHECK(missing.err.find("no-such-file.json") == 0);
  CHECK(missing.err.find("No such file or directory") != std::string::npos);
}

TEST_CASE("run: a folder without scenarios") {
  const TemporaryFolder folder;
  const Ran empty = ran({"run", folder.path()});
  CHECK(empty.outcome == Outcome::WrongInput);
  CHECK(empty.err.find("no scenario (*.json) lies below this folder") != std::string::npos);
}

TEST_CASE("run: values by name, in the order asked") {
  const TemporaryFolder folder;
  const std::string file = folder.file("small.json", small_scenario());
  const Ran chosen = ran({"run", file, "--format", "json", "--values", "total,alpha"});
  // iota over two devices is [0 1] and [2 3]; the sum is [2 4].
  CHECK(chosen.out.find(R"(  "values": {
    "total": {
      "dtype": "s32",
      "shape": [2],
      "per_device": [
        [2,4],
        [2,4]
      ]
    },
    "alpha": {
      "dtype": "s32",
      "shape": [2],
      "per_device": [
        [0,1],
        [2,3]
      ]
    }
  }
})") != std::string::npos);
}

TEST_CASE("run: what a loop has carried out has the loop's name, and can be expected as printed") {
  const std::string head = R"({"orrery": 1, "check_types": false, "mesh": {"x": 3},
"cluster": {"devices": 3, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us"},
"arrays": {"a": {"shape": [3], "dtype": "f32", "spec": ["x"], "init": "iota"}},
"programs": [{"on": {"x": [1, 3]}, "do": [
  {"id": "l", "op": "fori_loop", "lower": 0, "upper": 3, "carry": {"h": "a"},
   "body": [{"id": "t", "op": "add", "of": ["h", "h"]}], "yield": {"h": "t"}}]}],
"outputs": ["l"])";
  const TemporaryFolder folder;
  const std::string file = folder.file("loop.json", head + "}");
  const Ran printed = ran({"run", file, "--format", "json", "--values", "l,l.h,l[2].t"});
  // The values are 1 and 2, doubled three times.
  const std::string elements = R"("dtype": "f32",
      "shape": [1],
      "per_device": [
        null,
        [8.0],
        [16.0]
      ]
    })";
  const std::string value = "{\n      \"id\": \"l[2].t\",\n      " + elements;
  CHECK(printed.out.find("\"values\": {\n    \"l\": " + value + ",\n    \"l.h\": " + value +
                         ",\n    \"l[2].t\": {\n      " + elements) != std::string::npos);
  const std::string pasted =
      folder.file("pasted.json", head + R"(, "expect": [{"values": {"l": )" + value + "}}]}");
  CHECK(ran({"run", pasted}).outcome == Outcome::Holds);
}

/// Returns the transpose of a sum over all elements: each element gets the sum's cotangent.
std::string gradient_scenario() {
  return R"({"orrery": 1, "name": "gradient", "mesh": {"x": 2},
"cluster": {"devices": 2, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us"},
"arrays": {"w": {"shape": [2], "dtype": "s32", "spec": ["x"], "init": "iota"},
           "ct_r": {"shape": [], "dtype": "s32", "init": 1}},
"program": [{"id": "s", "op": "reduce_sum", "of": "w", "axes": [0]},
            {"id": "r", "op": "psum", "of": "s", "axis_name": "x"}],
"transform": {"transpose": {"of": "r", "with_respect_to": "w"}},
"outputs": ["ct_w"]})";
}

TEST_CASE("run: a value of one iteration is the same whatever the trip count, also a late one") {
  const TemporaryFolder folder;
  const auto values = [&](int64_t trips, const std::string& names, const std::string& data) {
    const std::string file = folder.file("loop.json", fmt::format(R"({{"orrery": 1,
      "check_types": false, "mesh": {{"x": 2}},
      "cluster": {{"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us",
                   "memory_bandwidth": "1 TB/s", "flops": {{"s32": "1 TFLOP/s"}}}},
      "arrays": {{"a": {{"shape": [4], "dtype": "s32", "spec": ["x"], "init": "iota"}}}},
      "program": [{{"id": "l", "op": "fori_loop", "lower": 0, "upper": {}, "carry": {{"h": "a"}},
        "body": [{{"id": "s", "op": "psum", "of": "h", "axis_name": "x"}},
                 {{"id": "m", "op": "add", "of": ["s", "h"]}}], "yield": {{"h": "m"}}}}]}})",
                                                                  trips));
    const Ran run = ran({"run", file, "--format", "json", "--data", data, "--values", names});
    CAPTURE(run.err);
    REQUIRE(run.outcome == Outcome::Holds);
    const Json report = Json::parse(run.out);
    CHECK(report["values"].size() == (names.find(',') == names.npos ? 1 : 2));
    return report["values"].dump();
  };
  // The devices have 0 and 1, and 2 and 3. The sums are 2 and 4 at first, and then three times as
  // much in each iteration.
  const std::string few = values(10, "l[3].s,l[1].m", "auto");
  CHECK(few.find("[[54,108],[54,108]]") != few.npos);
  CHECK(values(1'000'000, "l[3].s,l[1].m", "auto") == few);
  if (is_sanitized())
    return;  // with sanitizers, what follows takes half a minute
  CHECK(values(60'000, "l[3].s,l[1].m", "on") == few);
  const std::string late = values(50'000, "l[49999].s", "auto");  // all iterations are shown
  CHECK(late.find("null") == late.npos);
  CHECK(values(60'000, "l[49999].s", "auto") == late);
}

TEST_CASE("run: a gradient goes by the name of its argument, with the id of the op that makes it") {
  const TemporaryFolder folder;
  const std::string file = folder.file("gradient.json", gradient_scenario());
  const Ran printed = ran({"run", file, "--format", "json", "--values", "all"});
  CHECK(printed.err == "");
  const std::string elements = R"("dtype": "s32",
      "shape": [1],
      "per_device": [
        [1],
        [1]
      ]
    })";
  CHECK(printed.out.find("\"s.bwd\": {\n      " + elements) != std::string::npos);
  CHECK(printed.out.find("\"ct_w\": {\n      \"id\": \"s.bwd\",\n      " + elements) !=
        std::string::npos);
  CHECK(ran({"show", "program", file})
            .out.ends_with("\nother names: ct_w = s.bwd\n\noutputs: s.bwd\n"));
}

TEST_CASE("run: diff compares a value once that a report has under several names") {
  const TemporaryFolder folder;
  const std::string file = folder.file("gradient.json", gradient_scenario());
  const std::string saved = folder.path() + "/saved.json";
  REQUIRE(ran({"run", file, "--format", "json", "--values", "all", "-o", saved}).outcome ==
          Outcome::Holds);
  CHECK(ran({"diff", file, saved}).out.find("not told") == std::string::npos);
  // This holds also where the report has the value under the other name alone.
  REQUIRE(ran({"run", file, "--format", "json", "--values", "ct_w", "-o", saved}).outcome ==
          Outcome::Holds);
  CHECK(ran({"diff", saved, saved}).outcome == Outcome::Holds);
}

TEST_CASE(
    "run: checks that hold are counted, ops of loops grouped; --verbose and --ops all show each") {
  const std::string file = in_tree("scenarios/fsdp-four-layers.json");
  const Ran in_short = ran({"run", file});
  const Ran in_full = ran({"run", file, "--verbose", "--ops", "all"});
  CHECK(in_short.outcome == Outcome::Holds);
  const auto proofs = [](const std::string& text) {
    size_t count = 0;
    for (size_t at = text.find("✓ SCHEDULE.PROVED"); at != std::string::npos;
         at = text.find("✓ SCHEDULE.PROVED", at + 1))
      ++count;
    return count;
  };
  CHECK(proofs(in_short.out) == 1);
  CHECK(proofs(in_full.out) == 4);  // one gather before the loop, three in it
  CHECK(in_short.out.find("layers[]: ") != std::string::npos);
  CHECK(in_full.out.find("layers[]: ") == std::string::npos);
  CHECK(in_short.out.find("\n  layers[1].") == std::string::npos);
  CHECK(in_full.out.find("\n  layers[1].") != std::string::npos);
}

TEST_CASE("run: an unknown value, with the near miss") {
  const TemporaryFolder folder;
  const std::string file = folder.file("small.json", small_scenario());
  const Ran unknown = ran({"run", file, "--format", "json", "--values", "totl"});
  CHECK(unknown.outcome == Outcome::WrongInput);
  CHECK(unknown.err.find("has no value \"totl\"; did you mean \"total\"?") != std::string::npos);
}

TEST_CASE("run: a value that is not there is told the ones that it may mean") {
  const TemporaryFolder folder;
  const std::string file = folder.file("loop.json", R"({"orrery": 1, "mesh": {"x": 2},
"cluster": {"devices": 2, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us"},
"arrays": {"a": {"shape": [4], "dtype": "f32"}, "b": {"shape": [4], "dtype": "f32"}},
"program": [{"id": "l", "op": "fori_loop", "lower": 0, "upper": 3, "carry": {"h": "a", "k": "b"},
"yield": {"h": "t", "k": "k"}, "body": [{"id": "t", "op": "add", "of": ["h", "k"]}]}]})");
  const Ran loop = ran({"run", file, "--format", "json", "--values", "l"});
  CHECK(loop.outcome == Outcome::WrongInput);
  CHECK(loop.err.find("has no value \"l\"; did you mean \"l.h\" or \"l.k\"?") != std::string::npos);
}

TEST_CASE("run: a program that hangs has no values to print") {
  const std::string file = in_tree("scenarios/two-programs-hang.json");
  const Ran all = ran({"run", file, "--format", "json", "--values", "all"});
  CHECK(all.outcome == Outcome::Fails);
  const Ran one = ran({"run", file, "--format", "json", "--values", "q1"});
  CHECK(one.outcome == Outcome::Fails);
  CHECK(one.out.find("\"per_device\": [null,null,null,null]") != std::string::npos);
}

TEST_CASE("run: the report of a hang says each wait and each order once") {
  const Ran hang = ran({"run", in_tree("scenarios/two-programs-hang.json")});
  CHECK(hang.outcome == Outcome::Fails);
  const size_t checks = hang.out.find("CHECKS that do not hold\n");
  const std::string shown = R"(CHECKS that do not hold
  ✗ DEADLOCK.FREE     /programs/0/do/0  The program cannot end: devices wait for each other, in a
                                        cycle of 2.
      device 0: waits in "p0" for device 2 to enter "p1", which "program 1" issues after "q1"
      device 2: waits in "q1" for device 0 to enter "q0", which "program 0" issues after "p0"
  ✗ ORDER.AGREED      /programs/1/do/1  On stream 0, programs "program 0" and "program 1" issue two
                                        collectives in opposite orders.
      program 0: p0 before q0
      program 1: q1 before p1
)";
  REQUIRE(checks != std::string::npos);
  CHECK(hang.out.substr(checks, shown.size()) == shown);
}

/// Returns stages in a row that exchange data with the next and the previous one. Each sends before
/// it receives, and sends wait for their receivers, so that each two stages wait for each other.
std::string stages_in_a_row(int stages) {
  std::string programs;
  for (int stage = 0; stage < stages; ++stage) {
    std::string ops;
    for (const int other : {stage - 1, stage + 1}) {
      if (other < 0 || other >= stages)
        continue;
      const char* const where = other < stage ? "prev" : "next";
      ops += fmt::format(
          R"({}{{"id": "send_{}{}", "op": "psend", "of": "a", "axis_name": "pp",
"perm": [[{}, {}]], "site": "{}to{}", "entry": "rendezvous"}}, {{"id": "recv_{}{}", "op": "precv",
"shape": [4], "dtype": "f32", "axis_name": "pp", "perm": [[{}, {}]], "site": "{}to{}"}})",
          ops.empty() ? "" : ", ", where, stage, stage, other, stage, other, where, stage, other,
          stage, other, stage);
    }
    programs += fmt::format(R"({}{{"name": "stage{}", "on": {{"pp": {}}}, "do": [{}]}})",
                            stage == 0 ? "" : ", ", stage, stage, ops);
  }
  return fmt::format(R"({{"orrery": 1, "mesh": {{"pp": {0}}}, "cluster": {{"devices": {0},
"topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us"}},
"arrays": {{"a": {{"shape": [4], "dtype": "f32"}}}}, "programs": [{1}]}})",
                     stages, programs);
}

TEST_CASE("run: of 512 stages that wait for each other, the cause is on the first screen") {
  const TemporaryFolder folder;
  const Ran hang = ran({"run", folder.file("stages.json", stages_in_a_row(512))});
  INFO(hang.out << hang.err);
  CHECK(hang.outcome == Outcome::Fails);
  const size_t message = hang.out.find("The program cannot end");
  REQUIRE(message != std::string::npos);
  CHECK(std::count(hang.out.begin(), hang.out.begin() + static_cast<ptrdiff_t>(message), '\n') <
        30);
  CHECK(std::count(hang.out.begin(), hang.out.end(), '\n') <= 120);
  // Each stage but the last sends to the next before that one receives.
  CHECK(
      hang.out.find("\n      devices 0-510: go on from \"send_next*\" before the receiver of each "
                    "is at its precv\n") != std::string::npos);
  // One line of memory, and the two below it: the first stage receives from the next one only.
  CHECK(hang.out.find("\n  devices 0-511  512 B, at recv_*  no capacity was given\n"
                      "    a 256 B argument · recv_* 256 B temporary\n") != std::string::npos);
}

TEST_CASE("run: a report that is cut shows the ops that take longest, and says so") {
  // The i-th op writes i kB at 1 GB/s, and all are on the critical path. Ops of one type would be
  // one entry.
  const TemporaryFolder folder;
  const auto id = [](int64_t i) {
    return std::string{'c', static_cast<char>('a' + i / 16), static_cast<char>('a' + i % 16)};
  };
  std::string ops;
  for (int64_t i = 1; i <= 150; ++i)
    ops += fmt::format(
        R"({}{{"id": "{}", "op": "iota", "shape": [{}], "dtype": "f32", "dimension": 0}})",
        i > 1 ? ", " : "", id(i), 250 * i);
  const std::string file = folder.file("many.json", fmt::format(R"({{"orrery": 1,
    "cluster": {{"devices": 1, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us",
                 "memory_bandwidth": "1 GB/s"}},
    "mesh": {{"x": 1}}, "arrays": {{"a": {{"shape": [4], "dtype": "f32"}}}}, "program": [{}]}})",
                                                                ops));
  const Ran cut = ran({"run", file});
  CHECK(std::count(cut.out.begin(), cut.out.end(), '\n') <= 120);
  CHECK(cut.out.find("the 32 of 150 ops that matter most") != std::string::npos);
  CHECK(cut.out.find("\n  " + id(119) + "  iota") != std::string::npos);
  CHECK(cut.out.find("\n  " + id(118) + "  iota") == std::string::npos);
  const Ran whole = ran({"run", file, "--verbose"});
  CHECK(whole.out.find("matter most") == std::string::npos);
  CHECK(whole.out.find("\n  " + id(118) + "  iota") != std::string::npos);
}

TEST_CASE("run: printing values needs JSON, and data") {
  const TemporaryFolder folder;
  const std::string file = folder.file("small.json", small_scenario());
  CHECK(ran({"run", file, "--values", "all"}).outcome == Outcome::WrongInput);
  CHECK(ran({"run", file, "--format", "json", "--values", "all", "--data", "off"}).outcome ==
        Outcome::WrongInput);
}

TEST_CASE("run: -o writes the report and leaves stdout empty") {
  const TemporaryFolder folder;
  const std::string file = folder.file("small.json", small_scenario());
  const std::string report = folder.path() + "/report.json";
  const Ran written = ran({"run", file, "--format", "json", "-o", report});
  CHECK(written.outcome == Outcome::Holds);
  CHECK(written.out == "");
  CHECK(text_of(report) == ran({"run", file, "--format", "json"}).out);
  CHECK(ran({"run", file, "-o", folder.path() + "/no/such/folder"}).outcome == Outcome::WrongInput);
}

TEST_CASE("run: the report of the quickstart, as JSON, whole") {
  const Ran report = ran({"run", in_tree("scenarios/quickstart.json"), "--format", "json"});
  CHECK(report.outcome == Outcome::Holds);
  CHECK(report.out == text_of(in_tree("tests/tools/cli/golden/quickstart.json")));
}

TEST_CASE("run: the report of the quickstart, as text, whole") {
  const Ran report = ran({"run", in_tree("scenarios/quickstart.json")});
  CHECK(report.out == text_of(in_tree("tests/tools/cli/golden/quickstart.txt")));
}

TEST_CASE("run: the README's picture shows the current report; tools/update_pictures draws it") {
  // The picture's file has the text in it.
  const std::string report = text_of(in_tree("tests/tools/cli/golden/quickstart.txt"));
  CHECK(text_of(in_tree("docs/report.png")).find(report) != std::string::npos);
  CHECK(text_of(in_tree("README.md")).find("](docs/report.png)") != std::string::npos);
}

TEST_CASE("run: two runs in one process give the same bytes") {
  const std::string file = in_tree("scenarios/quickstart.json");
  const std::vector<std::string> arguments = {"run", file, "--format", "json", "--values", "all"};
  CHECK(ran(arguments).out == ran(arguments).out);
}

TEST_CASE("run: a program over the capacity fails with the op, the device and the live set") {
  const Ran twin = ran({"run", in_tree("scenarios/fsdp-two-layers-too-small.json")});
  CHECK(twin.outcome == Outcome::Fails);
  CHECK(twin.out.find("MEMORY.CAPACITY") != std::string::npos);
}

TEST_CASE(
    "run: a layer in real ops is close to a single device's, and the differing sums are named") {
  const std::string file = in_tree("scenarios/llama3-small-block-against-single.json");
  const Ran block = ran({"run", file, "--format", "json"});
  CHECK(block.outcome == Outcome::Holds);
  CHECK(block.out.find(R"(scatter_d1\" (psum_scatter of 8 terms))") != std::string::npos);
}

TEST_CASE("run: a device that is cut off fails with the collective, the devices and the link") {
  const Ran cut = ran({"run", in_tree("scenarios/cut-off-device.json")});
  CHECK(cut.outcome == Outcome::Fails);
  CHECK(cut.out.find("\"r\" cannot end: device 2 sends to device 0, and no route is left") !=
        std::string::npos);
}

TEST_CASE("the executable: exit codes reach the shell, also of standard input") {
  const auto exit_code = [](const std::string& arguments) {
    const std::string command = std::string(ORRERY_BINARY) + " " + arguments + " >/dev/null 2>&1";
    return WEXITSTATUS(std::system(command.c_str()));
  };
  CHECK(exit_code("run " + in_tree("scenarios/quickstart.json")) == 0);
  CHECK(exit_code("run " + in_tree("scenarios/fsdp-two-layers-too-small.json")) == 1);
  CHECK(exit_code("run - <" + in_tree("scenarios/fsdp-two-layers-too-small.json")) == 1);
  CHECK(exit_code("run - </dev/null") == 2);
  CHECK(exit_code("run no-such-file.json") == 2);
  CHECK(exit_code("--no-such-option") == 2);
  CHECK(exit_code("--version") == 0);
}

}  // namespace
}  // namespace orrery::test
