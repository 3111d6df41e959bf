// Tests that the documents agree with the code: their examples, tables and figures.

#include <algorithm>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/diagnostics.h"
#include "models/program/rules.h"
#include "models/scenario/quantity_text.h"
#include "models/scenario/reader.h"
#include "tests/support/tries.h"
#include "tests/tools/reference/examples.h"
#include "tools/reference/reference.h"
#include "tools/report/figures.h"
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

/// Returns the bytes that the first list holds while the first op of the backward pass runs.
Bytes held_between_passes(const Report& report) {
  const Program& program = report.scenario->program;
  const std::vector<OpId>& ops = program.threads.front().issue_order;
  const auto first = std::find_if(ops.begin(), ops.end(), [&](OpId op) {
    return program.op(op).name.find(".bwd") != std::string::npos;
  });
  REQUIRE(first != ops.end());
  return report.memory.lists.front().live[static_cast<size_t>(first - ops.begin())];
}

TEST_CASE("docs/training.md: the table has the figures of both scenarios") {
  const auto run_of = [](const std::string& name) {
    RunOptions options;
    options.data = Data::Off;
    const std::string path = "scenarios/llama3-8b-train-step" + name + ".json";
    return run(read_scenario(path, text_of(path)), options);
  };
  const Report keeps = run_of("");
  const Report recomputes = run_of("-recompute");
  const auto row = [&](const std::string& what, auto figure) {
    return "| " + what + " | " + figure(keeps) + " | " + figure(recomputes) + " |\n";
  };
  const std::string table =
      row("time",
          [](const Report& report) { return time_text(report.completion->makespan - Instant()); }) +
      row("of it exposed communication",
          [](const Report& report) { return time_text(most_exposed(report)->exposed); }) +
      row("peak of memory",
          [](const Report& report) { return size_text(report.memory.largest_peak()); }) +
      row("held between the passes",
          [](const Report& report) { return size_text(held_between_passes(report)); });
  CAPTURE(table);
  const std::string document = text_of("docs/training.md");
  CHECK(document.find(table) != std::string::npos);
  const Bytes saved = held_between_passes(keeps) - held_between_passes(recomputes);
  CAPTURE(size_text(saved));
  CHECK(document.find(size_text(saved) + " for each") != std::string::npos);
}

TEST_CASE("docs/mpmd.md: the table has the figures of each threshold") {
  const std::string path = "scenarios/mpmd-weights.json";
  const Scenario scenario = read_scenario(path, text_of(path));
  const std::string document = text_of("docs/mpmd.md");
  RunOptions options;
  options.data = Data::Off;
  options.proof_budget = 0;
  options.slack_budget = 0;
  for (const int64_t kibibytes : {0, 262144, 917504, 1048576, 1835008, 3670016, 6816000}) {
    if (!is_tried(static_cast<uint64_t>(kibibytes)))
      continue;
    const Bytes threshold(kibibytes << 10);
    const Report report =
        run(with_threshold(scenario, "q0.stage", threshold, options.limits), options);
    const ReshardReport& row = report.reshards.front();
    const Reshard& reshard = report.scenario->program.reshards.front();
    Bytes largest;
    for (const std::vector<size_t>& group : reshard.transfers) {
      Bytes size;
      for (const size_t array : group)
        size += reshard.arrays[array].size;
      largest = std::max(largest, size);
    }
    const std::string line = fmt::format("\n| {} | {} | {} | {} | {} |\n", quantity_text(threshold),
                                         reshard.transfers.size(), size_text(largest),
                                         time_text(row.end - row.start), size_text(row.peak));
    CAPTURE(line);
    CHECK(document.find(line) != std::string::npos);
  }
}

/// Adds the values of all keys "op" in the document.
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
