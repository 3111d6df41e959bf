#include "tools/nccl_tests/text_reader.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/nccl_tests/tables.h"

namespace orrery::test {
namespace {

/// Returns the text with `prefix` before each line.
std::string with_prefix(const std::string& text, const std::string& prefix) {
  std::string all;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = text.find('\n', begin) + 1;
    all += prefix + text.substr(begin, end - begin);
    begin = end;
  }
  return all;
}

std::string whole(const NcclTable& table) {
  std::string text = fmt::format("{} {}", name(table.collective), table.ranks);
  for (const NcclRow& row : table.rows) {
    text += fmt::format(" | {} {} {} {} {}", row.size.count(), row.count.value_or(-1), row.type,
                        row.redop, row.root ? int64_t{*row.root} : -1);
    for (const auto& figures : {row.out_of_place, row.in_place})
      text += figures ? fmt::format(" [{} {} {} {}]", figures->time.count(),
                                    figures->algbw.value_or(BytesPerSecond(-1)).count(),
                                    figures->busbw.value_or(BytesPerSecond(-1)).count(),
                                    figures->wrong.value_or(-1))
                      : " -";
  }
  return text;
}

std::string only(const std::string& text, const NcclReadOptions& options = {}) {
  const std::vector<NcclTable> tables = read_nccl_tables(text, "t", options);
  CHECK(tables.size() == 1);
  return whole(tables.front());
}

const char* const kWhole =
    "all_reduce 8 | 1048576 262144 float sum -1 [100000000 10490000000 18350000000 0] "
    "[100000000 10490000000 18350000000 0]";

TEST_CASE("text reader: a table, exactly as printed") {
  const TableText table;
  const NcclTable read = read_nccl_tables(table.text(), "t").front();
  CHECK(whole(read) == kWhole);
  CHECK(read.file == "t");
  CHECK(read.line == 4);
  CHECK(read.rows.front().line == 5);
  CHECK(read.notes == std::vector<std::string>{});
  REQUIRE(read.settings.has_value());
  CHECK(*read.settings == NcclSettings{.threads = 1,
                                       .gpus = 8,
                                       .least = Bytes(8),
                                       .most = Bytes(1024),
                                       .step = 2,
                                       .step_is_factor = true,
                                       .warmup = 5,
                                       .iterations = 20,
                                       .aggregated = 1,
                                       .checks = 1});
}

TEST_CASE("text reader: a published table of H100") {
  const NcclTable read = read_nccl_tables(nccl_fixture("all_reduce_h100.txt"), "h").front();
  CHECK(read.collective == NcclCollective::AllReduce);  // by busbw beside algbw
  CHECK(read.ranks == 8);
  CHECK(read.hosts == 1U);
  CHECK(read.processes() == 8U);
  CHECK(read.device_names == std::vector<std::string>{"NVIDIA H100 80GB HBM3"});
  REQUIRE(read.rows.size() == 10);
  const NcclRow& last = read.rows.back();
  CHECK(last.size == Bytes(17179869184));
  CHECK(last.out_of_place->time == Duration(62'648'000'000));
  CHECK(last.in_place->busbw == BytesPerSecond(479'990'000'000));
  CHECK(read.notes == std::vector<std::string>{});
}

TEST_CASE("text reader: versions before 2.13, whose columns tell the collective") {
  struct Old {
    const char* file;
    NcclCollective collective;
    const char* redop;
  };
  for (const Old& old : {Old{"all_gather_a100_old.txt", NcclCollective::AllGather, ""},
                         Old{"alltoall_a100_old.txt", NcclCollective::Alltoall, ""},
                         Old{"reduce_a100_old.txt", NcclCollective::Reduce, "sum"}}) {
    CAPTURE(old.file);
    const NcclTable read = read_nccl_tables(nccl_fixture(old.file), "o").front();
    CHECK(read.collective == old.collective);
    CHECK(read.ranks == 8);
    REQUIRE(read.rows.size() == 4);
    CHECK(read.rows[1].redop == old.redop);
    CHECK(!read.rows[1].in_place->wrong);  // "error" is no number of elements
  }
  CHECK(
      read_nccl_tables(nccl_fixture("alltoall_a100_old.txt"), "o").front().rows[1].in_place->time ==
      Duration(88'900'000));
}

TEST_CASE("text reader: the format of 2.19.6, written by nccl-tests' own code") {
  const NcclTable read = read_nccl_tables(nccl_fixture("all_reduce_2.19.6.txt"), "n").front();
  CHECK(read.nccl_tests_version == "2.19.6");
  CHECK(!read.nccl_version);  // nccl-library=0
  REQUIRE(read.rows.size() == 12);
  CHECK(read.rows[4].out_of_place->wrong == 12'345'700);  // 1.23457e+07
  CHECK(!read.rows[5].out_of_place->wrong);
  CHECK(read.rows[9].in_place->time == Duration(12'000'000'000'000));  // 1.2e+07 us
}

TEST_CASE("text reader: what mpirun and srun put before each line") {
  const std::string text = TableText().text();
  for (const char* const prefix : {"[1,0]<stdout>:", "[1,0]<stdout>: ", "0: ", " 0: ", "12: "})
    CHECK(only(with_prefix(text, prefix)) == kWhole);
  CHECK(launched_line("[1,3]<stderr>:x").process == "[1,3]");
  CHECK(launched_line(" 7: x").process == "7");
  for (const char* const line : {"", "  ", "12:34:56 x", "[0] x", "7 x", "host: x"})
    CHECK(launched_line(line).line == line);
}

TEST_CASE("text reader: ranks that print tables of their own do not mix") {
  const std::string mine = with_prefix(TableText().text(), "[1,0]<stdout>:");
  const std::string other = with_prefix(TableText().text(), "[1,1]<stdout>:");
  std::string mixed;
  size_t a = 0;
  size_t b = 0;
  while (a < mine.size()) {
    const size_t a_end = mine.find('\n', a) + 1;
    const size_t b_end = other.find('\n', b) + 1;
    mixed += mine.substr(a, a_end - a) + other.substr(b, b_end - b);
    a = a_end;
    b = b_end;
  }
  const std::vector<NcclTable> tables = read_nccl_tables(mixed, "t");
  REQUIRE(tables.size() == 2);
  CHECK(whole(tables[0]) == kWhole);
  CHECK(whole(tables[1]) == kWhole);
}

TEST_CASE("text reader: logs between lines, blank lines and CR LF") {
  TableText table;
  table.before += "host:1:2 [0] NCCL INFO x\n\nNCCL version 2.26.6+cuda12.8\n";
  table.rows.insert(table.rows.begin(), "host:1:2 [0] NCCL INFO Launch mode Parallel\n\n");
  table.rows.emplace_back("4 warnings generated.\n");
  std::string text = table.text();
  CHECK(only(text) == kWhole);
  CHECK(read_nccl_tables(text, "t").front().nccl_version == "2.26.6");
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
    text.insert(at, "\r");
  CHECK(only(text) == kWhole);
}

TEST_CASE("text reader: several tables, each with what was said of it") {
  TableText gather;
  gather.before =
      "# nccl-tests version 2.17.1 nccl-headers=22304 nccl-library=22606\n"
      "# Collective test starting: all_gather_perf_mpi\n";
  gather.rows = {
      "     1048576         32768     float    none      -1    100.0   10.49    9.18    N/A    "
      "100.0 "
      "  10.49    9.18    N/A\n"};
  gather.after =
      "# Avg bus bandwidth    : 9.18\n# Collective test concluded: all_gather_perf_mpi\n";
  const std::vector<NcclTable> tables =
      read_nccl_tables(TableText().text() + gather.text() + TableText().text(), "t");
  REQUIRE(tables.size() == 3);
  CHECK(whole(tables[0]) == kWhole);
  CHECK(!tables[0].nccl_version);
  CHECK(tables[1].collective == NcclCollective::AllGather);
  CHECK(tables[1].ranks == 8);
  CHECK(tables[1].nccl_version == "2.26.6");
  CHECK(tables[1].nccl_tests_version == "2.17.1");
  CHECK(!tables[1].settings);
  CHECK(whole(tables[2]) == kWhole);
  CHECK(!tables[2].nccl_version);
}

TEST_CASE("text reader: ranks by the lines of devices, over several hosts") {
  TableText table;
  table.before =
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 1 iters: 1\n"
      "# Using devices\n"
      "#  Rank  0 Group  0 Pid  1 on  a device  0 [0000:19:00] NVIDIA H100 80GB HBM3\n"
      "#  Rank  1 Group  0 Pid  2 on  a device  1 [0000:2d:00] NVIDIA H100 80GB HBM3\n"
      "#  Rank  2 Group  0 Pid  3 on  b device  0 [0000:19:00] NVIDIA H200\n"
      "#  Rank  3 Group  0 Pid  4 on  b device  1 [0000:2d:00] NVIDIA H200\n"
      "# Collective test starting: broadcast_perf\n";
  table.rows = {
      "     1048576        262144     float    none       3    100.0   10.49   10.49      0    "
      "100.0  "
      " 10.49   10.49      0\n"};
  const NcclTable read = read_nccl_tables(table.text(), "t").front();
  CHECK(read.ranks == 4);
  CHECK(read.hosts == 2U);
  CHECK(read.device_names == std::vector<std::string>{"NVIDIA H100 80GB HBM3", "NVIDIA H200"});
  CHECK(read.rows.front().root == 3U);
}

TEST_CASE("text reader: of lines of devices that are cut, or are of a part, none is counted") {
  TableText table;
  table.before += "#  Rank  0 Group  0 Pid  1 on  a device  0 [0000:19:00] NVIDIA...\n";
  CHECK(only(table.text()) == kWhole);
  table.before += "#  Rank  5 Group  0 Pid  1 on  a device  5 [0000:19:00] NVIDIA A100\n";
  CHECK(only(table.text()) == kWhole);
}

TEST_CASE("text reader: only the group of the first rank is the table's") {
  TableText table;
  table.before =
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 8\n"
      "#  Rank  0 Group  0 Pid  1 on  a device  0 [0000:19:00] A100\n"
      "#  Rank  1 Group  1 Pid  2 on  a device  1 [0000:2d:00] A100\n"
      "#  Rank  2 Group  0 Pid  3 on  b device  0 [0000:19:00] A100\n"
      "#  Rank  3 Group  1 Pid  4 on  b device  1 [0000:2d:00] A100\n"
      "# Collective test starting: all_reduce_perf\n";
  table.rows = {
      "     1048576        262144     float     sum      -1    100.0   10.49   10.49      0    "
      "100.0  "
      " 10.49   10.49      0\n"};
  CHECK(read_nccl_tables(table.text(), "t").front().ranks == 2);
}

TEST_CASE("text reader: figures only in place, and statistics of iterations") {
  TableText table;
  table.rows = {
      "     1048576        262144     float     sum      -1                                "
      "    100.0   10.49   18.35    N/A\n"};
  CHECK(only(table.text()) ==
        "all_reduce 8 | 1048576 262144 float sum -1 - [100000000 10490000000 18350000000 -1]");
  table.header =
      "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time "
      "algbw busbw #wrong i_min i_max i_p99 i_cv% timestamp\n";
  table.rows = {
      "1048576 262144 float sum -1 100.0 10.49 18.35 0 1 2 3 4 100.0 10.49 18.35 0 1 2 3 4 "
      "2026-01-02 03:04:05\n"};
  CHECK(only(table.text()) == kWhole);
}

TEST_CASE("text reader: times of the processor, and bandwidths that are no numbers") {
  TableText table;
  table.header =
      "# size count type redop root cputime algbw busbw #wrong cputime algbw busbw #wrong\n";
  table.rows.emplace_back("0 0 float sum -1 0.00 -nan nan 0 0.00 inf nan 0\n");
  const NcclTable read = read_nccl_tables(table.text(), "t").front();
  CHECK(read.notes == std::vector<std::string>{"line 4: times are those of the processor (-C 1)"});
  CHECK(!read.rows[1].out_of_place->algbw);
}

TEST_CASE("text reader: bandwidths that do not follow from size and time are noted") {
  TableText table;
  // Within 2 %, 10.49 would be 10.28 to 10.70.
  table.rows = {"1048576 262144 float sum -1 98.1 10.49 18.35 0 101.9 10.49 18.35 0\n",
                "1048576 262144 float sum -1 90.0 10.49 18.35 0 110.0 10.49 18.35 0\n"};
  CHECK(read_nccl_tables(table.text(), "t").front().notes ==
        std::vector<std::string>{
            "line 6: algbw is more than 2 % from what 1 MiB and its time give (and 1 more)"});
}

TEST_CASE("text reader: the caller says what the table does not, and may not say otherwise") {
  TableText table;
  table.before = "";
  table.rows = {
      "     1048576         32768     float    none      -1    100.0   10.49    9.18    N/A    "
      "100.0  "
      " 10.49    9.18    N/A\n"};
  CHECK(refusal_of(table.text()) ==
        "t:1:1: expected its collective to be named (--collective), since the rows fit all_gather, "
        "alltoall");
  NcclReadOptions options;
  options.collective = NcclCollective::Alltoall;
  CHECK(only(table.text(), options).substr(0, 10) == "alltoall 8");
  options.ranks = 16;
  CHECK(refusal_of(table.text(), options).find("t:2:1: expected a row of alltoall_perf over 16") ==
        0);
  CHECK(refusal_of(TableText().text(), options) ==
        "t:4:1: expected one collective, got all_reduce and alltoall");
}

TEST_CASE("text reader: ranks of one process where nothing shows more") {
  TableText table;
  table.before = "# Collective test starting: broadcast_perf\n# nThread 2 nGpus 4 minBytes 8\n";
  table.rows = {
      "     1048576        262144     float    none       0    100.0   10.49   10.49      0    "
      "100.0  "
      " 10.49   10.49      0\n"};
  const NcclTable read = read_nccl_tables(table.text(), "t").front();
  CHECK(read.ranks == 8);
  CHECK(read.notes == std::vector<std::string>{
                          "line 3: 8 ranks taken, those of one process (nThread and nGpus)"});
}

TEST_CASE("text reader: rows after the end of a table are no rows") {
  TableText table;
  table.after += "1 2 3\n";
  CHECK(only(table.text()) == kWhole);
}

TEST_CASE("text reader: bad rows are refused by line, with what was expected") {
  const std::string good = TableText().rows.front();
  const auto with_row = [&](const std::string& row) {
    TableText table;
    table.rows.push_back(row);
    return refusal_of(table.text());
  };
  const std::string columns =
      "(size count type redop root time algbw busbw #wrong time algbw busbw #wrong)";
  CHECK(with_row("1048576 262144 float sum -1 100.0 10.49\n") ==
        "t:6:1: expected 13 columns " + columns + ", got 7 columns");
  CHECK(with_row("1048576\n") == "t:6:1: expected 13 columns " + columns + ", got 1 column");
  CHECK(with_row("1048576 262144 float sum -1 100.0 10.49 18.35 0 100.0 10.49 18.35 0 0\n") ==
        "t:6:1: expected 13 columns " + columns + ", got 14 columns");
  CHECK(with_row("-1048576 262144 float sum -1 100.0 10.49 18.35 0 100.0 10.49 18.35 0\n") ==
        "t:6:1: expected a size in bytes, got \"-1048576\"");
  CHECK(with_row("1048576 262144 float sum -2 100.0 10.49 18.35 0 100.0 10.49 18.35 0\n") ==
        "t:6:1: expected a root, got \"-2\"");
  CHECK(with_row("1048576 262144 float sum 8 100.0 10.49 18.35 0 100.0 10.49 18.35 0\n")
            .find("t:6:1: expected a row of all_reduce_perf") == 0);
  CHECK(with_row("1048576 262144 7 sum -1 100.0 10.49 18.35 0 100.0 10.49 18.35 0\n") ==
        "t:6:1: expected a type, got \"7\"");
  CHECK(with_row("1048576 262144 float sum -1 -5 10.49 18.35 0 100.0 x 18.35 1.5\n") ==
        "t:6:1: expected a time in us, got \"-5\"\n"
        "t:6:1: expected a bandwidth in GB/s, got \"x\"\n"
        "t:6:1: expected a number of wrong elements, or N/A, got \"1.5\"");
  const std::string huge = "1" + std::string(30, '0');
  CHECK(with_row(huge + " 262144 float sum -1 100.0 10.49 18.35 0 100.0 10.49 18.35 0\n") ==
        "t:6:1: expected a size in bytes, got \"" + huge + "\"");
  CHECK(with_row("1048576 262144 float sum -1 1e30 10.49 18.35 0 100.0 10.49 18.35 0\n") ==
        "t:6:1: expected a time in us, got \"1e30\"");
}

/// Returns ASCII text in UTF-16, after its byte order mark.
std::string utf16(const std::string& text, bool low_byte_first) {
  std::string units = low_byte_first ? "\xFF\xFE" : "\xFE\xFF";
  for (const char c : text) {
    units += low_byte_first ? c : '\0';
    units += low_byte_first ? '\0' : c;
  }
  return units;
}

TEST_CASE("text reader: UTF-16, byte order marks and colours are read as what was printed") {
  const std::string text = TableText().text();
  CHECK(only(utf16(text, true)) == kWhole);
  CHECK(only(utf16(text, false)) == kWhole);
  CHECK(only("\xEF\xBB\xBF" + text) == kWhole);
  CHECK(only(with_prefix(text, "\x1b[1;32mnode-1\x1b[0m \x1b[K")) == kWhole);
  // Each unit of a letter that is no ASCII takes two or three bytes of UTF-8.
  CHECK(only(utf16("#\n", true) + std::string("\xE9\x00\xAC\x20\n\x00", 6) +
             utf16(text, true).substr(2)) == kWhole);
}

TEST_CASE("text reader: text before lines that changes and is no clock is named") {
  const TableText table;
  std::string all;
  int64_t number = 100;
  for (size_t begin = 0; begin < table.text().size(); ++number) {
    const size_t end = table.text().find('\n', begin) + 1;
    all += fmt::format("pod {} {}", number, table.text().substr(begin, end - begin));
    begin = end;
  }
  CHECK(refusal_of(all) ==
        "t:4:9: expected rows below the header of a table, with \"pod 103\" before them as before "
        "it, got none; only clocks may change there");
}

TEST_CASE("text reader: bad headers, comments and files") {
  TableText table;
  table.header = "# size count type redop root time algbw busbw #wrong speed\n";
  CHECK(refusal_of(table.text()) == "t:4:1: expected a column of nccl-tests, got \"speed\"");
  table.header = "# size count type redop root time algbw busbw #wrong time algbw busbw\n";
  CHECK(refusal_of(table.text())
            .find("t:4:1: expected time, algbw, busbw and #wrong, once or twice") == 0);
  table = {};
  table.rows = {};
  CHECK(refusal_of(table.text()) == "t:4:1: expected rows below the header of a table, got none");
  table = {};
  table.before += "# Collective test starting: all_gather_perf\n";
  CHECK(refusal_of(table.text()) ==
        "t:5:1: expected one collective, got all_reduce and all_gather");
  table = {};
  table.after += "# Collective test concluded: sendrecv_perf\n";
  CHECK(refusal_of(table.text()) == "t:4:1: expected one collective, got all_reduce and sendrecv");
  table = {};
  table.before = "# Collective test starting: ring_perf\n# nThread 0 nGpus many minBytes 8\n";
  CHECK(refusal_of(table.text()) ==
        "t:1:1: expected a program of nccl-tests, got \"ring_perf\"\n"
        "t:2:1: expected a whole number from 1 to 1048576, got \"0\"\n"
        "t:2:1: expected a whole number from 1 to 1048576, got \"many\"");
  CHECK(refusal_of("no table\n").find("t: expected a table of nccl-tests") == 0);
  CHECK(refusal_of("").find("t: expected a table of nccl-tests") == 0);
  CHECK(refusal_of(std::string("# a\nb\0c\n", 8)) == "t:2:2: expected text, got a byte of 0");
}

}  // namespace
}  // namespace orrery::test
