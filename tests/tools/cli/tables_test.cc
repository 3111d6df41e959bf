// Tests what orrery validate and orrery calibrate nccl-tests read, and what they say of it.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

std::string table(const std::string& name) {
  return in_tree("tests/data/nccl_tests/" + name);
}

/// Returns the lines of the text that have `part`.
std::string lines_with(const std::string& part, const std::string& text) {
  std::string found;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin) + 1;
    const std::string line = text.substr(begin, end - begin);
    found += line.find(part) == std::string::npos ? "" : line;
    begin = end;
  }
  return found;
}

TEST_CASE("tables: validate tells the collective and the ranks of tables that do not name them") {
  const Ran exchange = ran({"validate", table("h20.txt"), "--cluster", "h100-sxm-8"});
  CHECK(exchange.outcome == Outcome::Holds);
  // 3 rows, out of place and in place.
  CHECK(lines_with("| alltoall | 8 | 1 to 64 MiB | 6 |", exchange.out) != "");
  CHECK(exchange.err ==
        "orrery: " + table("h20.txt") +
            ": line 14: the table is taken for one of alltoall, since its values in "
            "place are not checked\n");
  const Ran two = ran({"validate", table("two_ranks.txt"), "--cluster", "a100-sxm-8"});
  CHECK(two.outcome == Outcome::Holds);
  CHECK(lines_with("| all_reduce | 2 | 64 MiB and more | 4 |", two.out) != "");
}

TEST_CASE("tables: validate takes the collective and the ranks that are given") {
  // It contradicts the table, so the message shows that it is read.
  const Ran other = ran({"validate", table("h20.txt"), "--cluster", "h100-sxm-8", "--collective",
                         "broadcast", "--ranks", "8"});
  CHECK(other.outcome == Outcome::WrongInput);
  CHECK(other.err.find("h20.txt:16:1: expected a row of broadcast_perf over 8 ranks") !=
        std::string::npos);
  const Ran unknown =
      ran({"validate", table("h20.txt"), "--cluster", "h100-sxm-8", "--collective", "all_sum"});
  CHECK(unknown.err == "--collective: expected a collective of nccl-tests, got \"all_sum\"\n");
}

TEST_CASE("tables: ranks of several hosts are timed, and a line says so") {
  const TemporaryFolder folder;
  const std::string cluster = folder.file(
      "16.json",
      R"({"devices": 16, "topology": "switch", "bandwidth": "50 GB/s", "latency": "1 us"})");
  const Ran run = ran({"validate", table("scatter_a100_hosts.txt"), "--cluster", cluster});
  CHECK(run.outcome == Outcome::Holds);
  CHECK(lines_with("16 ranks on 2 hosts are taken as the first devices of the cluster", run.err) !=
        "");
  CHECK(lines_with("| scatter | 16 |", run.out) != "");
}

TEST_CASE("tables: validate says why nothing of its files can be modelled") {
  const TemporaryFolder folder;
  const std::string cluster = folder.file(
      "one.json",
      R"({"devices": 4, "topology": "switch", "bandwidth": "50 GB/s", "latency": "1 us"})");
  const Ran run = ran({"validate", table("h20.txt"), "--cluster", cluster});
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(lines_with("expected tables with times that can be modelled, got none", run.err)
            .find("h20.txt: expected tables with times that can be modelled, got none; h20.txt:") !=
        std::string::npos);
  CHECK(lines_with("alltoall of 8 ranks: left out: the cluster has 4 devices", run.err) != "");
}

TEST_CASE("tables: calibrate makes the same cluster of a table in a log") {
  const TemporaryFolder folder;
  const auto calibrated = [&](const std::string& name) {
    const std::string file = folder.path() + "/fit.json";
    const Ran run =
        ran({"calibrate", "nccl-tests", table(name), "--collective", "alltoall", "--base",
             "h100-sxm-8", "-o", file, "--date", "today", "--source", "it", "--evaluations", "20"});
    CHECK(run.outcome == Outcome::Holds);
    return text_of(file);
  };
  const std::string plain = calibrated("h20.txt");
  CHECK(plain.find("nccl-tests alltoall on 8 ranks") != std::string::npos);
  CHECK(calibrated("h20_kubectl.txt") == plain);
  CHECK(calibrated("h20_without_hash.txt") == plain);
}

}  // namespace
}  // namespace orrery::test
