// Tests that a table is read from logs, terminals and pages as it is read from nccl-tests itself.

#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/nccl_tests/tables.h"
#include "tools/nccl_tests/text_reader.h"

namespace orrery::test {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// Returns the lines with `before(i)` in front of line i.
std::string with(const Lines& lines, const std::function<std::string(size_t)>& before) {
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i)
    text += before(i) + lines[i] + "\n";
  return text;
}

std::string with(const Lines& lines, const std::string& before) {
  return with(lines, [&](size_t) { return before; });
}

/// Returns a clock that goes on by 13 s a line: "10:11:12", "10:11:25", ..
std::string clock(size_t line) {
  const size_t seconds = 12 + 13 * line;
  return fmt::format("{:02}:{:02}:{:02}", 10 + (11 + seconds / 60) / 60, (11 + seconds / 60) % 60,
                     seconds % 60);
}

std::string without_hash(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += (line.starts_with("#") ? line.substr(1) : line) + "\n";
  return text;
}

std::string among_logs(const Lines& lines) {
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i)
    text += lines[i] + fmt::format("\nnode0:17:{} [0] NCCL INFO Connected all rings\n\n", 20 + i);
  return text;
}

struct Form {
  const char* name;
  std::function<std::string(const Lines&)> of;
};

const Form kForms[] = {
    {"as printed", [](const Lines& lines) { return with(lines, ""); }},
    {"without the #", without_hash},
    {"kubectl logs --timestamps",
     [](const Lines& lines) {
       return with(lines, [](size_t i) { return "2025-06-03T" + clock(i) + ".123456789Z "; });
     }},
    {"a log of a container runtime",
     [](const Lines& lines) {
       return with(lines, [](size_t i) { return "2025-06-03T" + clock(i) + ".5+02:00 stdout F "; });
     }},
    {"docker compose", [](const Lines& lines) { return with(lines, "nccl-tests-1  | "); }},
    {"srun --label", [](const Lines& lines) { return with(lines, "0: "); }},
    {"mpirun --tag-output", [](const Lines& lines) { return with(lines, "[1,0]<stdout>:"); }},
    {"mpirun --timestamp-output",
     [](const Lines& lines) {
       return with(lines, [](size_t i) { return "Tue Jun  3 " + clock(i) + " 2025<stdout>:"; });
     }},
    {"journalctl",
     [](const Lines& lines) {
       return with(lines, [](size_t i) { return "Jun 03 " + clock(i) + " node0 launch[417]: "; });
     }},
    {"a log of a scheduler without the #",
     [](const Lines& lines) {
       return with(lines_of(without_hash(lines)), [](size_t i) {
         return "[2025-06-03 " + clock(i) + ",345] {bash.py:93} INFO - ";
       });
     }},
    {"among logs", among_logs},
    {"seconds since 1970",
     [](const Lines& lines) {
       return with(lines, [](size_t i) { return fmt::format("{}.25 ", 1'748'945'472 + 13 * i); });
     }},
};

const char* const kTables[] = {
    "all_gather_a100_old.txt", "alltoall_a100_old.txt",     "reduce_a100_old.txt",
    "all_reduce_2.19.6.txt",   "all_reduce_h100.txt",       "h20.txt",
    "two_ranks.txt",           "all_gather_b200_hosts.txt", "all_reduce_gh200_hosts.txt",
    "scatter_a100_hosts.txt",
};

/// Returns the table with the rows' lines set to 0, since forms have other lines.
NcclTable only_table(const std::string& text, const NcclReadOptions& options = {}) {
  std::vector<NcclTable> tables = read_nccl_tables(text, "t", options);
  REQUIRE(tables.size() == 1);
  for (NcclRow& row : tables.front().rows)
    row.line = 0;
  return std::move(tables.front());
}

TEST_CASE("forms: ten tables in twelve forms have the rows of the table as printed") {
  for (const char* const table : kTables) {
    const std::string text = nccl_fixture(table);
    const NcclTable plain = only_table(text);
    for (const Form& form : kForms) {
      CAPTURE(table);
      CAPTURE(form.name);
      const NcclTable read = only_table(form.of(lines_of(text)));
      CHECK(read.collective == plain.collective);
      CHECK(read.ranks == plain.ranks);
      CHECK(read.hosts == plain.hosts);
      CHECK(read.settings == plain.settings);
      CHECK(read.device_names == plain.device_names);
      CHECK(read.rows == plain.rows);
    }
  }
}

/// Returns the table with the columns of one placement. Both have four.
std::string half(const Lines& lines, bool in_place) {
  std::string text;
  for (const std::string& line : lines) {
    std::vector<std::string_view> words = words_between_spaces(line);
    const bool header = words.size() > 8 && words[1] == "size";
    const bool row = words.size() > 8 && is_nccl_row(words);
    if (words.size() == 3 && words[1] == "out-of-place") {
      text += in_place ? "# in-place\n" : "# out-of-place\n";
    } else if (header || row) {
      const auto begin = words.end() - (in_place ? 8 : 4);
      words.erase(begin, begin + 4);
      text += fmt::format("{}\n", fmt::join(words, "  "));
    } else {
      text += line + "\n";
    }
  }
  return text;
}

TEST_CASE("forms: the columns of one placement have the figures of that placement") {
  for (const char* const table : {"all_reduce_h100.txt", "h20.txt", "two_ranks.txt",
                                  "all_gather_b200_hosts.txt", "scatter_a100_hosts.txt"}) {
    CAPTURE(table);
    const std::string text = nccl_fixture(table);
    const NcclTable plain = only_table(text);
    NcclReadOptions options;
    options.collective = plain.collective;  // one placement need not show it
    for (const bool in_place : {false, true}) {
      CAPTURE(in_place);
      std::vector<NcclRow> rows = plain.rows;
      for (NcclRow& row : rows)
        (in_place ? row.out_of_place : row.in_place).reset();
      CHECK(only_table(half(lines_of(text), in_place), options).rows == rows);
    }
  }
}

TEST_CASE("forms: a row that ends after the figures out of place has only these") {
  TableText table;
  table.rows = {"1048576 262144 float sum -1 100.0 10.49 18.35 0\n"};
  const NcclRow row = only_table(table.text()).rows.front();
  CHECK(row.out_of_place.has_value());
  CHECK(!row.in_place.has_value());
}

TEST_CASE("forms: containers that print tables of their own do not mix") {
  // A name with as many hyphens as a date is none.
  for (const std::string host : {"worker-", "node-1-2-"}) {
    const Lines lines = lines_of(TableText().text());
    std::string mixed;
    for (const std::string& line : lines)
      for (const char* const number : {"0 | ", "1 | "})
        mixed += host + number + line + "\n";
    const std::vector<NcclTable> tables = read_nccl_tables(mixed, "t");
    REQUIRE(tables.size() == 2);
    CHECK(tables[0].rows.size() == 1);
    CHECK(tables[1].rows.size() == 1);
  }
}

TEST_CASE("forms: one note counts what was dropped") {
  const auto notes = [](const std::string& text) {
    return read_nccl_tables(text, "t").front().notes;
  };
  const Lines lines = lines_of(TableText().text());
  REQUIRE(lines.size() == 8);
  CHECK(notes(with(lines, "")) == std::vector<std::string>{});
  // All 8 lines have a prefix.
  CHECK(notes(with(lines, "pod | ")) ==
        std::vector<std::string>{"line 4: dropped: the text before 8 lines"});
  CHECK(notes("hello\n" + with(lines, "")) ==
        std::vector<std::string>{"line 5: dropped: 1 line of other text"});
  // The prefix is known also before the first comment.
  CHECK(notes("pod | hello\n" + with(lines, "pod | ") + "pod | bye\n") ==
        std::vector<std::string>{
            "line 5: dropped: the text before 10 lines, and 2 lines of other text"});
}

/// Returns rows of 8 ranks that all_gather, alltoall and alltoallv print alike.
TableText rows_of_parts(const std::string& wrong_in_place) {
  TableText table;
  table.before = "";
  table.rows = {"1048576 32768 float none -1 100.0 10.49 9.18 0 100.0 10.49 9.18 " +
                wrong_in_place + "\n"};
  return table;
}

TEST_CASE("forms: what is checked in place tells all_gather from alltoall") {
  const NcclTable gather = only_table(rows_of_parts("0").text());
  CHECK(gather.collective == NcclCollective::AllGather);
  CHECK(gather.notes ==
        std::vector<std::string>{"line 1: the table is taken for one of all_gather, "
                                 "since its values in place are checked"});
  const NcclTable exchange = only_table(rows_of_parts("N/A").text());
  CHECK(exchange.collective == NcclCollective::Alltoall);
  CHECK(exchange.notes ==
        std::vector<std::string>{"line 1: the table is taken for one of alltoall, since its values "
                                 "in place are not checked"});
}

/// Returns the same rows without any check, so that they tell nothing.
std::string unchecked() {
  TableText table = rows_of_parts("N/A");
  table.rows = {"1048576 32768 float none -1 100.0 10.49 9.18 N/A 100.0 10.49 9.18 N/A\n"};
  return table.text();
}

TEST_CASE("forms: a command above the table names it where the rows fit several") {
  const auto with_command = [](const std::string& command) {
    return only_table(command + "\n" + unchecked()).collective;
  };
  CHECK(with_command("$ mpirun -np 8 ./build/all_gather_perf -b 1M -e 1M") ==
        NcclCollective::AllGather);
  CHECK(with_command("+ '/opt/alltoall_perf_mpi' -c 0;") == NcclCollective::Alltoall);
  CHECK(with_command("srun alltoallv_perf") == NcclCollective::Alltoallv);
  CHECK(only_table("$ all_gather_perf\n" + unchecked()).notes ==
        std::vector<std::string>{"line 2: the table is taken for one of all_gather, since the "
                                 "command in line 1 runs it"});
  // Rows that only an all_reduce prints are no other's.
  CHECK(only_table("$ all_gather_perf\n" + TableText().header + TableText().rows.front())
            .collective == NcclCollective::AllReduce);
  CHECK(refusal_of("for p in all_gather_perf alltoall_perf; do\n" + unchecked()) ==
        "t:2:1: expected its collective to be named (--collective), since the rows fit all_gather, "
        "alltoall");
}

TEST_CASE("forms: the name of the file names a table where the rows fit several") {
  const auto in_file = [](const std::string& file) {
    return read_nccl_tables(unchecked(), file).front();
  };
  CHECK(in_file("logs/all_gather_8.txt").collective == NcclCollective::AllGather);
  CHECK(in_file("AllToAll-8gpus.log").collective == NcclCollective::Alltoall);
  CHECK(in_file("nccl_allgather.log").notes ==
        std::vector<std::string>{
            "line 1: the table is taken for one of all_gather, since the file's name has it"});
  CHECK(nccl_collective_of_file("reduce_scatter_perf.out") == NcclCollective::ReduceScatter);
  CHECK(!nccl_collective_of_file("all_gather/log.txt"));  // a folder is not the file
  CHECK(!nccl_collective_of_file("all_gather_alltoall.txt"));
}

}  // namespace
}  // namespace orrery::test
