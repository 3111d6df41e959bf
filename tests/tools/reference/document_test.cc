#include <set>

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

TEST_CASE("op reference: every parameter is described") {
  for (const OpRules& op : all_rules())
    for (const Parameter& parameter : op.parameters) {
      CAPTURE(parameter.name);
      CHECK(!parameter_summary(parameter.name).empty());
    }
}

}  // namespace
}  // namespace orrery::test
