#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"
#include "tools/cli/perf_flags.h"
#include "tools/nccl_tests/table.h"

namespace orrery::test {
namespace {

/// Returns the text with VERSION in place of the version, which names the commit.
std::string versionless(std::string text) {
  const std::string version = version_text();
  for (size_t at = 0; (at = text.find(version, at)) != std::string::npos;)
    text.replace(at, version.size(), "VERSION");
  return text;
}

std::vector<std::string> perf(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "perf");
  arguments.insert(arguments.end(), {"--cluster", "a100-sxm-8"});
  return arguments;
}

std::string error_of(std::vector<std::string> arguments) {
  const Ran wrong = ran(perf(std::move(arguments)));
  CHECK(wrong.outcome == Outcome::WrongInput);
  CHECK(wrong.out == "");
  return wrong.err.substr(0, wrong.err.find('\n'));
}

NcclTable table_of(const Ran& run) {
  CHECK(run.outcome == Outcome::Holds);
  return read_nccl_tables(run.out, "perf").front();
}

TEST_CASE("perf: a table, whole") {
  const Ran table = ran({"perf", "all_reduce", "-b", "8", "-e", "64M", "-f", "8", "-g", "8",
                         "--cluster", in_tree("tests/tools/cli/golden/perf_cluster.json")});
  CHECK(table.outcome == Outcome::Holds);
  CHECK(table.err == "");
  CHECK(versionless(table.out) == text_of(in_tree("tests/tools/cli/golden/perf.txt")));
}

TEST_CASE("perf: short and long flags are the same") {
  const Ran brief = ran(
      perf({"all_reduce", "-t", "2",  "-g", "2",  "-b", "1K", "-e",  "4K", "-i",   "1K", "-n", "5",
            "-w",         "3",  "-m", "2",  "-c", "0",  "-o", "max", "-d", "half", "-r", "1"}));
  const Ran full = ran(perf({"all_reduce_perf",
                             "--nthreads=2",
                             "--ngpus",
                             "2",
                             "--minbytes",
                             "1024",
                             "--maxbytes",
                             "0.00390625M",
                             "--stepbytes",
                             "1K",
                             "--iters",
                             "5",
                             "--warmup_iters",
                             "3",
                             "--agg_iters",
                             "2",
                             "--check",
                             "0",
                             "--op",
                             "max",
                             "--datatype",
                             "half",
                             "--root",
                             "1"}));
  CHECK(brief.out == full.out);
  const NcclTable table = table_of(brief);
  CHECK(table.ranks == 4);
  CHECK(*table.settings == NcclSettings{.threads = 2,
                                        .gpus = 2,
                                        .least = Bytes(1024),
                                        .most = Bytes(4096),
                                        .step = 1024,
                                        .step_is_factor = false,
                                        .warmup = 3,
                                        .iterations = 5,
                                        .aggregated = 2,
                                        .checks = 0});
  REQUIRE(table.rows.size() == 4);
  CHECK(table.rows[3].size == Bytes(4096));
  CHECK(table.rows[3].type == "half");
  CHECK(table.rows[3].redop == "max");
}

TEST_CASE("perf: sizes are powers of 1024, by default 32M") {
  CHECK(table_of(ran(perf({"sendrecv", "-g", "2", "-c", "0"}))).rows.front().size ==
        Bytes(32 << 20));
  const NcclTable table = table_of(
      ran(perf({"sendrecv", "-g", "2", "-c", "0", "-b", "0.5k", "-e", "2 GiB", "-f", "64"})));
  CHECK(table.settings->least == Bytes(512));
  CHECK(table.settings->most == Bytes(int64_t{2} << 30));
  CHECK(table.rows.size() == 4);  // 2^9, 2^15, 2^21, 2^27
}

TEST_CASE("perf: processes, all types, all operations, all roots") {
  const NcclTable two = table_of(
      ran(perf({"broadcast", "--np", "2", "-g", "2", "-b", "64", "-e", "64", "-r", "all"})));
  CHECK(two.ranks == 4);
  CHECK(two.rows.size() == 4);
  CHECK(two.rows[3].root == 3U);
  const Ran all =
      ran(perf({"reduce_scatter", "-g", "2", "-b", "64", "-e", "64", "-o", "all", "-d", "all"}));
  CHECK(table_of(all).rows.size() == 12);  // types, each summed
  CHECK(all.err ==
        "orrery: left out, since no collective of orrery multiplies: prod, mulsum\n"
        "orrery: left out, since psum_scatter can only sum: max, min, avg\n");
  CHECK(table_of(ran(perf({"sendrecv", "-g", "2", "-b", "64", "-e", "64", "-o", "all"})))
            .rows.size() == 6);
}

TEST_CASE("perf: a root is read only of what has one") {
  CHECK(ran(perf({"all_reduce", "-g", "2", "-b", "8", "-e", "8", "-r", "7"})).outcome ==
        Outcome::Holds);
}

TEST_CASE("perf: flags that say nothing of a simulation are told, and change nothing") {
  const std::vector<std::string> plain = perf({"alltoall", "-g", "4", "-b", "1M", "-e", "1M"});
  std::vector<std::string> more = plain;
  std::string names;
  for (const PerfFlag& flag : perf_flags()) {
    if (!std::holds_alternative<Unread>(flag.target))
      continue;
    const std::string name = std::string(flag.names).substr(0, 2);
    more.insert(more.end(), {name, "1"});
    names += (names.empty() ? "" : ", ") + name;
  }
  const Ran run = ran(more);
  CHECK(run.outcome == Outcome::Holds);
  CHECK(run.out == ran(plain).out);
  CHECK(run.err == "orrery: not read, since a simulation has no such thing: " + names + "\n");
}

TEST_CASE("perf: JSON beside the table, which overwrites no file") {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/x.json";
  const std::vector<std::string> arguments =
      perf({"all_gather", "-g", "8", "-b", "1M", "-e", "4M", "-f", "2", "-J", file});
  const Ran first = ran(arguments);
  CHECK(first.out.find("# Writing JSON output to " + file + "\n") == 0);
  CHECK(ran(arguments).out.find("# Writing JSON output to " + file + ".0\n") == 0);
  CHECK(ran(arguments).out.find("# Writing JSON output to " + file + ".1\n") == 0);
  CHECK(text_of(file) == text_of(file + ".1"));
  const NcclTable json = read_nccl_tables(text_of(file), file).front();
  const NcclTable text = table_of(first);
  CHECK(json.collective == NcclCollective::AllGather);
  CHECK(json.ranks == 8);
  CHECK(json.settings == text.settings);
  REQUIRE(json.rows.size() == 3);
  for (size_t r = 0; r < json.rows.size(); ++r) {
    CHECK(json.rows[r].size == text.rows[r].size);
    CHECK(json.rows[r].out_of_place->wrong == text.rows[r].out_of_place->wrong);
  }
  CHECK(text_of(file).find(R"("args":["all_gather_perf","-g","8","-b","1M",)") !=
        std::string::npos);
  CHECK(error_of({"all_gather", "-J", "x.txt"}) == "-J: expected a file *.json, got \"x.txt\"");
}

TEST_CASE("perf: a cluster of a file") {
  const TemporaryFolder folder;
  const std::string file = folder.file("mine.json", R"({"name": "mine", "devices": 2,
"topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us"})");
  const Ran run =
      ran({"perf", "sendrecv", "-g", "2", "-b", "50", "-e", "50", "-d", "int8", "--cluster", file});
  CHECK(run.out.find("# orrery: modelled on mine, ") != std::string::npos);
  // The time is 1 us, and 1 ns for 50 B at 50 GB/s.
  CHECK(run.out.find(
            "\n          50            50      int8     sum      -1     1.00    0.05    0.05  "
            "     0     1.00    0.05    0.05    N/A\n") != std::string::npos);
  const std::string bad = folder.file("bad.json", R"({"devices": 0, "topology": "ring"})");
  const Ran wrong = ran({"perf", "sendrecv", "--cluster", bad});
  CHECK(wrong.outcome == Outcome::WrongInput);
  CHECK(wrong.err.find("/devices: expected a number of devices") != std::string::npos);
}

TEST_CASE("perf: values above the budget are not checked") {
  const NcclTable table = table_of(ran(perf(
      {"all_reduce", "-g", "2", "-b", "1K", "-e", "2K", "-f", "2", "--data-budget", "4 KiB"})));
  // There are two operands and two results.
  CHECK(table.rows[0].out_of_place->wrong == 0);
  CHECK(!table.rows[1].out_of_place->wrong);
}

TEST_CASE("perf: 2 where the input is wrong, with what was expected") {
  CHECK(error_of({"all_reduc"}).find("COLLECTIVE: expected one of all_gather, all_reduce, ") == 0);
  CHECK(error_of({"all_reduc"}).find("got \"all_reduc\"; did you mean \"all_reduce\"?") !=
        std::string::npos);
  CHECK(error_of({"reduce"}).find("got reduce: no op of orrery reduces to one rank") !=
        std::string::npos);
  CHECK(error_of({"all_reduce", "-o", "prod"}) ==
        "-o: expected sum, max, min, avg for all_reduce_perf of float, got prod: no collective of "
        "orrery multiplies");
  CHECK(error_of({"all_reduce", "-o", "sun"}).find("did you mean \"sum\"?") != std::string::npos);
  CHECK(error_of({"all_reduce", "-d", "flat"}).find("did you mean \"float\"?") !=
        std::string::npos);
  CHECK(error_of({"all_reduce", "-g", "9"})
            .find("expected at most 8 devices of cluster a100-sxm-8") != std::string::npos);
  CHECK(error_of({"all_reduce", "-t", "1048576", "-g", "2"}) ==
        "-g: expected at most 1048576 ranks (-t times -g times --np)");
  CHECK(error_of({"all_reduce", "-g", "0"}) ==
        "--ngpus: expected a whole number from 1 to 1048576, got 0");
  CHECK(error_of({"broadcast", "-g", "4", "-r", "4"}) ==
        "-r: expected a rank from 0 to 3, or all, got \"4\"");
  for (const char* const size : {"x", "1T", "M", "1.5.5", "1e30", "99999999999999999999", "-8"})
    CHECK_MESSAGE(error_of({"all_reduce", std::string("--minbytes=") + size})
                          .find("-b: expected bytes, or a number with K, M or G, got") == 0,
                  size);
  CHECK(error_of({"all_reduce", "-b", "1.5"}) == "-b: expected whole bytes, got \"1.5\"");
  CHECK(error_of({"all_reduce", "-e", "2097152G"}) ==
        "-e: expected at most 1125899906842624 bytes, got \"2097152G\"");
  CHECK(error_of({"all_reduce", "-b", "64M"}) ==
        "-b: expected at most the 33554432 bytes of -e, got 67108864");
  CHECK(error_of({"all_reduce", "-i", "0"}) == "-i: expected more than 0 bytes");
}

TEST_CASE("perf: unknown flags are errors, with the nearest one") {
  CHECK(error_of({"all_reduce", "--minbyte", "8"}) ==
        "--minbyte: expected a flag of nccl-tests or of orrery perf; did you mean \"--minbytes\"?");
  CHECK(error_of({"all_reduce", "-Q", "8"}) ==
        "-Q: expected a flag of nccl-tests or of orrery perf");
  CHECK(ran({"perf", "all_reduce"}).outcome == Outcome::WrongInput);  // no cluster
}

}  // namespace
}  // namespace orrery::test
