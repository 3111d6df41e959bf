#include <set>
#include <string>

#include <doctest/doctest.h>

#include "models/base/diagnostics.h"
#include "models/program/rules.h"
#include "models/scenario/reader.h"
#include "tests/tools/reference/examples.h"
#include "tools/reference/op_reference.h"
#include "tools/reference/parameters.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

TEST_CASE("docs/scenario.md: every example is read, runs and holds") {
  for (const Json& example : document_examples()) {
    CAPTURE(example.dump());
    const Scenario scenario = read_scenario("example", example.dump());
    CHECK(run(scenario, {}).holds());
  }
}

TEST_CASE("docs/ops.md: matches the rules; tools/update_golden writes it") {
  CHECK(text_of("docs/ops.md") == op_reference());
}

/// The values of all keys "op" in it.
void add_ops(const Json& json, std::set<std::string>& ops) {
  if (json.is_object() && json.contains("op"))
    ops.insert(json.at("op").get<std::string>());
  for (const Json& inner : json)
    if (inner.is_structured())
      add_ops(inner, ops);
}

TEST_CASE("scenarios: there is one with each op") {
  std::set<std::string> used;
  for (const std::string& path : scenario_paths())
    add_ops(json_of(text_of(path)), used);
  for (const OpRules& op : all_rules()) {
    CAPTURE(op.name);
    CHECK((used.contains(std::string(op.name)) || used.contains(op_name(op.kind, Issue::Start))));
  }
}

TEST_CASE("op reference: every parameter is described") {
  for (const OpRules& op : all_rules())
    for (const Parameter& parameter : op.parameters) {
      CAPTURE(parameter.name);
      CHECK(!parameter_summary(parameter.name).empty());
    }
}

}  // namespace
}  // namespace orrery::test
