// Tests what orrery validate and orrery calibrate nccl-tests read, and what they say of it.

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

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

TEST_CASE("tables: validate takes no cluster for steps, which have that of their plan") {
  const Ran run = ran({"validate", in_tree("tools/calibrate/measured/steps-a100-sxm.json"),
                       "--cluster", "h100-sxm-8"});
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.err.find("--cluster: the steps of ") == 0);
  CHECK(run.err.find("steps-a100-sxm.json have the clusters of their plan\n") != std::string::npos);
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

TEST_CASE("calibrate ops: a cluster whose products take the times of a table") {
  const TemporaryFolder folder;
  // A product of 1024 by 1024 by 1024 takes 10 us, one of twice the depth twice that.
  const std::string text = R"({"matmul": {"columns": ["dtype", "m", "n", "k", "time_us"],
"rows": [["f32", 1024, 1024, 1024, 10], ["f32", 1024, 1024, 2048, 20], ["f32", 1024, 1024, 4096, 40]]}})";
  const std::string ops = folder.file("ops.json", text);
  const std::string to = folder.path() + "/mine.json";
  const auto calibrated = [&](const std::string& base) {
    return ran({"calibrate", "ops", ops, "--base", base, "-o", to, "--no-validation", "--date",
                "2026-01-02"});
  };
  const std::string base =
      R"({"topology": "switch", "devices": 2, "bandwidth": "1 GB/s", "latency": "0 s",
"flops": {"f32": "1 PFLOP/s"}, "memory_bandwidth": "100 TB/s"})";
  const Ran made = calibrated(base);
  CHECK(made.err.empty());
  CHECK(made.outcome == Outcome::Holds);
  CHECK(made.out.find("matmul f32      3") != std::string::npos);
  const std::string cluster = text_of(to);
  CHECK(cluster.find(R"("label": "calibrated")") != std::string::npos);
  CHECK(cluster.find("3 products, m 1024, n 1024, k 1024 to 4096, ops.json") != std::string::npos);
  CHECK(nlohmann::json::parse(cluster)["efficiency"]["f32"]["calibrated"] ==
        nlohmann::json::parse(
            R"({"m": {"least": 1024, "most": 1024}, "n": {"least": 1024, "most": 1024},
 "k": {"least": 1024, "most": 4096}})"));
  const std::string scenario =
      folder.file("dot.json", R"({"orrery": 1, "cluster": )" + cluster + R"(,
"mesh": {"x": 1}, "check_types": false, "arrays": {
 "a": {"shape": [1024, 2048], "dtype": "f32", "init": "zeros"}, "b": {"shape": [2048, 1024], "dtype": "f32", "init": "zeros"}},
"program": [{"id": "c", "op": "dot_general", "of": ["a", "b"], "dimension_numbers": [[[1], [0]], [[], []]]}]})");
  const Ran run = ran({"run", scenario, "--data", "off", "--format", "json"});
  CHECK(run.outcome == Outcome::Holds);
  // The fit is within 2 % of 20 us.
  CHECK(nlohmann::json::parse(run.out)["time"]["makespan_ps"].get<double>() ==
        doctest::Approx(20e6).epsilon(0.02));

  CHECK(
      calibrated(R"({"topology": "switch", "devices": 2, "bandwidth": "1 GB/s", "latency": "0 s"})")
          .err == "--base: expected a peak rate of f32, which " + ops + " has ops of, got none\n");
  CHECK(calibrated(R"({"topology": "switch", "devices": 2, "bandwidth": "1 GB/s", "latency": "0 s",
"flops": {"f32": "1 PFLOP/s"}})")
            .err == "--base: expected a memory_bandwidth, got none\n");
}

}  // namespace
}  // namespace orrery::test
