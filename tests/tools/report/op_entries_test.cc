// Tests the single entry for all iterations of an op of a loop, and its text for single iterations.

#include "tools/report/op_entries.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/scenario/reader.h"
#include "tools/report/json.h"
#include "tools/report/text.h"
#include "verifier/run.h"

namespace orrery {
namespace {

Report report_of(int64_t trips, const std::string& outputs, uint64_t most_ops_shown,
                 const std::string& op = "s") {
  RunOptions options;
  options.most_ops_shown = most_ops_shown;
  options.slack_budget = 0;
  return run(read_scenario("f", fmt::format(R"({{"orrery": 1, "check_types": false,
    "cluster": {{"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us",
                 "launch": "1 us"}},
    "mesh": {{"x": 2}}, "arrays": {{"a": {{"shape": [4], "dtype": "f32", "init": "ones"}}}},
    "program": [{{"id": "l", "op": "fori_loop", "lower": 0, "upper": {0},
                  "carry": {{"h": "a"}}, "yield": {{"h": "{2}"}},
                  "body": [{{"id": "{2}", "op": "psum", "of": "h", "axis_name": "x"}}]}}],
    "outputs": [{1}]}})",
                                            trips, outputs, op)),
             options);
}

TEST_CASE("entries: all iterations of an op are one, with those named, shown or not") {
  for (const uint64_t budget : {uint64_t{0}, uint64_t{1'000'000}}) {
    const Report report = report_of(100, R"("l", "l[0].s", "l[40].s", "l[60].s")", budget);
    const std::vector<OpEntry> entries = op_entries(report);
    REQUIRE(entries.size() == 1);
    const OpEntry& entry = entries.front();
    CHECK(entry.id == "l[].s");
    CHECK(entry.iterations == 100);
    const Duration each = entry.first().end - Instant();
    CHECK(entry.period == each);
    CHECK(entry.last().end == Instant() + each * 100);
    REQUIRE(entry.named.size() == 2);
    CHECK(entry.named[0]->end == Instant() + each * 41);
    CHECK(entry.named[1]->end == Instant() + each * 61);
    CHECK(json_text(report, {}).find(R"("id": "l[40].s",)") != std::string::npos);
    CHECK(report_text(report, Style()).find("\n  l[60].s  psum") != std::string::npos);
  }
  CHECK(op_entries(report_of(100, R"("l")", 0)).front().named.empty());
}

/// Returns the paragraph of the text report on the critical path of a loop with this body, which
/// yields "y". Device 1 computes more slowly where it is said to be slow.
std::string path_of(const std::string& body, bool slow, uint64_t most_ops_shown) {
  RunOptions options;
  options.most_ops_shown = most_ops_shown;
  const std::string text = report_text(
      run(read_scenario("f", fmt::format(R"({{"orrery": 1, "check_types": false,
    "cluster": {{"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us",
                 "launch": "1 us", "memory_bandwidth": "1 GB/s"}},
    "faults": [{1}],
    "mesh": {{"x": 2}}, "arrays": {{"a": {{"shape": [400], "dtype": "f32", "init": "ones"}}}},
    "program": [{{"id": "b", "op": "neg", "of": "a"}},
                {{"id": "l", "op": "fori_loop", "lower": 0, "upper": 100,
                  "carry": {{"h": "b"}}, "yield": {{"h": "y"}}, "body": [{0}]}},
                {{"id": "z", "op": "psum", "of": "l", "axis_name": "x"}}],
    "outputs": ["z"]}})",
                                         body, slow ? R"({"slow_device": 1, "factor": 3})" : "")),
          options),
      Style());
  const size_t begin = text.find("CRITICAL PATH");
  return text.substr(begin, text.find("\n\n", begin) - begin);
}

TEST_CASE(
    "entries: the path through a loop is shown alike, whether iterations are left out or not") {
  const std::string s = R"({"id": "s", "op": "psum", "of": "h", "axis_name": "x"}, )";
  const std::string y = R"({"id": "y", "op": "mul", "of": ["s", "a"]})";
  const std::string t = R"({"id": "t", "op": "ppermute", "of": "h", "axis_name": "x",
                            "perm": [[0, 1], [1, 0]]}, )";
  for (const std::string& body : {s + y, t + s + y, t + t.substr(0, 8) + "u" + t.substr(9) + s + y})
    for (const bool slow : {false, true}) {
      CAPTURE(body);
      const std::string left_out = path_of(body, slow, 0);
      CHECK(left_out == path_of(body, slow, 1'000'000));
      CHECK(left_out.find("100 × (") != std::string::npos);
    }
}

TEST_CASE("entries: an op whose id looks like an index is in the loop that it is in") {
  const Report report = report_of(100, R"("l")", 0, "s[]");
  CHECK(op_entries(report).front().id == "l[].s[]");
  CHECK(op_entries(report).front().loop == "l[]");
  CHECK(report_text(report, Style()).find("l[]: 100 iterations") != std::string::npos);
}

TEST_CASE("entries: an op outside of loops is in none, whatever it is called") {
  const std::string scenario = R"({"orrery": 1, "mesh": {"x": 2},
    "cluster": {"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"},
    "arrays": {"a": {"shape": [4], "dtype": "f32"}, "ct_r": {"shape": [4], "dtype": "f32"}},
    "program": [{"id": "l", "op": "fori_loop", "lower": 0, "upper": 9, "carry": {"h": "a"},
                 "yield": {"h": "y"}, "body": [{"id": "y", "op": "neg", "of": "h"}]},
                {"id": "l[0].zz", "op": "neg", "of": "l"}, {"id": "r", "op": "neg", "of": "l[0].zz"}],
    "transform": {"vjp": {"of": "r", "with_respect_to": "a", "keep_loops": true}}})";
  std::vector<std::string> ids;
  const Report report = run(read_scenario("f", scenario), {});
  for (const OpEntry& entry : op_entries(report))
    ids.push_back(entry.id + (entry.loop.empty() ? "" : " in " + entry.loop));
  CHECK(ids == std::vector<std::string>{"l[].y in l[]", "l[0].zz", "r", "r.bwd", "l[0].zz.bwd",
                                        "l.bwd[].y.bwd in l.bwd[]"});
}

}  // namespace
}  // namespace orrery
