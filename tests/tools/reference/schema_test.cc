// Compares the schemas with the reader of scenarios, and with the reports that they describe.

#include <regex>
#include <set>
#include <utility>

#include <doctest/doctest.h>

#include "models/base/diagnostics.h"
#include "models/scenario/draw.h"
#include "models/scenario/reader.h"
#include "tests/tools/reference/examples.h"
#include "tests/tools/reference/validator.h"
#include "tests/tools/report/sample.h"
#include "tools/reference/reference.h"
#include "tools/report/json.h"
#include "verifier/laws/verify.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

/// `Places` holds a schema and finds the parts of it that apply at one place of a document: through
/// references, choices and conditions, whether these hold or not.
class Places {
 public:
  explicit Places(const Json& schema) : root_(schema) {}

  std::vector<const Json*> top() const { return with_parts({&root_}); }

  std::vector<const Json*> below(const std::vector<const Json*>& parts, const Json& document,
                                 const std::string& key) const {
    std::vector<const Json*> found;
    const auto add = [&](const Json& schema) {
      if (schema.is_object())
        found.push_back(&schema);
    };
    for (const Json* part : parts) {
      if (document.is_array()) {
        if (part->contains("items"))
          add((*part)["items"]);
        continue;
      }
      if (has_property(*part, key))
        add((*part)["properties"][key]);
      else if (part->contains("additionalProperties"))
        add((*part)["additionalProperties"]);
      if (part->contains("patternProperties"))
        for (const auto& pattern : (*part)["patternProperties"].items())
          if (std::regex_search(key, std::regex(pattern.key())))
            add(pattern.value());
    }
    return with_parts(found);
  }

  /// Returns whether one of the parts has the key, or allows any key.
  static bool take(const std::vector<const Json*>& parts, const std::string& key) {
    return std::any_of(parts.begin(), parts.end(), [&](const Json* part) {
      return has_property(*part, key) || (part->contains("additionalProperties") &&
                                          (*part)["additionalProperties"].is_object());
    });
  }

 private:
  static bool has_property(const Json& part, const std::string& key) {
    return part.contains("properties") && part["properties"].contains(key);
  }

  std::vector<const Json*> with_parts(std::vector<const Json*> found) const {
    for (size_t i = 0; i < found.size(); ++i) {  // `found` grows meanwhile
      const Json& schema = *found[i];
      if (schema.contains("$ref"))
        found.push_back(&root_.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1))));
      for (const char* const choice : {"anyOf", "oneOf", "allOf"})
        if (schema.contains(choice))
          for (const Json& part : schema[choice])
            found.push_back(&part);
      for (const char* const outcome : {"then", "else"})
        if (schema.contains(outcome))
          found.push_back(&schema[outcome]);
    }
    return found;
  }

  const Json& root_;
};

/// Calls `visit` with every object of the document, its pointer and the parts that apply to it.
template <class Visit>
void for_each_object(const Places& places, const std::vector<const Json*>& parts,
                     const Json& document, const Json::json_pointer& at, const Visit& visit) {
  if (document.is_object())
    visit(document, at, parts);
  if (!document.is_structured())
    return;
  for (const auto& item : document.items()) {
    const Json::json_pointer below =
        document.is_array() ? at / std::stoul(item.key()) : at / item.key();
    for_each_object(places, places.below(parts, document, item.key()), item.value(), below, visit);
  }
}

template <class Visit>
void for_each_object(const Json& schema, const Json& document, const Visit& visit) {
  const Places places(schema);
  for_each_object(places, places.top(), document, Json::json_pointer(), visit);
}

/// Returns the keys that the reader knows at that object, taken from its error message; none if any
/// key is allowed.
std::vector<std::string> reader_keys(Json scenario, const Json::json_pointer& at) {
  const std::string strange = "qqqqqqqqqqqqqqqq";
  scenario[at][strange] = nullptr;
  std::string message;
  try {
    (void)read_scenario("f", scenario.dump());
  } catch (const InputError& error) {
    message = error.what();
  }
  const std::string before = "unknown key \"" + strange + "\"; expected one of";
  const size_t begin = message.find(before);
  if (begin == std::string::npos)
    return {};
  std::string list = message.substr(begin + before.size());
  list = list.substr(0, list.find('\n'));
  std::vector<std::string> keys;
  const std::regex quoted("\"([^\"]*)\"");
  for (std::sregex_iterator it(list.begin(), list.end(), quoted), end; it != end; ++it)
    keys.push_back((*it)[1]);
  return keys;
}

Json scenario_schema_json() {
  return Json::parse(scenario_schema());
}

TEST_CASE("docs/schema: is what `orrery show schema` prints; tools/update_golden writes it") {
  CHECK(text_of("docs/schema/scenario.schema.json") == scenario_schema());
  CHECK(text_of("docs/schema/law.schema.json") == law_schema());
  CHECK(text_of("docs/schema/plan.schema.json") == plan_schema());
  CHECK(text_of("docs/schema/report.schema.json") == report_schema());
  CHECK(text_of("docs/schema/plan-report.schema.json") == plan_report_schema());
}

TEST_CASE("law schema: accepts every built-in law, and wants what a law must have") {
  const Json schema = Json::parse(law_schema());
  for (const BuiltinLaw& law : builtin_laws()) {
    CAPTURE(law.id);
    CHECK(schema_error(schema, json_of(std::string(law.json))) == "");
  }
  const Json law = json_of(std::string(builtin_laws().front().json));
  for (const char* const key : {"forall", "expect", "mesh"}) {
    Json without = law;
    without.erase(key);
    CHECK(schema_error(schema, without) != "");
  }
}

TEST_CASE("law schema: refuses what the reader of laws refuses, and accepts what is near to that") {
  const Json schema = Json::parse(law_schema());
  const Json good = Json::parse(R"({"orrery": 1,
    "forall": {"n": {"from": 1, "to": 4}, "t": {"choose": ["f32", "bf16"]},
      "o": {"choose": ["psum", "pmax"]}},
    "mesh": {"x": "${n}"},
    "arrays": {"a": {"shape": ["${n}", 2], "dtype": "f32", "spec": ["x"]}},
    "program": [{"id": "s", "op": "psum", "of": "a", "axis_name": "x"}],
    "expect": [{"holds": ["proved"]}]})");
  const auto with = [&](const std::string& at, const Json& value) {
    Json changed = good;
    changed[Json::json_pointer(at)] = value;
    return changed;
  };
  struct Change {
    std::string at;
    Json refused;
    Json accepted;
  };
  const Json range = {{"from", 1}, {"to", 2}};
  const Json any_op = {{"id", "s"}, {"op", "${o}"}, {"of", "a"}, {"axis_name", "x"}};
  Json unknown_key = any_op;
  unknown_key["chunks"] = 1;
  const Change changes[] = {
      {"/forall", {{"if", range}}, {{"iff", range}}},
      {"/forall", {{"inverse", range}}, {{"n", range}}},
      {"/forall", {{"true", range}}, {{"True_1", range}}},
      {"/forall", {{"2n", range}}, {{"n2", range}}},
      {"/forall/n", {{"permutation", -1}}, {{"permutation", 0}}},
      {"/forall/n", {{"permutation", kMostDrawn + 1}}, {{"permutation", kMostDrawn}}},
      {"/forall/n", {{"some_of", ""}}, {{"some_of", "4"}}},
      {"/forall/n", {{"list", range}, {"length", -1}}, {{"list", range}, {"length", 1}}},
      {"/forall/t", {{"choose", {"${n}"}}}, {{"choose", {"{n}"}}}},
      {"/forall/t", {{"choose", {{{"k", {"a${n}"}}}}}}, {{"choose", {{{"k", {"a"}}}}}}},
      {"/where", "", "n > 1"},
      {"/mesh", {{"${n}", 1}}, {{"n", 1}}},
      {"/mesh/x", "x${n}", "${n + 1}"},
      {"/mesh/x", "${n} ", "${ n }"},
      {"/mesh/x", "${n", "${n}"},
      {"/mesh/x", "${}", "${1}"},
      {"/arrays/a/dtype", "f${n", "f${8 * n}"},
      {"/arrays/a/dtype", "$f{n}", "$${n}"},
      {"/program/0", unknown_key, any_op},
      {"/expect", Json::array(), good["expect"]},
      {"/expect", "${e}s", "${t}"},
  };
  REQUIRE(schema_error(schema, good) == "");
  for (const Change& change : changes) {
    CAPTURE(change.at);
    CAPTURE(change.refused.dump());
    CHECK(schema_error(schema, with(change.at, change.refused)) != "");
    CHECK(schema_error(schema, with(change.at, change.accepted)) == "");
  }
}

TEST_CASE("plan schema: accepts every plan of the project, and refuses what the reader refuses") {
  const Json schema = Json::parse(plan_schema());
  for (const std::string& path : plan_paths()) {
    CAPTURE(path);
    CHECK(schema_error(schema, json_of(text_of(path))) == "");
  }
  const Json good = Json::parse(R"({"orrery": 1, "cluster": "h100-sxm-8",
    "sweep": {"n": [1, 2], "m": {"from": 1, "to": 8, "times": 2}, "k": {"from": 1, "to": 3, "step": 2}},
    "where": "n < m", "minimize": ["cost", "devices"], "work": {"tokens": "${n * 4}"},
    "constraints": {"peak_memory": {"at_most": "${n} GiB"}, "makespan": {"at_most_s": 3}, "devices": {"at_most": "${n}"}},
    "price": {"per_device_hour": "${n}.5 USD"}, "cases": [{"id": "a-1", "let": {"n": 3, "m": 1, "k": 1}}],
    "kinds": {"weights": "w_*", "state": ["m_*", "v_*"]}, "mesh": {"x": "${n}"}, "program": []})");
  REQUIRE(schema_error(schema, good) == "");
  const auto refused = [&](const std::string& at, const Json& value) {
    CAPTURE(at);
    Json changed = good;
    changed[Json::json_pointer(at)] = value;
    CHECK(schema_error(schema, changed) != "");
  };
  refused("/sweep", {{"if", {1}}});
  refused("/sweep/n", Json::array());
  refused("/sweep/n", {1, 1});
  refused("/sweep/n", {"${m}"});
  refused("/sweep/m", {{"from", 1}, {"to", 2}, {"times", 1}});
  refused("/sweep/m", {{"from", 1}, {"to", 2}, {"times", 2}, {"step", 2}});
  refused("/where", "");
  refused("/minimize", Json::array());
  refused("/minimize", {"time"});
  refused("/work", {{"tokens", 0}});
  refused("/work", {{"tokens", 1}, {"steps", 1}});
  refused("/constraints", {{"cost", {{"at_most", 1}}}});
  refused("/constraints/devices", {{"at_most", 0}});
  refused("/price", {{"per_hour", "2 USD"}});
  refused("/cases/0/id", "a=1");
  refused("/cases/0/let", {{"n", "${m}"}});
  refused("/kinds/weights", 1);
}

TEST_CASE("scenario schema: accepts every scenario of the project, and every example") {
  const Json schema = scenario_schema_json();
  for (const std::string& path : scenario_paths()) {
    CAPTURE(path);
    CHECK(schema_error(schema, json_of(text_of(path))) == "");
  }
  for (const Json& example : document_examples())
    CHECK(schema_error(schema, example) == "");
}

TEST_CASE("scenario schema: has every key that the reader knows") {
  const Json schema = scenario_schema_json();
  for (const Json& example : document_examples())
    for_each_object(
        schema, example,
        [&](const Json&, const Json::json_pointer& at, const std::vector<const Json*>& parts) {
          for (const std::string& key : reader_keys(example, at)) {
            CAPTURE(at.to_string());
            CAPTURE(key);
            CHECK(Places::take(parts, key));
          }
        });
}

TEST_CASE("scenario schema: every key of it is in an example of the document") {
  const Json schema = scenario_schema_json();
  std::set<std::pair<const Json*, std::string>> shown;
  for (const Json& example : document_examples())
    for_each_object(
        schema, example,
        [&](const Json& object, const Json::json_pointer&, const std::vector<const Json*>& parts) {
          for (const Json* part : parts) {
            for (const auto& member : object.items())
              shown.emplace(part, member.key());
            if (part->contains("patternProperties"))  // a unit's suffix
              for (const auto& member : object.items())
                shown.emplace(part, member.key().substr(0, member.key().rfind('_')));
          }
        });
  const auto check = [&](const Json& part, const std::string& where) {
    if (!part.contains("properties"))
      return;
    for (const auto& property : part["properties"].items()) {
      CAPTURE(where);
      CAPTURE(property.key());
      CHECK(shown.count({&part, property.key()}) == 1);
    }
  };
  check(schema, "scenario");
  for (const auto& definition : schema["$defs"].items()) {
    if (definition.key().compare(0, 2, "op") == 0)
      continue;  // docs/ops.md has them
    check(definition.value(), definition.key());
    for (const char* const part : {"then", "else", "items"})
      if (definition.value().contains(part))
        check(definition.value()[part], definition.key() + "/" + part);
  }
}

TEST_CASE("scenario schema: amounts under their keys with a unit, values as reports print them") {
  const Json schema = scenario_schema_json();
  const Json compute = {{"id", "c"},        {"op", "compute"}, {"dtype", "f32"},
                        {"flops_GFLOP", 2}, {"bytes", 1},      {"scratch_KiB", 3}};
  Json good = document_examples().front();
  good["program"].push_back(compute);
  good["cluster"].erase("bandwidth");
  good["cluster"]["bandwidth_GBps"] = 50;
  good["cluster"]["flops"] = {{"f32_TFLOPps", 1}};
  const Json range = {{"least_ranks", 2}, {"most_ranks", 2}, {"least_bytes", 1}, {"most_KiB", 1}};
  good["cluster"]["transport"] = {{"protocols", {{"ll", Json::object()}}},
                                  {"calibrated", {{"psum", range}}}};
  good["expect"][0]["values"]["total"] = {
      {"dtype", "s32"},
      {"shape", {2}},
      {"per_device", Json::parse("[[12, 16], [12, 16], [12, 16], [12, 16]]")}};
  CHECK(schema_error(schema, good) == "");
  CHECK(read_scenario("f", good.dump()).expectations.size() == 1);
  for (const char* const key : {"flops_GiB", "bytes_GFLOP", "flops_gflop"}) {
    Json bad = good;
    bad["program"].back()[key] = 1;
    CAPTURE(key);
    CHECK(schema_error(schema, bad) != "");
    CHECK_THROWS_AS((void)read_scenario("f", bad.dump()), InputError);
  }
}

TEST_CASE("scenario schema: refuses what the reader refuses") {
  const Json schema = scenario_schema_json();
  const Json good = document_examples().front();
  REQUIRE(schema_error(schema, good) == "");
  const std::vector<std::pair<std::string, Json>> changes = {
      {"/orrery", 2},
      {"/surprise", 1},
      {"/cluster", "h100-sxm8"},
      {"/cluster/devices", 0},
      {"/cluster/bandwith", "1 GB/s"},
      {"/cluster/bandwidth", "50 GBps"},
      {"/cluster/latency", 1},
      {"/cluster/topology", "torus"},
      {"/mesh/x", "4"},
      {"/arrays/a/dtype", "float"},
      {"/arrays/a/per_device", Json::array({1})},
      {"/arrays/a/init", "one"},
      {"/arrays/a/init", {{"same_as", 1}}},
      {"/arrays/a/init", {{"same_as", "b"}, {"random", 1}}},
      {"/program/0/op", "all_reduce"},
      {"/program/0/tiled", true},  // no parameter of psum
      {"/program/0/channels", 0},
      {"/program/0/entry", "late"},
      {"/expect/0/holds", Json::array({"proved"})},  // beside "values"
      {"/programs", Json::array()},                  // beside "program"
      {"/memory", {{"reuse", "always"}}},
  };
  for (const auto& change : changes) {
    Json bad = good;
    bad[Json::json_pointer(change.first)] = change.second;
    CAPTURE(change.first);
    CHECK(schema_error(schema, bad) != "");
    CHECK_THROWS_AS((void)read_scenario("f", bad.dump()), InputError);
  }
  Json without = good;
  without["program"][0].erase("axis_name");
  CHECK(schema_error(schema, without) != "");
}

/// Returns reports of all kinds: one that holds, one that fails, one that hangs, one of a GPU, one
/// with errors and values, and one of a wrong input.
std::vector<Json> reports() {
  std::vector<Json> reports = {Json::parse(text_of("tests/tools/cli/golden/quickstart.json"))};
  for (const char* const name : {"cut-link", "fsdp-two-layers-too-small", "two-programs-hang"}) {
    Report report =
        run(read_scenario(name, text_of(std::string("scenarios/") + name + ".json")), {});
    if (report.completion)
      report.digest = report.completion->digest.value();
    JsonOptions options;
    if (report.values)
      options = {{{report.scenario->program.values.front().name, ValueId(size_t{0})}},
                 Encoding::Bits};
    reports.push_back(Json::parse(json_text(report, options)));
  }
  reports.push_back(Json::parse(json_text(report_on_gpu(), {})));
  try {
    (void)read_scenario("f", "{}");
  } catch (const InputError& error) {
    reports.push_back(Json::parse(json_text("f", error)));
  }
  return reports;
}

TEST_CASE("report schema: accepts every kind of report, and every key of it occurs") {
  const Json schema = Json::parse(report_schema());
  for (const Json& report : reports()) {
    CAPTURE(report);
    CHECK(schema_error(schema, report) == "");
    for_each_object(schema, report,
                    [&](const Json& object, const Json::json_pointer& at,
                        const std::vector<const Json*>& parts) {
                      for (const auto& member : object.items()) {
                        CAPTURE(at.to_string());
                        CAPTURE(member.key());
                        CHECK(Places::take(parts, member.key()));
                      }
                    });
  }
}

TEST_CASE("report schema: refuses what is not a report") {
  const Json schema = Json::parse(report_schema());
  const Json good = Json::parse(text_of("tests/tools/cli/golden/quickstart.json"));
  const Json several = {
      {"reports", Json::array({good, good})}, {"holds", true}, {"verdict", "holds"}};
  CHECK(schema_error(schema, several) == "");
  for (const char* const key : {"report", "holds", "fingerprint", "ops", "checks"}) {
    Json bad = good;
    bad.erase(key);
    CAPTURE(key);
    CHECK(schema_error(schema, bad) != "");
  }
  Json bad = good;
  bad["time"]["makespan_ps"] = "35 us";
  CHECK(schema_error(schema, bad) != "");
}

}  // namespace
}  // namespace orrery::test
