// Compares the values of ragged_all_to_all with point-to-point copies, and tests its laws. JAX on
// the CPU cannot run it. (ragged_tables_test.cc tests tables that do not agree,
// ragged_sizes_test.cc tables that are not known.)

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/hash.h"
#include "simulator/lower/lower.h"
#include "simulator/time/engine.h"
#include "tests/models/program/random_tables.h"
#include "tests/verifier/ragged_rig.h"
#include "tests/verifier/scenario_rig.h"

namespace orrery::test {
namespace {

/// Checks that the event engine gives the times of the report, if the sweep made them.
void check_engine(const Report& report) {
  if (report.completion->by != TimedBy::Sweep)
    return;
  const Scenario& scenario = *report.scenario;
  Diagnostics diagnostics("ragged");
  const Lowered lowered =
      lower(scenario.program, scenario.cluster, diagnostics, {}, report.lowered->tables);
  const Completion simulated =
      simulate(scenario.program, lowered, scenario.cluster.fabric, EngineOptions());
  CHECK(simulated.spans == report.completion->spans);
  CHECK(simulated.digest == report.completion->digest);
}

/// Checks one exchange. Returns how many rows were exchanged.
int64_t check_exchange(const Form& form, Dtype dtype, size_t slices, Random& random) {
  std::vector<RaggedGroup> tables;
  for (int g = 0; g < (form.groups == Groups::Axis ? 1 : 2); ++g)
    tables.push_back(random_tables(random, form.ranks, slices, form.cut ? 40 : 4));
  // All groups have operands of one shape.
  for (RaggedGroup& group : tables)
    for (const RaggedGroup& other : tables) {
      group.operand_rows = std::max(group.operand_rows, other.operand_rows);
      group.output_rows = std::max(group.output_rows, other.output_rows);
    }
  const Shape row = random.below(2) == 0 ? Shape() : Shape{random.between(1, 3)};
  RaggedRig exchange(form, dtype, row, tables, random);
  RunOptions options;
  options.data = Data::On;
  const Report report = run(exchange.scenario(), options);
  for (const Check& check : report.checks)
    if (!check.holds())
      FAIL_CHECK(check.message);
  const std::set<std::string> names = [&] {
    std::set<std::string> all;
    for (const Check& check : report.checks)
      all.insert(check.name);
    return all;
  }();
  for (const char* name : {"TABLES.AGREED", "RACE.FREE", "SCHEDULE.DIGEST", "SCHEDULE.PROVED",
                           "VALUES.ORACLE", "DEADLOCK.FREE"})
    CHECK_MESSAGE(names.count(name) == 1, name);
  check_engine(report);

  int64_t exchanged = 0;
  for (uint32_t g = 0; g < exchange.groups(); ++g) {
    std::vector<uint32_t> devices(form.ranks);
    for (uint32_t d = 0; d < exchange.devices(); ++d)
      if (exchange.place(d).first == g)
        devices[exchange.place(d).second] = d;
    std::vector<std::vector<Row>> operands;
    std::vector<std::vector<Row>> outputs;
    for (const uint32_t d : devices) {
      operands.push_back(rows_of(value(report, "operand", d)));
      outputs.push_back(rows_of(value(report, "output", d)));
    }
    const auto expected = point_to_point(tables[g], operands, outputs);
    for (uint32_t rank = 0; rank < form.ranks; ++rank)
      CHECK(rows_of(value(report, "r", devices[rank])) == expected[rank]);
    for (const SliceTables& rank : tables[g].ranks)
      for (const int64_t rows : rank.send_sizes)
        exchanged += rows;
  }
  return exchanged;
}

TEST_CASE("ragged: every dtype, grouping and form is a set of point-to-point copies (R04, R05)") {
  int64_t exchanged = 0;
  for (uint32_t ranks = 1; ranks <= 5; ++ranks)
    for (const Groups groups : {Groups::Axis, Groups::OuterAxis, Groups::Listed})
      for (size_t slices = 1; slices <= 3; ++slices)
        for (size_t d = 0; d < all_dtypes().size(); ++d) {
          const bool cut = (ranks + slices) % 2 == 0;
          const Issue issue = d % 2 == 0 ? Issue::Sync : Issue::Start;
          if ((d + ranks + slices) % 3 != 0)
            continue;  // each dtype in its turn
          Random random(mix(((ranks * 3 + static_cast<uint64_t>(groups)) * 4 + slices) * 64 + d));
          INFO(fmt::format("{} ranks, grouping {}, {} slices, {}{}", ranks,
                           static_cast<int>(groups), slices, name(all_dtypes()[d]),
                           cut ? ", cut" : ""));
          exchanged += check_exchange({ranks, groups, issue, cut}, all_dtypes()[d], slices, random);
        }
  CHECK(exchanged > 10'000);
}

TEST_CASE(
    "ragged: of equal dense slices it takes as long as all_to_all, and has its values (R02)") {
  ScenarioParts parts;
  parts.policy = "{}";
  const std::string arrays =
      R"("a": {"shape": [64, 3], "dtype": "f32", "spec": ["x"], "init": "iota"})";
  parts.arrays = fmt::format("{{{}}}", arrays);
  parts.program = R"([{"id": "r", "op": "all_to_all", "of": "a", "axis_name": "x", "split_axis": 0,
                       "concat_axis": 0, "tiled": true, "algorithm": "direct"}])";
  const Ran dense = run_parts(parts);
  parts.arrays = fmt::format(
      R"({{{}, "o": {{"shape": [64, 3], "dtype": "f32", "spec": ["x"], "init": 0}},
          "starts": {{"local_shape": [4], "dtype": "s32",
                      "per_device": [[0, 4, 8, 12], [0, 4, 8, 12], [0, 4, 8, 12], [0, 4, 8, 12]]}},
          "sizes": {{"local_shape": [4], "dtype": "s32",
                     "per_device": [[4, 4, 4, 4], [4, 4, 4, 4], [4, 4, 4, 4], [4, 4, 4, 4]]}},
          "places": {{"local_shape": [4], "dtype": "s32",
                      "per_device": [[0, 0, 0, 0], [4, 4, 4, 4], [8, 8, 8, 8], [12, 12, 12, 12]]}}}})",
      arrays);
  parts.program = R"([{"id": "r", "op": "ragged_all_to_all", "axis_name": "x",
                       "of": ["a", "o", "starts", "sizes", "places", "sizes"]}])";
  const Ran ragged = run_parts(parts);
  CHECK(ragged.broken() == Names{});
  CHECK(ragged.report.completion->makespan == dense.report.completion->makespan);
  for (uint32_t d = 0; d < 4; ++d)
    CHECK(rows_of(value(ragged.report, "r", d)) == rows_of(value(dense.report, "r", d)));
  CHECK(ragged.report.ops.front().bytes == dense.report.ops.front().bytes);
  CHECK(ragged.report.ops.front().busbw_GBps == dense.report.ops.front().busbw_GBps);
}
}  // namespace
}  // namespace orrery::test
