// ragged_all_to_all: its values against point-to-point copies, its laws, its times, and what is
// said where its tables do not agree or are not known. JAX on the CPU cannot run it.

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
#include "verifier/tables.h"

namespace orrery::test {
namespace {

/// Whether the event engine gives the times of the report, which were swept.
void check_engine(const Report& report) {
  if (report.completion->by != TimedBy::Sweep)
    return;
  const Scenario& scenario = *report.scenario;
  Diagnostics diagnostics("ragged");
  const Lowered lowered = lower(scenario.program, scenario.cluster, diagnostics);
  const Completion simulated =
      simulate(scenario.program, lowered, scenario.cluster.fabric, EngineOptions());
  CHECK(simulated.spans == report.completion->spans);
  CHECK(simulated.digest == report.completion->digest);
}

/// Returns how many rows were exchanged.
int64_t check_exchange(const Form& form, Dtype dtype, size_t slices, Random& random) {
  std::vector<RaggedGroup> tables;
  for (int g = 0; g < (form.groups == Groups::Axis ? 1 : 2); ++g)
    tables.push_back(random_tables(random, form.ranks, slices, form.cut ? 40 : 4));
  // Groups have operands of one shape.
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

/// Two devices, of the worked example of JAX's documentation.
struct Tables {
  std::string input_offsets = "[[0, 1], [0, 1]]";
  std::string send_sizes = "[[1, 2], [1, 1]]";
  std::string output_offsets = "[[0, 0], [1, 2]]";
  std::string recv_sizes = "[[1, 1], [2, 1]]";
};

ScenarioParts example(const Tables& tables = {}, const std::string& more = "") {
  ScenarioParts parts;
  parts.devices = 2;
  parts.mesh = R"({"x": 2})";
  const auto array = [](std::string_view name, int rows, const std::string& values) {
    return fmt::format(R"("{}": {{"local_shape": [{}], "dtype": "s32", "per_device": {}}})", name,
                       rows, values);
  };
  parts.arrays = fmt::format(
      "{{{}, {}, {}, {}, {}, {}}}", array("operand", 3, "[[1, 2, 2], [3, 4, 0]]"),
      array("output", 4, "[[0, 0, 0, 0], [0, 0, 0, 0]]"),
      array("input_offsets", 2, tables.input_offsets), array("send_sizes", 2, tables.send_sizes),
      array("output_offsets", 2, tables.output_offsets), array("recv_sizes", 2, tables.recv_sizes));
  parts.program = fmt::format(
      R"([{{"id": "r", "op": "ragged_all_to_all", "axis_name": "x"{},
            "of": ["operand", "output", "input_offsets", "send_sizes", "output_offsets",
                   "recv_sizes"]}}])",
      more);
  return parts;
}

std::string disagreement(const Tables& tables) {
  const Ran ran = run_parts(example(tables));
  CHECK(ran.broken() == Names{"TABLES.AGREED"});
  CHECK(!ran.report.completion);
  CHECK(!ran.report.values);
  return ran.check("TABLES.AGREED").message;
}

TEST_CASE("ragged: tables that do not agree are named by their first wrong entry") {
  Tables more_sent;
  more_sent.send_sizes = "[[1, 2], [2, 1]]";
  CHECK(disagreement(more_sent) ==
        "\"r\": slice 0 of device 1 for device 0 has 2 rows by send_sizes of device 1, and 1 by "
        "recv_sizes of device 0.");
  Tables negative;
  negative.send_sizes = "[[1, -1], [1, 1]]";
  CHECK(disagreement(negative) ==
        "\"r\": send_sizes gives slice 0 of device 0 for device 1 -1 rows.");
  Tables beyond_operand;
  beyond_operand.input_offsets = "[[0, 2], [0, 1]]";
  CHECK(disagreement(beyond_operand) ==
        "\"r\": slice 0 of device 0 for device 1 is 2 rows from row 2 on of an operand of 3.");
  Tables before_operand;
  before_operand.input_offsets = "[[-1, 1], [0, 1]]";
  CHECK(disagreement(before_operand) ==
        "\"r\": slice 0 of device 0 for device 0 is row -1 of an operand of 3.");
  Tables beyond_output;
  beyond_output.output_offsets = "[[0, 3], [1, 2]]";
  CHECK(disagreement(beyond_output) ==
        "\"r\": slice 0 of device 0 for device 1 goes to 2 rows from row 3 on of a result of 4.");
}

TEST_CASE("ragged: slices that overlap in a result are named, with the rows and the receiver") {
  Tables tables;
  tables.output_offsets = "[[0, 0], [1, 1]]";
  const Ran ran = run_parts(example(tables));
  const Check& check = ran.check("TABLES.AGREED");
  CHECK(check.message ==
        "\"r\": slice 0 of device 0 and slice 0 of device 1 overlap in row 1 of the result of "
        "device 1.");
  CHECK(check.witness ==
        std::vector<std::pair<std::string, std::string>>{{"op", "r"},
                                                         {"receiver", "1"},
                                                         {"rows", "row 1"},
                                                         {"first", "slice 0 of device 0"},
                                                         {"second", "slice 0 of device 1"}});
  // Side by side they do not.
  tables.output_offsets = "[[0, 1], [1, 0]]";
  tables.send_sizes = "[[1, 2], [1, 1]]";
  CHECK(run_parts(example(tables)).broken() == Names{});
}

TEST_CASE("ragged: slices that read a row twice are named where disjoint_reads says they do not") {
  Tables tables;
  tables.input_offsets = "[[0, 0], [0, 1]]";
  CHECK(run_parts(example(tables)).broken() == Names{});
  const Ran ran = run_parts(example(tables, R"(, "disjoint_reads": true)"));
  const Check& check = ran.check("TABLES.AGREED");
  CHECK(check.message ==
        "\"r\": slice 0 of device 0 for device 0 and slice 0 of device 0 for device 1 have row 0 "
        "of its operand in common, and \"disjoint_reads\" says that none have.");
  CHECK(check.witness == std::vector<std::pair<std::string, std::string>>{
                             {"op", "r"},
                             {"sender", "0"},
                             {"rows", "row 0"},
                             {"first", "slice 0 of device 0 for device 0"},
                             {"second", "slice 0 of device 0 for device 1"}});
  CHECK(run_parts(example({}, R"(, "disjoint_reads": true)")).broken() == Names{});
}

TEST_CASE("ragged: numbers beyond 63 bits are told as such") {
  ScenarioParts parts = example();
  const std::string s32 =
      R"("output_offsets": {"local_shape": [2], "dtype": "s32", "per_device": [[0, 0)";
  const std::string u64 =
      R"("output_offsets": {"local_shape": [2], "dtype": "u64", "per_device": [[0, 18446744073709551615)";
  REQUIRE(parts.arrays.find(s32) != std::string::npos);
  parts.arrays.replace(parts.arrays.find(s32), s32.size(), u64);
  CHECK(run_parts(parts).check("TABLES.AGREED").message ==
        "\"r\": slice 0 of device 0 for device 1 goes to 2 rows from row 2^63 - 1 or more on of a "
        "result of 4.");
}

TEST_CASE("ragged: exchanges with equal tables share them") {
  ScenarioParts parts = example();
  const std::string op = parts.program.substr(1, parts.program.size() - 2);
  std::string again = op;
  again.replace(again.find("\"r\""), 3, "\"s\"");
  std::string other = op;
  other.replace(other.find("\"r\""), 3, "\"u\"");
  other.replace(other.find("\"input_offsets\""), 15, "\"send_sizes\"");
  parts.program = fmt::format("[{}, {}, {}]", op, again, other);
  const auto replace = [&](const std::string& old, const std::string& by) {
    parts.arrays.replace(parts.arrays.find(old), old.size(), by);
  };
  replace(R"("operand": {"local_shape": [3])", R"("operand": {"local_shape": [4])");
  replace("[1, 2, 2]", "[1, 2, 2, 0]");
  replace("[3, 4, 0]", "[3, 4, 0, 0]");
  const Ran ran = run_parts(parts);
  CHECK(ran.broken() == Names{});
  const std::vector<Site>& sites = ran.report.scenario->program.sites;
  CHECK(sites.at(0).tables == sites.at(1).tables);
  CHECK(sites.at(0).tables != sites.at(2).tables);
}

TEST_CASE("ragged: where tables do not agree, nothing is said to be proved or to end") {
  Tables tables;
  tables.send_sizes = "[[1, 2], [2, 1]]";
  const auto said = [&](const std::string& property) {
    ScenarioParts parts = example(tables);
    parts.expect = fmt::format(R"([{{"holds": ["{}"]}}])", property);
    return run_parts(parts).check("PROPERTY.HOLDS").message;
  };
  CHECK(said("proved") == "proved is undecided: the tables of a ragged exchange do not agree.");
  CHECK(said("deadlock_free").starts_with("deadlock_free does not hold: \"r\": slice 0 of "));
}

TEST_CASE("ragged: where a slice without rows lies does not matter") {
  Tables tables;
  tables.send_sizes = "[[1, 0], [1, 1]]";
  tables.recv_sizes = "[[1, 1], [0, 1]]";
  tables.input_offsets = "[[0, 99], [0, 1]]";
  tables.output_offsets = "[[0, -7], [1, 2]]";
  ScenarioParts parts = example(tables);
  parts.expect = R"([{"values": {"r": [[1, 3, 0, 0], [0, 0, 4, 0]]}}])";
  CHECK(run_parts(parts).broken() == Names{});
}

TEST_CASE("ragged: only rows of slices are sent, and algbw is that of the rank that sends most") {
  const Ran ran = run_parts(example());
  // Device 0 sends 2 rows of 4 B to device 1, which sends one back. Device 0 has 3 rows of slices.
  const OpReport& op = ran.report.ops.front();
  CHECK(op.messages == 2);
  CHECK(op.bytes == Bytes(12));
  int64_t carried = 0;
  for (const LinkReport& link : ran.report.links)
    carried += link.bytes.count();
  CHECK(carried == 12);
  // 8 B at 1 GB/s after 1 us; of two ranks busbw is a half.
  CHECK(ran.report.completion->makespan - Instant() == Duration(1'008'000));
  CHECK(op.busbw_GBps.value() == doctest::Approx(op.algbw_GBps.value() / 2));
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

std::string refusal(const ScenarioParts& parts, const RunOptions& options = {}) {
  try {
    (void)run_parts(parts, options);
  } catch (const InputError& error) {
    return error.diagnostics().front().message;
  }
  return "accepted";
}

bool has_label(const Report& report, const std::string& label) {
  return std::find(report.labels.begin(), report.labels.end(), label) != report.labels.end();
}

TEST_CASE("ragged: with data off the tables are computed where they can be, or assumed") {
  RunOptions off;
  off.data = Data::Off;
  const Ran computed = run_parts(example(), off);
  CHECK(computed.check("TABLES.AGREED").holds());
  CHECK(computed.report.completion->makespan - Instant() == Duration(1'008'000));
  const Ran assumed = run_parts(example({}, R"(, "assume_sizes": [[1]])"), off);
  CHECK(has_label(assumed.report,
                  "\"r\": the sizes of its slices are assumed (assume_sizes), since data is off"));
  // One row each: 4 B.
  CHECK(assumed.report.completion->makespan - Instant() == Duration(1'004'000));
  // With data the values count.
  const Ran with_data = run_parts(example({}, R"(, "assume_sizes": [[1]])"));
  CHECK(with_data.report.completion->makespan - Instant() == Duration(1'008'000));
}

TEST_CASE("ragged: tables beyond the data budget are assumed, or the scenario is refused") {
  RunOptions small;
  small.data_budget = Bytes(32);
  // Arguments alone take nothing to be computed; a sum of one table does.
  ScenarioParts parts = example();
  const auto with = [&](const std::string& more) {
    parts.program = fmt::format(
        R"([{{"id": "s", "op": "max", "of": ["send_sizes", "send_sizes"]}},
            {{"id": "r", "op": "ragged_all_to_all", "axis_name": "x"{},
              "of": ["operand", "output", "input_offsets", "s", "output_offsets", "recv_sizes"]}}])",
        more);
    return parts;
  };
  CHECK(run_parts(with(""), small).check("TABLES.AGREED").holds());
  small.data_budget = Bytes(31);
  CHECK(refusal(with(""), small) ==
        "ragged_all_to_all: expected \"assume_sizes\", since its tables cannot be computed: the "
        "values on which they depend take 32 B and the budget is 31 B");
  CHECK(has_label(run_parts(with(R"(, "assume_sizes": [[1]])"), small).report,
                  "\"r\": the sizes of its slices are assumed (assume_sizes), since the values on "
                  "which they depend take 32 B and the budget is 31 B"));
}

TEST_CASE("ragged: tables of an opaque computation are assumed, or refused with its name") {
  ScenarioParts parts = example();
  const auto with = [&](const std::string& more) {
    parts.program = fmt::format(
        R"([{{"id": "router", "op": "compute", "of": "operand", "flops": 0, "bytes": 10,
              "shape": [2], "dtype": "s32"}},
            {{"id": "r", "op": "ragged_all_to_all", "axis_name": "x"{},
              "of": ["operand", "output", "input_offsets", "router", "output_offsets",
                     "recv_sizes"]}}])",
        more);
    return parts;
  };
  CHECK(refusal(with("")) ==
        "ragged_all_to_all: expected \"assume_sizes\", since its tables cannot be computed: they "
        "depend on \"router\", an opaque computation");
  const Ran ran = run_parts(with(R"(, "assume_sizes": [[1, 0], [2, 1]])"));
  CHECK(ran.broken() == Names{});
  CHECK(has_label(ran.report,
                  "\"r\": the sizes of its slices are assumed (assume_sizes), since they depend on "
                  "\"router\", an opaque computation"));
}

TEST_CASE("ragged: in a loop each iteration has its own sizes; of one left out they are assumed") {
  // Iteration i sends i rows: sizes are those of the last plus one.
  ScenarioParts parts = example();
  const auto loop = [&](int trips, const std::string& more) {
    parts.arrays =
        R"({"x": {"local_shape": [4], "dtype": "s32", "per_device": [[1, 2, 3, 4], [5, 6, 7, 8]]},
      "zeros": {"local_shape": [2], "dtype": "s32", "per_device": [[0, 0], [0, 0]]},
      "other": {"local_shape": [2], "dtype": "s32", "per_device": [[0, 1], [1, 0]]}})";
    parts.program = fmt::format(
        R"([{{"id": "l", "op": "fori_loop", "lower": 0, "upper": {}, "carry": {{"h": "x", "n": "zeros"}},
              "body": [
                {{"id": "y", "op": "ragged_all_to_all", "axis_name": "x"{},
                  "of": ["x", "h", "zeros", "n", "zeros", "n"]}},
                {{"id": "more", "op": "add", "of": ["n", "other"]}}],
              "yield": {{"h": "y", "n": "more"}}}}])",
        trips, more);
    return parts;
  };
  ScenarioParts three = loop(3, "");
  // No row, then one, then two: of the other device.
  three.expect = R"([{"values": {"l.h": [[5, 6, 3, 4], [1, 2, 7, 8]]}}])";
  const Ran ran = run_parts(three);
  CHECK(ran.broken() == Names{});
  std::vector<uint64_t> messages;
  for (const OpReport& op : ran.report.ops)
    if (op.choice)
      messages.push_back(op.messages);
  CHECK(messages == std::vector<uint64_t>{0, 2, 2});

  RunOptions folded;
  folded.iterations_budget = 0;
  CHECK(refusal(loop(10, ""), folded) ==
        "ragged_all_to_all: expected \"assume_sizes\", since its tables cannot be computed: they "
        "depend on a loop of which iterations are left out (in l[0]), and 4 times more");
  const Ran assumed = run_parts(loop(10, R"(, "assume_sizes": [[1]])"), folded);
  CHECK(assumed.report.completion.has_value());
  const Ran written = [&] {
    RunOptions off;
    off.data = Data::Off;
    return run_parts(loop(10, R"(, "assume_sizes": [[1]])"), off);
  }();
  CHECK(assumed.report.completion->makespan == written.report.completion->makespan);
}

TEST_CASE("ragged: tables may come from other ragged exchanges, and from other programs") {
  ScenarioParts parts = example();
  // Its own table, exchanged by the tables: device 0's row 0 stays, rows 1 and 2 are overwritten...
  parts.program =
      R"([{"id": "t", "op": "ragged_all_to_all", "axis_name": "x",
           "of": ["send_sizes", "recv_sizes", "zeros", "ones", "ranks", "ones"]},
          {"id": "r", "op": "ragged_all_to_all", "axis_name": "x",
           "of": ["operand", "output", "input_offsets", "send_sizes", "output_offsets", "t"]}])";
  // t is the first entry of device 0 and of device 1 on both: [1, 1].
  Tables tables;
  tables.send_sizes = "[[1, 1], [1, 1]]";
  tables.recv_sizes = "[[7, 7], [7, 7]]";
  parts.arrays = example(tables).arrays;
  parts.arrays.pop_back();
  parts.arrays += R"(, "zeros": {"local_shape": [2], "dtype": "u8", "per_device": [[0, 0], [0, 0]]},
    "ones": {"local_shape": [2], "dtype": "s64", "per_device": [[1, 1], [1, 1]]},
    "ranks": {"local_shape": [2], "dtype": "s16", "per_device": [[0, 0], [1, 1]]}})";
  parts.expect = R"([{"values": {"t": [[1, 1], [1, 1]], "r": [[1, 3, 0, 0], [2, 0, 4, 0]]}}])";
  CHECK(run_parts(parts).broken() == Names{});
}

TEST_CASE("ragged: tables that depend on assumed sizes are not computed") {
  // Every rank keeps row 0 of what t gives, whose sizes are assumed.
  ScenarioParts parts = example();
  const auto with = [&](const std::string& more) {
    parts.program = fmt::format(
        R"([{{"id": "t", "op": "ragged_all_to_all", "axis_name": "x", "assume_sizes": [[0]],
              "of": ["send_sizes", "recv_sizes", "input_offsets", "send_sizes", "output_offsets",
                     "recv_sizes"]}},
            {{"id": "r", "op": "ragged_all_to_all", "axis_name": "x"{},
              "of": ["operand", "output", "input_offsets", "send_sizes", "output_offsets", "t"]}}])",
        more);
    return parts;
  };
  RunOptions off;
  off.data = Data::Off;
  CHECK(refusal(with(""), off) ==
        "ragged_all_to_all: expected \"assume_sizes\", since its tables cannot be computed: they "
        "depend on \"t\", the sizes of whose slices are assumed");
  CHECK(run_parts(with(R"(, "assume_sizes": [[1]])"), off).broken() == Names{});
}

TEST_CASE("ragged: tables may come over a psend of the same program") {
  ScenarioParts parts = example();
  // The zeros that device 0 gets are added to nothing; device 1 gets device 0's.
  parts.program =
      R"([{"id": "u", "op": "psend", "of": "send_sizes", "axis_name": "x", "perm": [[0, 1]]},
          {"id": "v", "op": "precv", "of": "u", "axis_name": "x", "perm": [[0, 1]], "shape": [2],
           "dtype": "s32"},
          {"id": "none", "op": "sub", "of": ["v", "v"]},
          {"id": "s", "op": "add", "of": ["send_sizes", "none"]},
          {"id": "r", "op": "ragged_all_to_all", "axis_name": "x",
           "of": ["operand", "output", "input_offsets", "s", "output_offsets", "recv_sizes"]}])";
  const Ran ran = run_parts(parts);
  CHECK(ran.broken() == Names{});
  CHECK(ran.check("TABLES.AGREED").holds());
}

TEST_CASE("ragged: two programs meet by a site, operand by operand") {
  ScenarioParts parts = example();
  parts.threads = true;
  const auto half = [](int device, const std::string& operand) {
    return fmt::format(
        R"({{"on": {{"x": {}}}, "do": [{{"id": "r{}", "op": "ragged_all_to_all", "axis_name": "x",
             "site": "s", "of": ["{}", "output", "input_offsets", "send_sizes", "output_offsets",
             "recv_sizes"]}}]}})",
        device, device, operand);
  };
  parts.program = "[" + half(0, "operand") + ", " + half(1, "operand") + "]";
  CHECK(run_parts(parts).broken() == Names{});
  parts.program = "[" + half(0, "operand") + ", " + half(1, "output") + "]";
  CHECK(refusal(parts) == "expected an operand of s32[3] at site \"s\", as \"r0\" has, got s32[4]");
}

}  // namespace
}  // namespace orrery::test
