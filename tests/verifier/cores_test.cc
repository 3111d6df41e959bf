// Tests the times, the memory spaces and the reports of mpmd_maps.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/scenario/reader.h"
#include "tests/support/tries.h"
#include "tests/verifier/core_maps.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

using namespace cores;

Report report_of(const std::string& text) {
  return run(read_scenario("f", text), {});
}

int64_t makespan(const std::string& text) {
  return (report_of(text).completion->makespan - Instant()).count();
}

constexpr int64_t kLaunch = 3'000'000;
constexpr int64_t kRowBytes = 32;

TEST_CASE("cores: n equal instances divide the device's memory, and each has its own vmem") {
  for (const int64_t n : {1, 2, 5, 16}) {
    CAPTURE(n);
    const std::string body =
        kRowToT + "," + R"({"op": "mul", "of": ["t", "t"], "to": "t"})" + "," + kTToRow;
    // A row of the device's memory takes n times 32 ps; 8 products take 16 ps, less than the three
    // rows of vmem that they read and write.
    CHECK(makespan(scenario(vector(1, n, body), kT)) ==
          kLaunch + n * kRowBytes + 3 * kRowBytes + n * kRowBytes);
  }
}

TEST_CASE("cores: a body op takes its flops or its bytes, the longer of the two") {
  const auto dot = [](int64_t depth) {
    return makespan(scenario(
        vector(1, 1,
               R"({"op": "dot_general", "of": ["l", "l"], "to": "r",
                   "dimension_numbers": [[[0], [0]], [[], []]]})"),
        fmt::format(
            R"("l": {{"shape": [{}, 4], "dtype": "f32", "space": "vmem", "core": "v"}},
               "r": {{"shape": [4, 4], "dtype": "f32", "space": "vmem", "core": "v"}})",
            depth),
        R"("memory_bandwidth": "1 TB/s", "cores": {"vector": {"flops": {"f32": "500 GFLOP/s"},
           "spaces": {"vmem": {"bandwidth": "1 TB/s"}}}})"));
  };
  // 16 results of `depth` products and sums each, 2 ps a flop; the operand is read twice.
  CHECK(dot(1) == std::max<int64_t>(16 * 2 * 2, 2 * 16 + 64));
  CHECK(dot(100) == 16 * 100 * 2 * 2);
}

TEST_CASE("cores: a chain of k instances takes k times as long") {
  for (const int64_t k : {1, 2, 7, 16}) {
    // Each subcore would wait for the one before; bodies are alike, so one function of k bodies in
    // turn is written as two that take turns k times.
    CAPTURE(k);
    std::string there;
    std::string back;
    for (int64_t turn = 0; turn < k; ++turn) {
      there += fmt::format(
          R"({}{{"op": "copy", "from": "z_in", "to": "z_in"}}, {{"op": "signal", "sem": "go"}},
             {{"op": "wait", "sem": "come"}})",
          turn == 0 ? "" : ",");
      back += fmt::format(
          R"({}{{"op": "wait", "sem": "go"}}, {{"op": "copy", "from": "t", "to": "t"}},
             {{"op": "signal", "sem": "come"}})",
          turn == 0 ? "" : ",");
    }
    const std::string scratch = kT + R"(, "go": {"semaphore": true}, "come": {"semaphore": true},
               "z_in": {"shape": [4], "dtype": "f32", "space": "smem", "core": "z"})";
    // A turn of z moves 16 B to and from smem at the device's rate, one of v 32 B of vmem.
    const std::string text = scenario(scalar(1, there) + "," + vector(1, 1, back), scratch);
    CHECK(makespan(text) == kLaunch + k * (2 * 16 + 2 * kRowBytes));
    const Report report = report_of(text);
    // Three ops a turn on each side, up to the last copy of v.
    CHECK(critical_runs(report.cores_of(OpId(0))->times.walk).size() ==
          static_cast<size_t>(6 * k - 2));
  }
}

TEST_CASE("cores: a wait goes on with the earliest signals that suffice") {
  // z signals after 1 row and after 3; v waits for one or both.
  const std::string body =
      R"({"op": "copy", "from": "z_in", "to": "z_in"}, {"op": "signal", "sem": "go"},
         {"op": "copy", "from": "z_in", "to": "z_in"}, {"op": "copy", "from": "z_in", "to": "z_in"},
         {"op": "signal", "sem": "go"})";
  const std::string scratch = kT + R"(, "go": {"semaphore": true},
      "z_in": {"shape": [4], "dtype": "f32", "space": "smem", "core": "z"})";
  for (const int64_t amount : {1, 2}) {
    const std::string waits =
        fmt::format(R"({{"op": "wait", "sem": "go", "for": {}}},)", amount) +
        R"({"op": "copy", "from": "t", "to": "t"}, {"op": "copy", "from": "t", "to": "t"},
           {"op": "copy", "from": "t", "to": "t"})";
    CHECK(makespan(scenario(scalar(1, body) + "," + vector(1, 1, waits), scratch)) ==
          kLaunch + (amount == 1 ? 32 : 96) + 3 * 64);
  }
}

TEST_CASE("cores: the device's memory is divided without rounding its rate") {
  // 16 instances each read and write a row of 32 B.
  const std::string figures = R"("memory_bandwidth": "7 B/s")";
  const std::string body =
      R"({"op": "copy", "from": ["in0", {"row": "s"}], "to": ["out0", {"row": "s"}]})";
  constexpr int64_t kPsPerSecond = 1'000'000'000'000;
  CHECK(makespan(scenario(vector(1, 16, body), "", figures)) ==
        (2 * 16 * kRowBytes * kPsPerSecond + 6) / 7);
}

TEST_CASE("cores: without a memory bandwidth nothing is divided") {
  for (const std::string& label :
       report_of(scenario(vector(1, 2, kRowToT + "," + kTToRow), kT, R"("launch": "1 us")")).labels)
    CHECK_MESSAGE(label.find("divided") == std::string::npos, label);
}

TEST_CASE("cores: a product in a body needs a peak rate, as it does elsewhere") {
  const std::string product =
      R"({"op": "dot_general", "of": ["t", "t"], "to": "r", "dimension_numbers": [[[0], [0]], [[], []]]})";
  const std::string text =
      scenario(vector(1, 1, kRowToT + "," + product),
               kT + R"(, "r": {"shape": [], "dtype": "f32", "space": "vmem", "core": "v"})",
               R"("memory_bandwidth": "1 TB/s", "flops": {"bf16": "1 TFLOP/s"})");
  try {
    (void)report_of(text);
    FAIL("it was run");
  } catch (const InputError& error) {
    CHECK(error.diagnostics().front().message ==
          "mpmd_map \"m\": expected a peak rate for f32 under the cluster's \"flops\", got only "
          "bf16");
  }
}

TEST_CASE("cores: two instances of one function that meet are told what can be done") {
  const Report report =
      report_of(scenario(vector(1, 2, R"({"op": "copy", "from": "in0", "to": "out0"})"), ""));
  const auto race =
      std::find_if(report.checks.begin(), report.checks.end(), [](const Check& check) {
        return check.name == "RACE.FREE" && check.verdict == Verdict::Fails;
      });
  REQUIRE(race != report.checks.end());
  CHECK(
      race->message ==
      "In \"m\", the write at functions/0/body/0 of v (c=0, s=0) and the write at "
      "functions/0/body/0 of v (c=0, s=1) touch elements 0 to 127 of \"out0\", and nothing orders "
      "the two. Both run the body of \"v\": each needs a row of its own, or another function that "
      "signals them in turn.");
}

/// Returns a map in which a scalar core and `n` subcores take turns: each subcore writes the one
/// array "h" when it is its turn.
std::string turns(int64_t n) {
  std::string body;
  for (int64_t s = 0; s < n; ++s)
    body += fmt::format(R"({}{{"op": "signal", "sem": ["go", {{"row": {}}}]}},
                            {{"op": "wait", "sem": ["done", {{"row": {}}}]}})",
                        s == 0 ? "" : ", ", s, s);
  return scenario(
      scalar(1, body) + "," + vector(1, n, R"({"op": "wait", "sem": ["go", {"row": "s"}]},
                          {"op": "copy", "from": "in0", "to": "h"},
                          {"op": "signal", "sem": ["done", {"row": "s"}]})"),
      fmt::format(R"("h": {{"shape": [16, 8], "dtype": "f32", "space": "hbm"}},
                     "go": {{"semaphore": true, "shape": [{}]}},
                     "done": {{"semaphore": true, "shape": [{}]}})",
                  n, n),
      R"("memory_bandwidth": "1 TB/s")");
}

TEST_CASE("cores: a thousand signals before each access are within the budget") {
  CHECK(report_of(turns(3)).holds());
  CHECK(report_of(turns(700)).holds());
}

TEST_CASE("cores: equal instances that wait for one semaphore may trade places") {
  const auto verdict = [](int64_t signals) {
    const Report report = report_of(fmt::format(
        R"({{"orrery": 1, "mesh": {{"x": 1}}, "cluster": {{"devices": 1, "topology": "ring"}},
 "arrays": {{"a": {{"shape": [2], "dtype": "f32"}}}},
 "program": [{{"id": "m", "op": "mpmd_map", "of": "a", "out": [],
   "scratch": {{"s": {{"semaphore": true}}}}, "functions": [{}, {}]}}]}})",
        scalar(1, fmt::format(R"({{"op": "signal", "sem": "s", "by": {}}})", signals)),
        vector(1, 300, R"({"op": "wait", "sem": "s"})")));
    return report.checks.front().verdict;
  };
  CHECK(verdict(300) == Verdict::Holds);
  CHECK(verdict(299) == Verdict::Fails);
}

TEST_CASE("cores: a semaphore for which many wait in many ways is undecided, and no more memory") {
  // Each instance waits for its own semaphore, and then thousands for one.
  const std::string body =
      R"({"op": "signal", "sem": ["own", {"row": "c"}]}, {"op": "wait", "sem": ["own", {"row": "c"}]},
         {"op": "signal", "sem": "s"}, {"op": "wait", "sem": "s"})";
  const Report report = report_of(fmt::format(
      R"({{"orrery": 1, "mesh": {{"x": 1}}, "cluster": {{"devices": 1, "topology": "ring"}},
 "arrays": {{"a": {{"shape": [2], "dtype": "f32"}}}},
 "program": [{{"id": "m", "op": "mpmd_map", "of": "a", "out": [],
   "scratch": {{"s": {{"semaphore": true}}, "own": {{"semaphore": true, "shape": [3000]}}}},
   "functions": [{{"mesh": {{"type": "tensor", "name": "w", "core_axis": "c", "cores": 3000}}, "body": [{}]}}]}}]}})",
      body));
  CHECK(report.checks.front().verdict == Verdict::Undecided);
}

TEST_CASE("cores: figures that are absent are the device's, labelled") {
  const std::string text = scenario(
      vector(1, 2, kRowToT + "," + R"({"op": "mul", "of": ["t", "t"], "to": "t"})" + "," + kTToRow),
      kT, R"("memory_bandwidth": "1 TB/s", "launch": "1 us", "flops": {"f32": "1 TFLOP/s"})");
  CHECK(makespan(text) == 1'000'000 + 2 * 32 + 96 + 2 * 32);
  const std::vector<std::string> labels = report_of(text).labels;
  for (const char* const label :
       {"cores: flops of vector cores not given for f32; the device's",
        "cores: bandwidth of vmem of vector cores not given; that of the device's memory",
        "cores: the bandwidth of the device's memory is divided evenly among those that use it"})
    CHECK_MESSAGE(std::count(labels.begin(), labels.end(), label) == 1, label);
}

TEST_CASE(
    "cores: scratch of the device's memory is in the profile, other spaces are by themselves") {
  const std::string body = kRowToT + "," + kTToRow;
  const std::string scratch = kT + R"(, "h": {"shape": [128], "dtype": "f32", "space": "hbm"},
               "q": {"shape": [24], "dtype": "f32", "space": "vmem", "core": "v"})";
  const Report report = report_of(scenario(vector(1, 1, body), scratch));
  // The operand, the result and the scratch in the device's memory.
  CHECK(report.memory.largest_peak().count() == 3 * 512);
  REQUIRE(report.cores_of(OpId(0))->spaces.size() == 1);
  CHECK(report.cores_of(OpId(0))->spaces[0].peak == Bytes(32 + 96));
  CHECK(report.holds());  // exactly as large as vmem
  const Report over = report_of(
      scenario(vector(1, 1, body),
               kT + R"(, "q": {"shape": [25], "dtype": "f32", "space": "vmem", "core": "v"})"));
  CHECK(!over.holds());
  const auto capacity =
      std::find_if(over.checks.begin(), over.checks.end(),
                   [](const Check& check) { return check.name == "SPACE.CAPACITY"; });
  // A point of a plan that does not fit its spaces is not timed.
  RunOptions figures;
  figures.wanted = Wanted::Figures;
  const Report point = run(over.scenario, figures);
  CHECK(!point.completion);
  CHECK(point.checks.at(0).name == "SPACE.CAPACITY");
  CHECK(capacity->message ==
        "The scratch of \"m\" takes 132 B in vmem of each core of \"v\", which has 128 B.");
}

TEST_CASE("cores: an op that the cluster's cores cannot run is refused") {
  const auto refusal = [](const std::string& functions) -> std::string {
    try {
      (void)report_of(scenario(functions, kT));
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  const std::string body = kRowToT;
  CHECK(refusal(vector(2, 16, body)) == "");
  CHECK(
      refusal(vector(3, 1, body)) ==
      "f:7:14: /program/0: mpmd_map \"m\": expected at most 2 vector cores, which the cluster has, "
      "got 3 of \"v\"");
  CHECK(
      refusal(vector(
          1, 17, R"({"op": "full", "shape": [8], "fill_value": 1, "dtype": "f32", "to": "t"})")) ==
      "f:7:14: /program/0: mpmd_map \"m\": expected at most 16 subcores, which the cluster has, "
      "got "
      "17 of \"v\"");
  CHECK(refusal(R"({"mesh": {"type": "tensor", "name": "v", "core_axis": "c", "cores": 1}})") ==
        "f:7:14: /program/0: mpmd_map \"m\": expected cores that the cluster has (scalar, vector), "
        "got \"v\" of tensor cores");
}

TEST_CASE("cores: what is wrong for certain comes before what is undecided") {
  const std::string waits =
      R"({"mesh": {"type": "tensor", "name": "w", "core_axis": "c", "cores": 44},
          "body": [{"op": "signal", "sem": ["own", {"row": "c"}]}, {"op": "wait", "sem": ["own", {"row": "c"}]},
                   {"op": "signal", "sem": "s"}, {"op": "wait", "sem": "s"}]})";
  const std::string first =
      R"({"mesh": {"type": "tensor", "name": "w", "core_axis": "c", "cores": 1},
          "body": [{"op": "wait", "sem": "s"}]})";
  const auto map = [](const std::string& id, const std::string& functions) {
    return R"({"id": ")" + id + R"(", "op": "mpmd_map", "of": "a", "out": [],
      "scratch": {"s": {"semaphore": true}, "own": {"semaphore": true, "shape": [44]}}, "functions": [)" +
           functions + "]}";
  };
  const Report report = report_of(R"({"orrery": 1, "mesh": {"x": 1},
 "cluster": {"devices": 1, "topology": "ring"}, "arrays": {"a": {"shape": [2], "dtype": "f32"}},
 "program": [)" + map("p", waits) +
                                  "," + map("d", first) + "]}");
  CHECK(report.checks.front().verdict == Verdict::Fails);
  CHECK(report.checks.front().message.starts_with("In \"d\", w (c=0) waits"));
}

TEST_CASE("cores: maps of the most body ops are decided") {
  // Pairs of all body ops would be 10^9 (10^7 in a share under sanitizers). An instance's accesses
  // between two signals count once.
  const int most = is_sanitized() && !is_all_tried() ? 3'000 : 30'000;
  std::string body = R"({"op": "add", "of": ["t", "t"], "to": "t"})";
  for (int op = 0; op < most; ++op)
    body += R"(, {"op": "add", "of": ["t", "t"], "to": "t"})";
  CHECK(report_of(scenario(vector(1, 1, body), kT)).holds());
  const std::string row =
      R"({"op": "copy", "from": ["in0", {"row": 0}], "to": ["out0", {"row": "c"}]})";
  const std::string text = R"({"orrery": 1, "mesh": {"x": 1},
 "cluster": {"devices": 1, "topology": "ring"}, "arrays": {"a": {"shape": [1, 2], "dtype": "f32"}},
 "program": [{"id": "m", "op": "mpmd_map", "of": "a", "out": [{"shape": [)" +
                           std::to_string(most) + R"(, 2], "dtype": "f32"}],
   "functions": [{"mesh": {"type": "tensor", "name": "w", "core_axis": "c", "cores": )" +
                           std::to_string(most) + R"(}, "body": [)" + row + "]}]}]}";
  CHECK(report_of(text).holds());
}

TEST_CASE("cores: an mpmd_map in a loop is one op of each iteration") {
  const std::string once = scenario(vector(1, 1, kRowToT + "," + kTToRow), kT);
  const std::string text =
      R"({"orrery": 1, "mesh": {"x": 2},
 "cluster": {"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us", )" +
      std::string(kCores) + R"(},
 "arrays": {"a": {"shape": [16, 8], "dtype": "f32", "init": "iota"}},
 "program": [{"id": "l", "op": "fori_loop", "lower": 0, "upper": 5, "carry": {"h": "a"}, "yield": {"h": "m"},
   "body": [{"id": "m", "op": "mpmd_map", "of": "h", "out": [{"shape": [16, 8], "dtype": "f32"}],
     "scratch": {)" +
      kT + R"(}, "functions": [)" + vector(1, 1, kRowToT + "," + kTToRow) +
      R"(]}]}], "outputs": ["l"]})";
  CHECK(makespan(text) == 5 * makespan(once));
  CHECK(report_of(text).holds());
}

TEST_CASE("cores: a batch gives each element an op of its own, with its own values") {
  const std::string body =
      R"({"op": "add", "of": [["in0", {"row": "s"}], ["in0", {"row": "s"}]],
          "to": ["out0", {"row": "s"}]})";
  for (const char* const aliases : {"", R"("aliases": {"0": 0},)"}) {
    const std::string text =
        R"({"orrery": 1, "mesh": {"x": 1}, "cluster": {"devices": 1, "topology": "ring"},
 "arrays": {"a": {"shape": [2, 2, 3], "dtype": "s32", "init": "iota"}},
 "program": [{"id": "m", "op": "mpmd_map", "of": "a", )" +
        std::string(aliases) + R"("out": [{"shape": [2, 3], "dtype": "s32"}], "functions": [)" +
        vector(1, 2, body) +
        R"(]}], "transform": {"batch": {"axis_name": "i", "in_axes": {"a": 0}}}, "outputs": ["m"],
 "expect": [{"values": {"m": [[0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22]]}}]})";
    CAPTURE(text);
    const Report report = report_of(text);
    CHECK(report.holds());
    CHECK(report.cores.size() == 2);
  }
}

TEST_CASE("cores: an mpmd_map has no gradient") {
  const std::string text =
      scenario(vector(1, 1, kRowToT + "," + kTToRow), kT, kCores,
               R"(, "transform": {"vjp": {"of": ["m"], "with_respect_to": ["a"]}})");
  try {
    (void)read_scenario("f", text);
    FAIL("it was read");
  } catch (const InputError& error) {
    CHECK(
        error.diagnostics().front().message ==
        "expected an op that has a gradient between the values of \"with_respect_to\" and \"of\", "
        "got \"m\": mpmd_map has no backward rule");
  }
}

TEST_CASE("cores: the values of floats are within the bounds of their errors") {
  const std::string body = kRowToT + "," + R"({"op": "exp", "of": "t", "to": "t"})" + "," + kTToRow;
  const std::string text =
      R"({"orrery": 1, "mesh": {"x": 1}, "cluster": {"devices": 1, "topology": "ring"},
 "arrays": {"a": {"shape": [2, 8], "dtype": "f32", "init": "random"}},
 "program": [{"id": "m", "op": "mpmd_map", "of": "a", "out": [{"shape": [2, 8], "dtype": "f32"}],
   "scratch": {)" +
      kT + R"(}, "functions": [)" + vector(1, 2, body) +
      R"(]}, {"id": "e", "op": "exp", "of": "a"}], "outputs": ["m", "e"],
 "expect": [{"close": ["m", "e"]}]})";
  CHECK(report_of(text).holds());
}

}  // namespace
}  // namespace orrery::test
