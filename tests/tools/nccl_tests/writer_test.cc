// Compares written tables with those of nccl-tests' own code.

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/property.h"
#include "tests/tools/nccl_tests/tables.h"
#include "tools/nccl_tests/collective.h"
#include "tools/nccl_tests/table.h"

namespace orrery::test {
namespace {

/// Returns the rows that nccl-tests' own code was given for the fixtures (all_reduce_2.19.6).
NcclTable fixture_table() {
  struct Given {
    int64_t size;
    int64_t time_ps;
    int64_t wrong;  // -1: not checked
  };
  NcclTable table;
  table.ranks = 8;
  table.settings = NcclSettings{
      .gpus = 8, .least = Bytes(8), .most = Bytes(1 << 20), .step = 4, .step_is_factor = true};
  table.device_names = {"a100-sxm-8"};
  for (const Given& given : std::vector<Given>{{8, 260'000, 0},
                                               {16, 9'045'999, 0},
                                               {1024, 99'994'999, 0},
                                               {4096, 99'995'001, 1},
                                               {65536, 1'234'500'000, 12'345'678},
                                               {1048576, 9'999'994'000, -1},
                                               {16777216, 99'999'940'000, 0},
                                               {268435456, 999'999'400'000, 0},
                                               {1073741824, 9'999'994'000'000, 0},
                                               {4294967296, 12'345'678'000'000, 0},
                                               {8589934592, 3'000'000, 0},
                                               {8589934592, 10'000, 0}}) {
    const NcclBandwidths bandwidths =
        nccl_bandwidths(NcclCollective::AllReduce, Bytes(given.size), 8, Duration(given.time_ps));
    NcclFigures figures{Duration(given.time_ps), bandwidths.algbw, bandwidths.busbw, {}};
    if (given.wrong >= 0)
      figures.wrong = given.wrong;
    NcclRow row;
    row.size = Bytes(given.size);
    row.count = given.size / 4;
    row.type = "float";
    row.redop = "sum";
    row.out_of_place = figures;
    row.in_place = figures;
    table.rows.push_back(row);
  }
  return table;
}

TEST_CASE("nccl writer: byte for byte what nccl-tests' own code prints") {
  CHECK(nccl_text(fixture_table(), {}) == nccl_fixture("all_reduce_2.19.6.txt"));
}

TEST_CASE("nccl writer: byte for byte the JSON that nccl-tests' own code writes") {
  NcclOrigin origin;
  origin.arguments = {"all_reduce_perf", "-b", "8", "-g", "8"};
  CHECK(nccl_json(fixture_table(), origin) == nccl_fixture("all_reduce_2.19.6.json"));
}

TEST_CASE("nccl writer: what a model adds are comments, and an environment variable") {
  const NcclTable table = fixture_table();
  NcclOrigin origin{
      "modelled on x", {"launch: 0 (not given)"}, "a bound", Bytes(1000), {"a/b\"\n\x01 c"}};
  const std::string text = nccl_text(table, origin);
  std::string rest = text;
  for (const char* const added :
       {"# orrery: modelled on x\n", "# orrery: assumed launch: 0 (not given)\n",
        "# orrery: a bound\n", "# Reducing maxBytes to 1000 due to memory limitation\n#\n"}) {
    const size_t at = rest.find(added);
    REQUIRE(at != std::string::npos);
    rest.erase(at, std::string(added).size());
  }
  CHECK(rest == nccl_text(table, {}));
  const std::string json = nccl_json(table, origin);
  CHECK(json.find(R"x("env":["ORRERY=modelled on x; assumed launch: 0 (not given); a bound"])x") !=
        std::string::npos);
  // As in nccl-tests, a slash is escaped, and a text ends before a character that is not written.
  CHECK(json.find(R"x("args":["a\/b\"\n"])x") != std::string::npos);
}

TEST_CASE("nccl writer: rows without figures, without bandwidths and with a root") {
  NcclTable table = fixture_table();
  table.collective = NcclCollective::Broadcast;
  table.rows.resize(1);
  NcclRow& row = table.rows.front();
  row.redop = "none";
  row.root = 3;
  row.out_of_place.reset();
  row.in_place = NcclFigures{Duration(0), {}, {}, 0};
  CHECK(nccl_text(table, {}).find("           8             2     float    none       3" +
                                  std::string(32, ' ') + "     0.00     nan     nan       0\n") !=
        std::string::npos);
  const NcclTable text = read_nccl_tables(nccl_text(table, {}), "t").front();
  CHECK(text.rows.front().in_place == row.in_place);
  CHECK(!text.rows.front().out_of_place);
  const NcclTable json =
      read_nccl_tables(nccl_json(table, NcclOrigin{"", {}, {}, {}, {"broadcast_perf"}}), "j")
          .front();
  CHECK(json.rows.front().in_place == row.in_place);
  CHECK(!json.rows.front().out_of_place);
}

NcclTable any_table() {
  NcclTable table;
  table.collective = nccl_collectives()[in_range<size_t>(0, nccl_collectives().size())];
  const auto threads = in_range<uint32_t>(1, 4);
  const auto gpus = in_range<uint32_t>(1, 5);
  const auto processes = in_range<uint32_t>(1, 4);
  table.ranks = threads * gpus * processes;
  table.settings = NcclSettings{.threads = threads, .gpus = gpus};
  table.settings->warmup = in_range<int64_t>(0, 100);
  table.settings->step_is_factor = any_bool();
  table.device_names = {"a device"};
  const auto rows = in_range(1, 6);
  for (int r = 0; r < rows; ++r) {
    NcclRow row;
    const NcclType type = nccl_types()[in_range<size_t>(0, nccl_types().size())];
    const auto elements = in_range<int64_t>(0, 1 << 28);
    const Bytes element = itemsize(type.dtype);
    const NcclCounts counts = nccl_counts(table.collective, elements, element, table.ranks);
    row.size = nccl_row_size(counts, element);
    row.count = counts.parameter;
    row.type = type.name;
    row.redop = redop_column(table.collective) == RedopColumn::Operation ? "max"
                : redop_column(table.collective) == RedopColumn::None    ? "none"
                                                                         : "";
    if (has_root(table.collective))
      row.root = in_range<uint32_t>(0, table.ranks);
    for (auto* const figures : {&row.out_of_place, &row.in_place}) {
      const auto time = in_range<int64_t>(1'000'000, 100'000'000'000);
      const NcclBandwidths exact =
          nccl_bandwidths(table.collective, row.size, table.ranks, Duration(time));
      *figures = NcclFigures{Duration(time), exact.algbw, exact.busbw, {}};
      if (any_bool())
        (*figures)->wrong = in_range<int64_t>(0, 1000);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Returns the text without the average, which is one of unrounded bandwidths.
std::string without_average(const std::string& text) {
  for (const char* const mark : {"# Avg bus bandwidth", "\"average_bus_bandwidth\""})
    if (const size_t at = text.find(mark); at != std::string::npos)
      return text.substr(0, at) + text.substr(text.find_first_of("\n}", at));
  return text;
}

TEST_CASE("nccl writer: what is written is read back, and written again the same") {
  holds_for_all("tables", [] {
    const NcclTable table = any_table();
    const NcclOrigin origin{"modelled on x", {"y"}, {}, {}, {program_name(table.collective)}};
    const std::string text = nccl_text(table, origin);
    const std::string json = nccl_json(table, origin);
    NcclTable from_text = read_nccl_tables(text, "t").front();
    NcclTable from_json = read_nccl_tables(json, "j").front();
    RC_ASSERT(without_average(nccl_text(from_text, origin)) == without_average(text));
    RC_ASSERT(without_average(nccl_json(from_json, origin)) == without_average(json));
    for (const NcclTable* const read : {&from_text, &from_json}) {
      RC_ASSERT(read->collective == table.collective);
      RC_ASSERT(read->ranks == table.ranks);
      RC_ASSERT(read->settings == table.settings);
      RC_ASSERT(read->device_names == table.device_names);
      RC_ASSERT(read->notes.empty());
      RC_ASSERT(read->rows.size() == table.rows.size());
    }
    for (size_t r = 0; r < table.rows.size(); ++r) {
      const NcclRow& row = table.rows[r];
      for (const NcclRow* const read : {&from_text.rows[r], &from_json.rows[r]}) {
        RC_ASSERT(read->size == row.size);
        RC_ASSERT(read->count == row.count);
        RC_ASSERT(read->type == row.type);
        RC_ASSERT(read->redop == row.redop);
        RC_ASSERT(read->root == row.root);
        RC_ASSERT(read->out_of_place->wrong == row.out_of_place->wrong);
      }
      RC_ASSERT(from_json.rows[r].in_place->time == row.in_place->time);
    }
  });
}

}  // namespace
}  // namespace orrery::test
