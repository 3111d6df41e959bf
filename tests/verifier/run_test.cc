// Tests runs of scenarios: fingerprints, expectations, budgets and labels.

#include "verifier/run.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/verifier/scenario_rig.h"

using namespace orrery;
using namespace orrery::test;

namespace {

using Names = std::vector<std::string>;

ScenarioParts scatter_then_gather() {
  ScenarioParts parts;
  parts.program =
      R"([{"id": "s", "op": "psum_scatter", "of": "a", "axis_name": "x", "scatter_dimension": 0, "tiled": true},
          {"id": "g", "op": "all_gather", "of": "s", "axis_name": "x", "axis": 0, "tiled": true},
          {"id": "r", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring"}])";
  parts.outputs = R"(["g", "r"])";
  return parts;
}

/// Returns the check of the only expectation.
Check expectation(ScenarioParts parts, const std::string& expect, const RunOptions& options = {}) {
  parts.expect = "[" + expect + "]";
  const Ran ran = run_parts(parts, options);
  REQUIRE(ran.report.checks.back().of == "/expect/0");
  return ran.report.checks.back();
}

TEST_CASE(
    "over no axes an untiled all_to_all moves the dimension it splits, as over an axis of size 1") {
  test::ScenarioParts parts;
  parts.arrays = R"({"a": {"shape": [4, 4], "dtype": "f32", "spec": ["x", null], "init": "iota"}})";
  // [1, 4] becomes [4, 1]; its sums along the new dimension are the row.
  parts.program = R"([
{"id": "r", "op": "all_to_all", "of": "a", "axis_name": [], "split_axis": 0, "concat_axis": 1},
{"id": "s", "op": "reduce_sum", "of": "r", "axes": [1]}])";
  parts.outputs = R"(["s"])";
  parts.expect =
      R"([{"values": {"s": [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]}}])";
  CHECK(test::run_parts(parts).broken() == std::vector<std::string>{});
}

}  // namespace

TEST_CASE(
    "run: every op is compared with its definition, proved, and run the same by all executors") {
  const Ran ran = run_parts(scatter_then_gather());
  CHECK(ran.broken() == Names{});
  size_t compared = 0;
  size_t proved = 0;
  for (const Check& check : ran.report.checks) {
    compared += check.name == "VALUES.ORACLE" ? 1 : 0;
    proved += check.name == "SCHEDULE.PROVED" ? 1 : 0;
  }
  CHECK(compared == 3);
  CHECK(proved == 3);
  CHECK(ran.check("SCHEDULE.DIGEST").message ==
        "Each step of each schedule ran once in: host executor, timing sweep.");
}

TEST_CASE("fingerprint: equal for the same run, different for other data or times") {
  const ScenarioParts parts = scatter_then_gather();
  const std::string first = run_parts(parts).report.fingerprint;
  CHECK(first.size() == 32);
  CHECK(run_parts(parts).report.fingerprint == first);

  ScenarioParts other_data = parts;
  other_data.arrays = R"({"a": {"shape": [32], "dtype": "f32", "spec": ["x"], "init": 1}})";
  CHECK(run_parts(other_data).report.fingerprint != first);

  ScenarioParts other_time = parts;
  other_time.program.replace(other_time.program.find("\"ring\""), 6, "\"recursive_doubling\"");
  CHECK(run_parts(other_time).report.fingerprint != first);
}

TEST_CASE("fingerprint: random data follows the seed") {
  ScenarioParts parts = scatter_then_gather();
  parts.arrays = R"({"a": {"shape": [32], "dtype": "f32", "spec": ["x"], "init": {"random": 5}}})";
  RunOptions one;
  one.seed = 1;
  RunOptions two;
  two.seed = 2;
  CHECK(run_parts(parts, one).report.fingerprint == run_parts(parts, one).report.fingerprint);
  CHECK(run_parts(parts, one).report.fingerprint != run_parts(parts, two).report.fingerprint);
}

TEST_CASE("two threads: a collective between them gives every device the sum of both halves") {
  ScenarioParts parts;
  parts.threads = true;
  parts.mesh = R"({"stage": 2, "x": 2})";
  parts.arrays =
      R"({"a": {"shape": [4], "dtype": "f32", "spec": [["stage", "x"]], "init": "iota"}})";
  parts.program =
      R"([{"name": "left", "on": {"stage": 0}, "do": [
             {"id": "l", "op": "psum", "of": "a", "axis_name": ["stage", "x"], "site": "all"}]},
          {"name": "right", "on": {"stage": 1}, "do": [
             {"id": "twice", "op": "add", "of": ["a", "a"]},
             {"id": "r", "op": "psum", "of": "twice", "axis_name": ["stage", "x"], "site": "all"}]}])";
  // 0 + 1 + 2 x 2 + 2 x 3
  parts.expect = R"([{"values": {"l": [[11], [11]], "r": [[11], [11]]}}])";
  const Ran ran = run_parts(parts);
  CHECK(ran.broken() == Names{});
  REQUIRE(ran.report.ops.size() == 3);
  CHECK(ran.report.devices[3].threads == std::vector<ThreadId>{ThreadId(1)});
}

TEST_CASE("expect equal: names the first element that differs") {
  CHECK(expectation(scatter_then_gather(), R"({"equal": ["g", "r"]})").holds());
  const Check check = expectation(scatter_then_gather(), R"({"equal": ["a", "r"]})");
  CHECK(check.name == "VALUES.EQUAL");
  // The sum is of element 0 of each device's 8 of iota: 0 + 8 + 16 + 24 = 48.
  CHECK(check.message == "On device 0, element 0: \"a\" has 0, \"r\" has 48.");
}

TEST_CASE("expect close: holds within the roundings of both, and reports how far beyond") {
  CHECK(expectation(scatter_then_gather(), R"({"close": ["g", "r"]})").holds());
  const Check check = expectation(scatter_then_gather(), R"({"close": ["a", "r"]})");
  CHECK(check.name == "VALUES.CLOSE");
  // a has no roundings. r has 3 roundings of 2^-24 of its terms' sum 48: 8.58e-6.
  CHECK(check.message ==
        "On device 0, element 0: \"a\" has 0, \"r\" has 48; their roundings allow a difference of "
        "8.58e-06.");
}

TEST_CASE("expect close: integers are not rounded") {
  ScenarioParts parts;
  parts.arrays = R"({"a": {"shape": [32], "dtype": "s32", "spec": ["x"], "init": 1}})";
  parts.program = R"([{"id": "s", "op": "add", "of": ["a", "a"]}])";
  CHECK(expectation(parts, R"({"close": ["a", "s"]})").message ==
        "On device 0, element 0: \"a\" has 1, \"s\" has 2; they are not rounded.");
}

TEST_CASE("expect: NaNs of other bits differ, but for a value given as \"NaN\"") {
  ScenarioParts parts;
  // The NaNs are a quiet one, and one with a payload that movement keeps.
  parts.arrays = R"({"a": {"local_shape": [1], "dtype": "f32", "encoding": "bits",
"per_device": [[2143289344], [2143289344], [2143289344], [2143289344]]},
"b": {"local_shape": [1], "dtype": "f32", "encoding": "bits",
"per_device": [[2143289345], [2143289345], [2143289345], [2143289345]]}})";
  parts.program = R"([{"id": "r", "op": "ppermute", "of": "b", "axis_name": "x",
"perm": [[0, 1], [1, 2], [2, 3], [3, 0]]}])";
  const auto check = [&](const std::string& expected) { return expectation(parts, expected); };
  CHECK(check(R"({"equal": ["b", "r"]})").holds());
  CHECK(check(R"({"equal": ["a", "r"]})").message ==
        "On device 0, element 0: \"a\" has NaN (bits 0x7fc00000), \"r\" has NaN (bits "
        "0x7fc00001).");
  CHECK(check(R"({"values": {"r": [["NaN"], ["NaN"], ["NaN"], ["NaN"]]}})").holds());
  const std::string quiet = R"([[2143289344], [2143289344], [2143289344], [2143289344]])";
  CHECK(check(R"({"encoding": "bits", "values": {"a": )" + quiet + "}}").holds());
  CHECK(check(R"({"encoding": "bits", "values": {"r": )" + quiet + "}}").message ==
        "On device 0, element 0: \"r\" has NaN (bits 0x7fc00001), the value given has NaN (bits "
        "0x7fc00000).");
}

TEST_CASE("expect close: a comparison of rounded sums that differ is undecided") {
  // The reduction folds the ranks in the order 0, 1, 2, 3.
  ScenarioParts parts;
  parts.arrays = R"({"a": {"local_shape": [1], "dtype": "f32",
"per_device": [[16777216], [1], [1], [-16777216]]}})";
  parts.program = R"([{"id": "g", "op": "all_gather", "of": "a", "axis_name": "x", "tiled": true},
{"id": "s", "op": "reduce_sum", "of": "g", "axes": [0]},
{"id": "exact", "op": "full", "shape": [], "dtype": "f32", "fill_value": 2},
{"id": "p", "op": "lt", "of": ["s", "exact"]},
{"id": "q", "op": "lt", "of": ["exact", "exact"]}])";
  // ((2^24 + 1) + 1) - 2^24 is 0, not 2.
  const Check check = expectation(parts, R"({"close": ["p", "q"]})");
  CHECK(check.verdict == Verdict::Undecided);
  CHECK(check.message ==
        "On device 0, element 0: \"p\" has true, \"q\" has false; their roundings allow any "
        "difference.");
}

TEST_CASE("expect values: literal, per device") {
  ScenarioParts parts;
  parts.arrays =
      R"({"a": {"local_shape": [1], "dtype": "s32", "per_device": [[1], [2], [3], [4]]}})";
  parts.program = R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x"}])";
  CHECK(expectation(parts, R"({"values": {"r": [[10], [10], [10], [10]]}})").holds());
  const Check check = expectation(parts, R"({"values": {"r": [[10], [10], [11], [10]]}})");
  CHECK(check.name == "VALUES.LITERAL");
  CHECK(check.message == "On device 2, element 0: \"r\" has 10, the value given has 11.");
}

TEST_CASE("expect holds: what has nothing to prove is not proved") {
  ScenarioParts parts;
  parts.program = R"([{"id": "n", "op": "neg", "of": "a"}])";
  const Check check = expectation(parts, R"({"holds": ["deadlock_free", "proved"]})");
  CHECK(check.verdict == Verdict::Undecided);
  CHECK(check.message ==
        "proved is undecided: the program has no collectives, so there is nothing to prove.");
  CHECK(expectation(parts, R"({"holds": ["deadlock_free", "race_free", "no_leak"]})").message ==
        "These hold: deadlock_free, race_free, no_leak.");
}

TEST_CASE("expect makespan: holds at the bound, and not a picosecond below it") {
  ScenarioParts parts;
  // One hop of 8 x 4 B at 1 GB/s and 1 us takes 1,032 ns.
  parts.program =
      R"([{"id": "p", "op": "ppermute", "of": "a", "axis_name": "x", "perm": [[0, 1]]}])";
  CHECK(
      expectation(parts, R"({"makespan": {"at_most": "1032 ns", "at_least": "1032 ns"}})").holds());
  const Check check = expectation(parts, R"({"makespan": {"at_most": "1031999 ps"}})");
  CHECK(check.name == "TIME.MAKESPAN");
  CHECK(check.message == "The makespan is 1032 ns, above 1031999 ps.");
  CHECK(expectation(parts, R"({"makespan": {"at_least": "1033 ns"}})").verdict == Verdict::Fails);
}

TEST_CASE("expect peak memory: the largest over devices") {
  ScenarioParts parts;
  parts.program = R"([{"id": "s", "op": "add", "of": ["a", "a"]}])";
  // There are two buffers of 32 B, each rounded up to 256 B.
  CHECK(expectation(parts, R"({"peak_memory": {"at_most": "512 B"}})").holds());
  const Check check = expectation(parts, R"({"peak_memory": {"at_most": "511 B"}})");
  CHECK(check.name == "MEMORY.PEAK");
  CHECK(check.message == "The peak memory is 512 B, above 511 B.");
}

TEST_CASE("expect holds: names the property and its violation") {
  ScenarioParts parts;
  parts.program = R"([{"id": "s", "op": "psum_start", "of": "a", "axis_name": "x"}])";
  CHECK(expectation(parts, R"({"holds": ["deadlock_free", "race_free", "proved"]})").holds());
  CHECK(expectation(parts, R"({"holds": ["no_leak"]})").message ==
        "no_leak does not hold: \"s\" starts a collective that is never done.");
}

TEST_CASE(
    "expectations on values, where they do not fit the data budget: not decided, so not held") {
  RunOptions small;
  small.data_budget = Bytes(100);
  // On 4 devices, a has 32 B, s has 8 B, and g and r have 32 B: 128 + 32 + 256 = 416 B.
  const Check check = expectation(scatter_then_gather(), R"({"equal": ["g", "r"]})", small);
  CHECK(check.verdict == Verdict::Undecided);
  CHECK(check.message ==
        "Undecided: values were not computed, since they take 416 B and the budget is 100 "
        "B.");
}

/// Returns programs in which "a" is on all devices, and "n", its negative, on devices 2 and 3.
ScenarioParts two_programs() {
  ScenarioParts parts;
  parts.threads = true;
  parts.mesh = R"({"stage": 2, "x": 2})";
  parts.arrays = R"({"a": {"shape": [4], "dtype": "f32", "spec": [["stage", "x"]]}})";
  parts.program =
      R"([{"on": {"stage": 0}, "do": [{"id": "l", "op": "neg", "of": "a"}]},
          {"on": {"stage": 1}, "do": [{"id": "n", "op": "neg", "of": "a"}]}])";
  return parts;
}

TEST_CASE("expectation close: sums that cancel are undecided, as their roundings may be larger") {
  ScenarioParts parts;
  // In rank order the sum is 1, since 1e8 + 1 is 1e8 in f32. From other ranks on, it is 2 or 0.
  parts.arrays =
      R"({"a": {"local_shape": [4], "dtype": "f32", "per_device": [[1, 1, 1, 1], [1e8, 1e8, 1e8, 1e8], [-1e8, -1e8, -1e8, -1e8], [1, 1, 1, 1]]}})";
  parts.program =
      R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring"},
          {"id": "g", "op": "all_gather", "of": "a", "axis_name": "x", "axis": 0},
          {"id": "s", "op": "reduce_sum", "of": "g", "axes": [0]}])";
  const Check check = expectation(parts, R"({"close": ["r", "s"]})");
  CHECK(check.verdict == Verdict::Undecided);
  // Each sum has 3 roundings of 2^-24 of magnitudes that sum to 2e8 + 2: 71.5 together.
  CHECK(check.message.find("their roundings allow a difference of 71.5, as large as the values.") !=
        std::string::npos);
}

TEST_CASE("expectation close: a sum that overflows in one order alone is undecided") {
  ScenarioParts parts;
  // (-6e4 + 6e4) + 6e4 is finite, but 6e4 + 6e4 is not.
  parts.arrays =
      R"({"a": {"local_shape": [4], "dtype": "f16", "per_device": [[-6e4, -6e4, -6e4, -6e4], [6e4, 6e4, 6e4, 6e4], [6e4, 6e4, 6e4, 6e4], [0, 0, 0, 0]]}})";
  parts.program =
      R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring"},
          {"id": "g", "op": "all_gather", "of": "a", "axis_name": "x", "axis": 0},
          {"id": "s", "op": "reduce_sum", "of": "g", "axes": [0]}])";
  parts.expect = R"([{"close": ["r", "s"]}])";
  const Ran ran = run_parts(parts);
  CHECK(ran.check("VALUES.CLOSE").verdict == Verdict::Undecided);
  CHECK(ran.check("VALUES.CLOSE").message.find("their roundings allow any difference") !=
        std::string::npos);
  CHECK(ran.check("VALUES.ORACLE").holds());
}

TEST_CASE("expectations equal and close: how many devices and elements were compared") {
  ScenarioParts parts = scatter_then_gather();
  parts.arrays = R"({"a": {"shape": [32], "dtype": "f32", "spec": ["x"], "init": 0.5}})";
  CHECK(expectation(parts, R"({"equal": ["g", "r"]})").message ==
        "\"g\" and \"r\" are bitwise equal on 4 devices, 8 elements each.");
  CHECK(expectation(parts, R"({"close": ["g", "r"]})").message ==
        "\"g\" and \"r\" are equal on 4 devices, 8 elements each.");
}

/// Returns whether "equal" of two float sums on these data says that they are exact in any order.
bool told_as_exact(const std::string& array, const std::string& more = "",
                   const std::string& summed = "a") {
  ScenarioParts parts;
  parts.arrays = "{\"a\": " + array + "}";
  parts.program = fmt::format(R"([{0}
      {{"id": "r", "op": "psum", "of": "{1}", "axis_name": "x", "algorithm": "ring"}},
      {{"id": "s", "op": "psum", "of": "{1}", "axis_name": "x", "algorithm": "recursive_doubling"}}])",
                              more, summed);
  const Check check = expectation(parts, R"({"equal": ["r", "s"]})");
  const bool told = check.caveat ==
                    "They sum numbers of few bits, which is exact in any order; sums of other "
                    "numbers may differ.";
  CHECK(told == !check.caveat.empty());
  return told;
}

std::string sharded(const std::string& dtype, const std::string& init) {
  return fmt::format(R"({{"shape": [32], "dtype": "{}", "spec": ["x"], "init": {}}})", dtype, init);
}

TEST_CASE("expectations name what a loop carries out as the scenario does") {
  ScenarioParts parts;
  parts.program =
      R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 3, "carry": {"h": "a"},
           "body": [{"id": "t", "op": "add", "of": ["h", "h"]}], "yield": {"h": "t"}}])";
  const auto message = [&](const std::string& expect) {
    return expectation(parts, expect).message;
  };
  CHECK(message(R"({"equal": ["l", "a"]})") == "On device 0, element 1: \"l\" has 8, \"a\" has 1.");
  CHECK(message(R"({"equal": ["l[2].t", "l[1].t"]})") ==
        "On device 0, element 1: \"l[2].t\" has 8, \"l[1].t\" has 4.");
  // There are three additions, of results up to 8. The roundings of the first two are doubled after
  // them.
  CHECK(message(R"({"close": ["a", "l.h"]})") ==
        "On device 0, element 1: \"a\" has 1, \"l.h\" has 8; their roundings allow a difference of "
        "1.43e-06.");
}

TEST_CASE("expectation equal: sums of numbers of few bits are told") {
  for (const std::string init : {R"({"random": 1, "values": "integers"})", "\"iota\"", "2", "0.5"})
    CHECK(told_as_exact(sharded("f32", init)));
  CHECK_FALSE(told_as_exact(sharded("f32", "\"random\"")));
}

TEST_CASE("expectation equal: few bits are told wherever they come from, and what they become") {
  const std::string convert =
      R"({"id": "c", "op": "convert_element_type", "of": "a", "new_dtype": "f32"},)";
  CHECK(told_as_exact(sharded("s32", "\"random\""), convert, "c"));
  const std::string iota =
      R"({"id": "i", "op": "iota", "shape": [8], "dtype": "f32", "dimension": 0},
         {"id": "b", "op": "add", "of": ["i", "a"]},)";
  CHECK(told_as_exact(sharded("f32", "\"zeros\""), iota, "b"));
  CHECK_FALSE(
      told_as_exact(sharded("f32", "\"iota\""), R"({"id": "e", "op": "exp", "of": "a"},)", "e"));
  // The terms are multiples of 1/8 up to 31/8.
  const std::string eighth = R"({"id": "k", "op": "full", "shape": [8], "dtype": "f32",
         "fill_value": 0.125}, {"id": "m", "op": "mul", "of": ["a", "k"]},)";
  CHECK(told_as_exact(sharded("f32", "\"iota\""), eighth, "m"));
  // One of the sums before is not exact, since 1/3 is rounded.
  const std::string third = R"({"id": "k", "op": "full", "shape": [8], "dtype": "f32",
         "fill_value": 0.3333333333333333}, {"id": "m", "op": "sub", "of": ["a", "k"]},
         {"id": "z", "op": "sub", "of": ["m", "m"]},)";
  CHECK_FALSE(told_as_exact(sharded("f32", "\"iota\""), third, "z"));
  // A sum of integers is always exact.
  CHECK_FALSE(told_as_exact(sharded("s32", "\"iota\"")));
}

TEST_CASE("expectation equal: few bits are told up to the largest whose sums are exact") {
  // There are four terms. Whole numbers of f32 are exact up to 2^24, those of bf16 up to 2^8.
  CHECK(told_as_exact(sharded("f32", "4194304")));
  CHECK_FALSE(told_as_exact(sharded("f32", "4194305")));
  CHECK(told_as_exact(sharded("bf16", "64")));
  CHECK_FALSE(told_as_exact(sharded("bf16", "65")));
}

TEST_CASE(
    "expectations equal and close: a device that lacks one of the values fails, unless told") {
  for (const std::string how : {"equal", "close"}) {
    const ScenarioParts parts = two_programs();
    const Check check = expectation(parts, "{\"" + how + R"(": ["a", "n"]})");
    CHECK(check.verdict == Verdict::Fails);
    CHECK(check.message ==
          "Device 0 has \"a\" and not \"n\". \"devices\": \"common\" compares them on the devices "
          "that have both.");
    const Check common = expectation(parts, "{\"" + how + R"(": ["a", "n"], "devices": "common"})");
    CHECK(common.message.find("On device 2, element 0: ") == 0);
  }
}

TEST_CASE("expectations on values, where data is off, are undecided, and so is the report") {
  RunOptions off;
  off.data = Data::Off;
  ScenarioParts parts = scatter_then_gather();
  parts.expect = R"([{"equal": ["g", "r"]}, {"close": ["g", "r"]}, {"holds": ["proved"]}])";
  const Ran ran = run_parts(parts, off);
  for (const char* const name : {"VALUES.EQUAL", "VALUES.CLOSE"}) {
    CHECK(ran.check(name).verdict == Verdict::Undecided);
    CHECK(ran.check(name).message == "Undecided: values were not computed, since data is off.");
  }
  CHECK(ran.check("PROPERTY.HOLDS").holds());
  CHECK(ran.report.verdict == Verdict::Undecided);
}

TEST_CASE("values: the ops that attention stands for count among the values") {
  ScenarioParts parts;
  parts.mesh = R"({"x": 1})";
  parts.devices = 1;
  parts.checked = false;
  parts.arrays = R"({"q": {"shape": [64, 1, 1], "dtype": "f32", "init": "zeros"}})";
  parts.program = R"([{"id": "o", "op": "dot_product_attention", "of": ["q", "q", "q"]}])";
  RunOptions options;
  // The scores are 16 KiB, and there are several arrays of their size.
  options.data_budget = Bytes(16 * 1024);
  const Ran little = run_parts(parts, options);
  CHECK(std::ranges::any_of(little.report.labels, [](const std::string& label) {
    return label.starts_with("values: not computed (they take ");
  }));
  options.data_budget = Bytes(256 * 1024);
  const Ran enough = run_parts(parts, options);
  CHECK(std::ranges::none_of(enough.report.labels, [](const std::string& label) {
    return label.starts_with("values: not computed");
  }));
}

TEST_CASE("a report without expectations on values holds with data off") {
  RunOptions off;
  off.data = Data::Off;
  CHECK(run_parts(scatter_then_gather(), off).report.holds());
}

TEST_CASE("a check that fails outweighs one that is undecided") {
  RunOptions off;
  off.data = Data::Off;
  ScenarioParts parts = scatter_then_gather();
  parts.expect = R"([{"equal": ["g", "r"]}, {"makespan": {"at_most": "1 ps"}}])";
  CHECK(run_parts(parts, off).report.verdict == Verdict::Fails);
}

TEST_CASE("what a corrected spec does not cut is labelled") {
  ScenarioParts parts;
  parts.arrays = R"({
"a": {"shape": [8, 6], "dtype": "f32", "spec": ["x", "z"], "corrected": true},
"b": {"shape": [8, 6], "dtype": "f32", "spec": [null, "x"], "corrected": true},
"c": {"shape": [8], "dtype": "f32", "spec": ["x"], "corrected": true}})";
  parts.program = R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x"}])";
  Names labels;
  for (const std::string& label : run_parts(parts).report.labels)
    if (label.starts_with("array "))
      labels.push_back(label);
  CHECK(
      labels ==
      Names{"array \"a\": dimension 1 is not cut, since the mesh has no axis \"z\"; it has \"x\"",
            "array \"b\": dimension 1 is not cut, since 6 is not divisible by the size of \"x\""});
}

TEST_CASE("proofs over the budget are left out and labelled, unless they are asked for") {
  RunOptions options;
  options.proof_budget = 0;
  ScenarioParts parts;
  parts.program =
      R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring"}])";
  const Ran ran = run_parts(parts, options);
  // A ring over 4 ranks has 7 steps per rank.
  CHECK(ran.report.labels.back() == "\"r\": not proved (28 steps, and the budget is 0)");
  parts.expect = R"([{"holds": ["proved"]}])";
  CHECK(run_parts(parts, options).check("SCHEDULE.PROVED").holds());
}

TEST_CASE("proofs of more pieces than the budget stop and are labelled") {
  RunOptions options;
  options.proof_piece_budget = 10;  // each of the 28 steps moves a piece
  ScenarioParts parts;
  parts.program =
      R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring"}])";
  CHECK(run_parts(parts, options).report.labels.back() ==
        "\"r\": not proved (28 steps that move more than 10 pieces, the budget)");
  parts.expect = R"([{"holds": ["proved"]}])";
  CHECK(run_parts(parts, options).check("SCHEDULE.PROVED").holds());
}

TEST_CASE("values that depend on an opaque computation are not decided") {
  ScenarioParts parts;
  parts.program =
      R"([{"id": "c", "op": "compute", "flops": "1 kFLOP", "bytes": "1 kB", "dtype": "f32", "shape": [8]},
          {"id": "r", "op": "psum", "of": "c", "axis_name": "x"}])";
  parts.expect = R"([{"equal": ["a", "r"]}, {"close": ["c", "a"]}])";
  const Ran ran = run_parts(parts);
  CHECK(ran.report.verdict == Verdict::Undecided);
  CHECK(ran.check("VALUES.EQUAL").message ==
        "It is not decided: \"r\" depends on \"c\", whose result is a stand-in.");
  CHECK(ran.check("VALUES.CLOSE").message ==
        "It is not decided: the result of \"c\" is a stand-in.");
}

TEST_CASE("ops: times, exposure and bandwidths of a started collective") {
  ScenarioParts parts;
  // A ring psum of 8 f32 over 4 ranks takes 2 x 3 hops of (1 us + 2 x 4 B at 1 GB/s) = 6 x 1,008 ns
  // = 6,048 ns. A computation of 2 us hides 2 us of it.
  parts.program =
      R"([{"id": "s", "op": "psum_start", "of": "a", "axis_name": "x", "algorithm": "ring"},
          {"id": "c", "op": "compute", "flops": "2 MFLOP", "bytes": "0 B", "dtype": "f32"},
          {"id": "d", "op": "done", "of": "s"}])";
  const Ran ran = run_parts(parts);
  const OpReport& started = ran.report.ops.front();
  CHECK(started.start == Instant(0));
  CHECK(started.end == Instant(6'048'000));
  CHECK(started.exposed == Duration(4'048'000));
  CHECK(started.hidden == Duration(2'000'000));
  CHECK(started.bytes == Bytes(32));
  CHECK(started.messages == 4 * 6);
  CHECK(started.choice->algorithm == "ring");
  CHECK(*started.algbw_GBps == doctest::Approx(32.0 / 6048));
  CHECK(*started.busbw_GBps == doctest::Approx(32.0 / 6048 * 1.5));
}

TEST_CASE("run: a scenario whose times leave 64 bits is wrong input") {
  ScenarioParts parts;
  const std::string year =
      R"("op": "compute", "flops": "4000000000 PFLOP", "bytes": "0 B", "dtype": "f32"})";
  parts.program = R"([{"id": "c", )" + year + R"(, {"id": "d", )" + year + "]";
  CHECK_THROWS_AS(run_parts(parts), InputError);
}
