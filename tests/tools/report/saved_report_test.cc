#include <doctest/doctest.h>

#include "models/scenario/reader.h"
#include "tests/tools/report/sample.h"
#include "tools/report/difference.h"
#include "tools/report/json.h"
#include "tools/report/run_record.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

RunRecord read(const std::string& text) {
  Diagnostics diagnostics("r.json");
  const Document document(text, diagnostics);
  REQUIRE(document.root());
  REQUIRE(is_report(*document.root()));
  return read_saved_report(*document.root(), diagnostics);
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// Returns a report that lacks everything except the given text for `key`.
std::string with(const std::string& key, const std::string& value) {
  std::string text = "{";
  const std::pair<std::string, std::string> members[] = {
      {"report", "1"}, {"holds", "true"}, {"fingerprint", "\"00\""}, {"time", "null"},
      {"ops", "[]"},   {"devices", "[]"}, {"checks", "[]"},          {"values", "{}"}};
  for (const auto& [name, otherwise] : members)
    text += (text.size() == 1 ? "\"" : ",\n\"") + name + "\": " + (name == key ? value : otherwise);
  return text + "}";
}

TEST_CASE("saved report: a written report reads back as the same run, in both encodings") {
  for (const Encoding encoding : {Encoding::Values, Encoding::Bits}) {
    const Report sample = sample_report();
    const std::string text = json_text(sample, {outputs(sample), encoding});
    const RunRecord saved = read(text);
    const RunRecord made = record_of(sample_report());
    CHECK(saved.makespan == made.makespan);
    CHECK(saved.ops.size() == 3);
    CHECK(saved.devices.size() == 2);
    CHECK(saved.checks.size() == 2);
    REQUIRE(saved.values.size() == 1);
    CHECK(saved.values[0].per_device == made.values[0].per_device);
    const RunComparison comparison = compare(made, saved);
    CHECK(comparison.same());
    CHECK(comparison.not_compared.empty());
  }
}

/// Returns the sample, with a protocol for its collectives.
Report sample_with_protocol() {
  Report sample = sample_report();
  for (OpReport& op : sample.ops)
    if (op.choice)
      op.choice->protocol = "ll";
  return sample;
}

TEST_CASE("saved report: the protocol of a collective is read with its algorithm") {
  const Report sample = sample_with_protocol();
  const RunRecord saved = read(json_text(sample, {outputs(sample), Encoding::Values}));
  CHECK(compare(record_of(sample_with_protocol()), saved).same());
  CHECK_FALSE(compare(record_of(sample_report()), saved).same());
}

TEST_CASE("saved report: the ops of a reshard are read from its row") {
  const auto ran = [] {
    return run(read_scenario("r", R"({"orrery": 1, "mesh": {"s": 2},
"cluster": {"devices": 2, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us"},
"arrays": {"a": {"shape": [8], "dtype": "f32", "spec": ["s"]}}, "outputs": ["p"],
"program": [{"id": ["p"], "op": "spmd_to_mpmd_reshard", "of": ["a"], "mpmd_axis": "s",
             "shardings": [{"mesh_ids": [1], "spec": []}]}]})"),
               {});
  };
  const Report report = ran();
  const RunRecord saved = read(json_text(report, {outputs(report), Encoding::Values}));
  CHECK(saved.ops.size() == 3);  // a gather, its done, and what frees it in group 0
  CHECK(compare(record_of(ran()), saved).same());
}

TEST_CASE("saved report: a program that does not end, and a value that a device never had") {
  const RunRecord record =
      read(with("values", R"({"v": {"dtype": "s8", "shape": [1], "per_device": [null, [-7]]}})"));
  CHECK_FALSE(record.makespan);
  REQUIRE(record.values.size() == 1);
  CHECK_FALSE(record.values[0].per_device[0]);
  CHECK(record.values[0].per_device[1]);
}

TEST_CASE("saved report: unknown keys of later versions are ignored") {
  CHECK(refusal(with("checks",
                     R"([{"name": "N", "of": "", "holds": true, "message": "m", "new": {}}])")) ==
        "");
}

TEST_CASE("saved report: entries of one value are one, unless someone has edited one of them") {
  const auto entry = [](const std::string& id, const std::string& element,
                        const std::string& global) {
    return "{" + id + R"("dtype": "f32", "shape": [1], "per_device": [[)" + element +
           R"(]], "global": {"dtype": "f32", "shape": [1], "elements": [)" + global + "]}}";
  };
  const auto values = [&](const std::string& element, const std::string& global) {
    return read(with("values", R"({"w.bwd": )" + entry("", "1", "2") + R"(, "ct_w": )" +
                                   entry(R"("id": "w.bwd", )", element, global) + "}"))
        .values;
  };
  const std::vector<RecordedValue> one = values("1", "2");
  REQUIRE(one.size() == 1);
  CHECK(one[0].name == "w.bwd");
  CHECK(one[0].shown_name() == "ct_w");
  for (const std::vector<RecordedValue>& edited : {values("3", "2"), values("1", "3")}) {
    REQUIRE(edited.size() == 2);
    CHECK(edited[0].shown_name() == "w.bwd");
    CHECK(edited[1].name == "w.bwd");
    CHECK(edited[1].shown_name() == "ct_w");
  }
}

TEST_CASE("saved report: a verdict, or of an older report whether it holds") {
  const auto verdict = [](const std::string& keys) {
    return read(with("checks", R"([{"name": "N", "of": "", "message": "m", )" + keys + "}]"))
        .checks.at(0)
        .verdict;
  };
  CHECK(verdict(R"("holds": false, "verdict": "undecided")") == Verdict::Undecided);
  CHECK(verdict(R"("holds": false, "verdict": "fails")") == Verdict::Fails);
  CHECK(verdict(R"("holds": true, "verdict": "holds")") == Verdict::Holds);
  CHECK(verdict(R"("holds": false)") == Verdict::Fails);
  CHECK(verdict(R"("holds": true)") == Verdict::Holds);
}

TEST_CASE("saved report: errors") {
  struct Case {
    std::string key, value, refused;
  };
  const Case cases[] = {
      {"report", "2", "r.json:1:12: /report: expected version 1 of the report, got 2"},
      {"holds", "1", "r.json:2:10: /holds: expected true or false, got 1"},
      {"time", "[]", "r.json:4:9: /time: expected an object or null, got a list"},
      {"time", "{}", "r.json:4:9: /time: missing key \"makespan_ps\""},
      {"time", R"({"makespan_ps": -1})",
       "r.json:4:25: /time/makespan_ps: expected a whole number of at least 0, got -1"},
      {"ops", "{}", "r.json:5:8: /ops: expected a list, got an object"},
      {"ops", "[1]", "r.json:5:9: /ops/0: expected an op, an object, got 1"},
      {"ops",
       R"([{"id": "p", "op": 3, "algorithm": null, "bytes": 0, "messages": 0, "start_ps": null}])",
       "r.json:5:27: /ops/0/op: expected an op, got 3"},
      {"devices", R"([{"id": 0, "peak_bytes": "1 B", "peak_at": null, "arena_bytes": 0}])",
       "r.json:6:37: /devices/0/peak_bytes: expected a whole number of at least 0, got \"1 B\""},
      {"checks", R"([{"name": "N", "of": "", "message": "m"}])",
       "r.json:7:12: /checks/0: missing key \"holds\""},
      {"checks", R"([{"name": "N", "of": "", "holds": false, "verdict": "maybe", "message": "m"}])",
       "r.json:7:63: /checks/0/verdict: expected \"holds\", \"undecided\" or \"fails\", got "
       "\"maybe\""},
      {"values", R"({"v": {"dtype": "f31", "shape": [1], "per_device": [[1]]}})",
       "r.json:8:27: /values/v/dtype: expected a dtype (one of "},
      {"values", R"({"v": {"dtype": "f32", "shape": [2], "per_device": [[1]]}})",
       "r.json:8:63: /values/v/per_device/0: expected 2 elements of f32[2], got 1"},
      {"values", R"({"v": {"dtype": "s8", "shape": [1], "per_device": [[128]]}})",
       "r.json:8:63: /values/v/per_device/0/0: expected a value of s8, got 128"},
      {"values", R"({"v": {"dtype": "s8", "shape": [1], "encoding": "hex", "per_device": []}})",
       "r.json:8:59: /values/v/encoding: expected \"values\" or \"bits\", got \"hex\""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.value);
    CHECK(refusal(with(c.key, c.value)).substr(0, c.refused.size()) == c.refused);
  }
  CHECK(refusal("{\"report\": 1}").find("missing key \"fingerprint\"") != std::string::npos);
}

TEST_CASE("saved report: a list of several reports is refused") {
  CHECK(refusal(R"({"reports": [], "holds": true})") ==
        "r.json:1:2: /reports: expected the report of one run, got a list of several (`run` of one "
        "file writes one)");
}

}  // namespace
}  // namespace orrery::test
