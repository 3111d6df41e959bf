// Tests ragged_all_to_all: the messages where its tables do not agree, and how long the rows take
// that the tables name.

#include "verifier/ragged/ragged_tables.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "models/program/ragged.h"
#include "simulator/schedule/lowered.h"
#include "tests/models/program/lists.h"
#include "tests/support/property.h"
#include "tests/verifier/ragged_example.h"
#include "tests/verifier/ragged_rig.h"

namespace orrery::test {
namespace {

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
  Tables fewer_sent;
  fewer_sent.send_sizes = "[[1, 1], [1, 1]]";
  CHECK(disagreement(fewer_sent) ==
        "\"r\": slice 0 of device 0 for device 1 has 1 row by send_sizes of device 0, and 2 by "
        "recv_sizes of device 1.");
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
  // Side by side, the slices do not overlap.
  tables.output_offsets = "[[0, 1], [1, 0]]";
  tables.send_sizes = "[[1, 2], [1, 1]]";
  CHECK(run_parts(example(tables)).broken() == Names{});
}

const char* const kOtherView =
    " The tables would agree if output_offsets had the receiver's view. It has the sender's: each "
    "entry says where the slice begins in the result of its receiver. An all_to_all "
    "of the receivers' offsets gives it.";

TEST_CASE("ragged: output_offsets in the receiver's view are told, where they would be right") {
  // Device 0 stores its own row first and the one of device 1 behind it; device 1 stores two rows
  // of device 0, and one of its own behind them.
  Tables tables;
  tables.output_offsets = "[[0, 1], [0, 2]]";
  CHECK(disagreement(tables) ==
        std::string("\"r\": slice 0 of device 0 and slice 0 of device 1 overlap in row 0 of the "
                    "result of device 0.") +
            kOtherView);
  // Other errors stay, whatever the view.
  tables.send_sizes = "[[1, 2], [2, 1]]";
  CHECK(disagreement(tables).find("view") == std::string::npos);
}

TEST_CASE("ragged: random tables with offsets in the receiver's view say so where they fail") {
  int64_t failed = 0;
  holds_for_all("the message says so", [&](uint64_t seed) {
    Random random(seed);
    const auto ranks = static_cast<size_t>(random.between(2, 4));
    const auto slices = static_cast<size_t>(random.between(1, 2));
    const int64_t rows = 40;
    std::vector<std::vector<int64_t>> sizes(ranks);
    for (std::vector<int64_t>& list : sizes)
      for (size_t entry = 0; entry < ranks * slices; ++entry)
        list.push_back(random.between(0, 3));
    const RaggedGroup right = AssumedSizes(sizes, {ranks, ranks * slices, rows, rows}).group();
    SiteTables given{false, {right}};
    for (size_t from = 0; from < ranks; ++from)
      for (size_t to = 0; to < ranks; ++to)
        for (size_t s = 0; s < slices; ++s)
          given.groups[0].ranks[to].output_offsets[right.entry(from, s)] =
              right.ranks[from].output_offsets[right.entry(to, s)];
    Random data(1);
    RaggedRig rig({.ranks = static_cast<uint32_t>(ranks)}, Dtype::S32, Shape{}, {right}, data);
    const Program program = rig.program();
    RC_ASSERT(tables_agreed(program, SiteId(0), {false, {right}}).holds());
    const Check check = tables_agreed(program, SiteId(0), given);
    failed += check.holds() ? 0 : 1;
    RC_ASSERT(check.holds() == (check.message.find(kOtherView) == std::string::npos));
    // With another error besides, nothing is said of the view.
    given.groups[0].ranks[0].recv_sizes[0] += 1;
    RC_ASSERT(tables_agreed(program, SiteId(0), given).message.find("view") == std::string::npos);
  });
  CHECK(failed > 0);
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
  const RaggedTables& tables = ran.report.lowered->tables;
  CHECK(tables.at(SiteId(0)) == tables.at(SiteId(1)));
  CHECK(tables.at(SiteId(0)) != tables.at(SiteId(2)));
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

TEST_CASE("expect holds: a property that fails outweighs one before it that is undecided") {
  Tables tables;
  tables.send_sizes = "[[1, 2], [2, 1]]";
  ScenarioParts parts = example(tables);
  parts.expect = R"([{"holds": ["proved", "deadlock_free"]}])";
  const Ran ran = run_parts(parts);
  CHECK(ran.check("PROPERTY.HOLDS").verdict == Verdict::Fails);
  CHECK(ran.check("PROPERTY.HOLDS").message.starts_with("deadlock_free does not hold: "));
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
  // The makespan is 8 B at 1 GB/s after 1 us. For two ranks, busbw is half of algbw.
  CHECK(ran.report.completion->makespan - Instant() == Duration(1'008'000));
  CHECK(op.busbw_GBps.value() == doctest::Approx(op.algbw_GBps.value() / 2));
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
  CHECK(refusal(parts) ==
        "ragged_all_to_all \"r1\": expected an operand of s32[3] at site \"s\", as \"r0\" has, got "
        "s32[4]");
}
}  // namespace
}  // namespace orrery::test
