// Tests orrery calibrate cuda, run --cluster with its file, and perf --backend cuda, on the mock
// driver. The mock's clock has the form of the model, so predictions are near its measurements.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/support/mock_cuda/mock_control.h"
#include "tests/support/units.h"
#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

using Json = nlohmann::json;

/// Returns a slow clock, so that latencies are small beside the rest: copies have 16 GB/s, and 16
/// bytes of a kernel take 1.5 ns. Nodes that move data at the same time share the memory.
MockCudaSettings slow() {
  MockCudaSettings settings;
  settings.multiprocessors = 100'000;
  settings.bytes_per_second = 16'000'000'000;
  settings.thread_ps = 1500;
  settings.product_ps = 100;
  settings.sharing = 1;
  return settings;
}

Ran ran_with(const std::vector<std::string>& arguments, const MockCudaSettings& settings) {
  mock().reset(settings);
  return ran(arguments, MockControl::library());
}

/// Calibrates, and writes that file.
Ran calibrated(const std::string& file, const std::string& devices, MockCudaSettings settings) {
  settings.computes = 0;  // times alone count
  return ran_with({"calibrate", "cuda", "-o", file, "--devices", devices, "--most", "1 MiB",
                   "--date", "2026-11-24"},
                  settings);
}

/// `Makespans` are the simulated and the measured makespan in ps.
struct Makespans {
  int64_t simulated = 0;
  int64_t measured = 0;
};

/// Returns the makespans of one op over f32 vectors of 1 MiB on each of four devices, on the
/// cluster of that file.
Makespans makespans(const std::string& cluster, const std::string& op,
                    const MockCudaSettings& settings) {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.json", fmt::format(R"({{"orrery": 1, "mesh": {{"x": 4}},
"cluster": {{"devices": 4, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"}},
"arrays": {{"a": {{"shape": [1048576], "dtype": "f32", "spec": ["x"], "init": "iota"}}}},
"program": [{{"id": "r", {}}}], "outputs": ["r"]}})",
                                                             op));
  const Ran run = ran_with(
      {"run", file, "--cluster", cluster, "--backend", "cuda", "--format", "json"}, settings);
  CAPTURE(run.err);
  REQUIRE(run.outcome == Outcome::Holds);
  const Json report = Json::parse(run.out);
  return {report["time"]["makespan_ps"], report["gpus"]["measured"]["makespan_ps"]};
}

struct Predicted {
  const char* op;
  int64_t nodes;        // most nodes on a path through the graph
  double not_modelled;  // a share of the measured time
};

TEST_CASE("calibrate cuda: what run --cluster predicts is what the mock measures") {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/gpu.json";
  REQUIRE(calibrated(file, "4", slow()).outcome == Outcome::Holds);
  // The model and the mock may differ by:
  //  - the launch of the graph, 5 us, which the model lacks;
  //  - the entry into a collective, 2 us, which the graph lacks;
  //  - a node on the path, 2 us at most;
  //  - rates of three digits, 0.5 %.
  //
  // In `direct`, the model's copies of a rank's own part do not share the memory with its messages:
  // one copy of the 1 + 2 x 3 that a rank has.
  const std::vector<Predicted> ops = {
      {R"("op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring")", 12, 0},
      {R"("op": "psum", "of": "a", "axis_name": "x", "algorithm": "recursive_doubling")", 6, 0},
      {R"("op": "psum", "of": "a", "axis_name": "x", "algorithm": "one_shot")", 12, 0},
      {R"("op": "psum_scatter", "of": "a", "axis_name": "x", "tiled": true, "algorithm": "ring")",
       6, 0},
      {R"("op": "all_gather", "of": "a", "axis_name": "x", "tiled": true)", 8, 0},
      {R"("op": "all_to_all", "of": "a", "axis_name": "x", "split_axis": 0, "concat_axis": 0, "tiled": true, "algorithm": "pairwise")",
       8, 0},
      {R"("op": "all_to_all", "of": "a", "axis_name": "x", "split_axis": 0, "concat_axis": 0, "tiled": true, "algorithm": "direct")",
       3, 1.0 / 7},
      {R"("op": "ppermute", "of": "a", "axis_name": "x", "perm": [[0, 1], [1, 2], [2, 3], [3, 0]])",
       2, 0},
      {R"("op": "add", "of": ["a", "a"])", 1, 0},
  };
  for (const Predicted& predicted : ops) {
    CAPTURE(predicted.op);
    const Makespans found = makespans(file, predicted.op, slow());
    const int64_t simulated = found.simulated;
    const int64_t measured = found.measured;
    CAPTURE(simulated);
    CAPTURE(measured);
    const auto latencies = static_cast<double>((5 + 2 + 2 * predicted.nodes) * kUs);
    const double tolerance =
        latencies + (0.005 + predicted.not_modelled) * static_cast<double>(measured);
    CHECK(std::abs(static_cast<double>(simulated - measured)) <= tolerance);
    // Latencies are small, so that a wrong rate would miss the tolerance.
    CHECK(latencies < 0.1 * static_cast<double>(measured));
  }
  CHECK(left_on_mock() == "");
}

TEST_CASE("calibrate cuda: what it prints and writes") {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/gpu.json";
  MockCudaSettings settings = slow();
  settings.thread_ps = 1000;    // 16 GB/s, as copies; in add, a thread has one element
  settings.product_ps = 1'000;  // far more than for threads: 2 flops in 1 ns
  const Ran run = calibrated(file, "2", settings);
  CHECK(run.err == "");
  CHECK(run.outcome == Outcome::Holds);
  const size_t dots = run.out.find("  dot_general s8");
  REQUIRE(dots != std::string::npos);
  CHECK(run.out.substr(0, dots) ==
        R"(2 virtual devices on 1 GPU (Mock GPU 0), CUDA 13.0

nodes: latency + amount / rate; errors, modelled / measured - 1, of all amounts
  work                  at once  amounts                    latency  rate of each        of all   mean   worst
  copy                        1  4 KiB to 1 MiB                1 µs       16 GB/s       16 GB/s  0.0 %  +0.0 %
  combine                     1  4 KiB to 1 MiB                2 µs       16 GB/s       16 GB/s  0.0 %  +0.0 %
  pack                        1  4 KiB to 1 MiB                2 µs       16 GB/s       16 GB/s  0.0 %  +0.0 %
  add                         1  12 KiB to 3 MiB               2 µs       12 GB/s       12 GB/s  0.0 %  +0.0 %
  copy                        2  4 KiB to 1 MiB                1 µs        8 GB/s       16 GB/s  0.0 %  -0.0 %
  combine                     2  4 KiB to 1 MiB                2 µs        8 GB/s       16 GB/s  0.0 %  +0.0 %
  pack                        2  4 KiB to 1 MiB                2 µs        8 GB/s       16 GB/s  0.0 %  +0.0 %
  add                         2  12 KiB to 3 MiB               2 µs        6 GB/s       12 GB/s  0.0 %  +0.0 %
)");
  CHECK(run.out.substr(run.out.find("\nlaunch of a graph")) ==
        "\nlaunch of a graph: 5 µs (in no figure of the cluster: the modelled makespan lacks it)\n"
        "written to " +
            file + "\n");
  const Json cluster = Json::parse(text_of(file));
  CHECK(cluster["name"] == "2 virtual devices on Mock GPU 0");
  CHECK(cluster["reduce_rate"]["value"] == "8 GB/s");
  CHECK(cluster["reduce_rate"]["label"] == "calibrated");
  CHECK(cluster["reduce_rate"]["date"] == "2026-11-24");
  CHECK(left_on_mock() == "");
}

TEST_CASE("calibrate cuda: the same bytes in every order of the mock") {
  const TemporaryFolder folder;
  const std::string a = folder.path() + "/a.json";
  const std::string b = folder.path() + "/b.json";
  MockCudaSettings settings = slow();
  REQUIRE(calibrated(a, "3", settings).outcome == Outcome::Holds);
  settings.seed = 2;
  REQUIRE(calibrated(b, "3", settings).outcome == Outcome::Holds);
  CHECK(text_of(a) == text_of(b));
}

TEST_CASE("calibrate cuda: errors are one line and 2, and nothing is written") {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/gpu.json";
  const auto error = [&](const Ran& run) {
    CHECK(run.outcome == Outcome::WrongInput);
    CHECK(run.out == "");
    CHECK(!std::filesystem::exists(file));
    return run.err;
  };
  CHECK(
      error(ran({"calibrate", "cuda", "-o", file}, "/nowhere/libcuda.so.1")) ==
      "orrery: calibrate cuda: the driver of CUDA is not there: /nowhere/libcuda.so.1: cannot open "
      "shared object file: No such file or directory\n");
  MockCudaSettings none = slow();
  none.devices = 0;
  CHECK(error(calibrated(file, "4", none)) ==
        "orrery: calibrate cuda: " + MockControl::library() + ": no GPU is visible\n");
  MockCudaSettings little = slow();
  little.memory = 1 << 20;
  CHECK(
      error(calibrated(file, "4", little)) ==
      "orrery: calibrate cuda: GPU 0 (Mock GPU 0) has 1 MiB free, and measuring 4 virtual devices "
      "there takes 12 MiB; --most takes less\n");
  mock().reset(slow());
  mock().fail("cuGraphLaunch", 1, cuda::CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(
      error(ran({"calibrate", "cuda", "-o", file, "--most", "16 KiB"}, MockControl::library())) ==
      "orrery: calibrate cuda: the driver failed in cuGraphLaunch: CUDA_ERROR_OUT_OF_MEMORY (2): a "
      "launch of a graph\n");
  // This clock takes no time for bytes.
  MockCudaSettings blind = slow();
  blind.thread_ps = 0;
  CHECK(error(calibrated(file, "4", blind)) ==
        "what was measured: combine by 1 virtual device: expected times that grow with sizes, got "
        "2000000 ps and 2000000 ps\n");
  for (const char* const most : {"5000", "8 KiB"})
    CHECK(error(ran({"calibrate", "cuda", "-o", file, "--most", most})) ==
          fmt::format("--most: expected a multiple of 4 KiB, at least 16 KiB, got \"{}\"\n", most));
  CHECK(error(ran_with({"calibrate", "cuda", "-o", "/nowhere/gpu.json"}, slow())) ==
        "/nowhere/gpu.json: cannot be written\n");
  CHECK(error(ran({"calibrate", "cuda", "-o", file, "--date", ""})) ==
        "--date: expected 1 to 500 bytes of printable UTF-8\n");
  CHECK(left_on_mock() == "");
}

TEST_CASE("perf --backend cuda: nccl-tests' table of what is measured") {
  // The cluster is one of the catalog, whose memory the mock need not have.
  MockCudaSettings settings;
  settings.memory = uint64_t{1} << 26;
  const Ran run = ran_with(
      {"perf", "all_reduce", "-b", "4K", "-e", "16K", "-f", "4", "-g", "4", "-n", "2", "--cluster",
       in_tree("tests/tools/cli/golden/perf_cluster.json"), "--backend", "cuda"},
      settings);
  CHECK(run.err == "");
  CHECK(run.outcome == Outcome::Holds);
  const auto lines = [&](const std::string& begin) {
    std::string found;
    std::istringstream text(run.out);
    for (std::string line; std::getline(text, line);)
      if (line.starts_with(begin))
        found += line + "\n";
    return found;
  };
  CHECK(lines("# orrery: measured")
            .starts_with("# orrery: measured on 4 virtual devices of 1 GPU (Mock GPU 0), with the "
                         "schedules of "));
  CHECK(lines("# orrery: assumed in place") ==
        "# orrery: assumed in place: a second measurement out of place\n");
  CHECK(lines("#  Rank  0") ==
        "#  Rank  0 Group  0 Pid      0 on     orrery device  0 [0000:00:00] Mock GPU 0\n");
  // The times are by recursive doubling and the mock's usual clock: 5 us of launch, a copy of the
  // operand, and twice a copy (1 us, and 1 TB/s) and a combination (2 us, and 10 ps for 16 bytes).
  // So 4 KiB take 5 us + 3 x 1.0041 us + 2 x 2.0026 us; busbw is algbw x 2 x 3 / 4.
  CHECK(lines(" ") ==
        "        4096          1024     float     sum      -1    12.02    0.34    0.51       0    "
        "12.02    "
        "0.34    0.51       0\n"
        "       16384          4096     float     sum      -1    12.07    1.36    2.04       0    "
        "12.07    "
        "1.36    2.04       0\n");
  CHECK(lines("# Out of bounds values") == "# Out of bounds values : 0 OK\n");
  CHECK(left_on_mock() == "");
}

TEST_CASE("perf --backend cuda: values above the budget are not checked, and -c 0 checks none") {
  const auto wrong = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {
        "perf",      "all_gather", "-b",        "4K",
        "-e",        "4K",         "-g",        "2",
        "-n",        "1",          "--cluster", in_tree("tests/tools/cli/golden/perf_cluster.json"),
        "--backend", "cuda"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran run = ran_with(arguments, {});
    CHECK(run.outcome == Outcome::Holds);
    size_t count = 0;
    for (size_t at = run.out.find("N/A"); at != std::string::npos; at = run.out.find("N/A", at + 1))
      ++count;
    return count;
  };
  CHECK(wrong({}) == 0);
  CHECK(wrong({"--data-budget", "1 KiB"}) == 2);
  CHECK(wrong({"-c", "0"}) == 2);
}

TEST_CASE("perf --backend cuda: errors are one line and 2") {
  const std::vector<std::string> perf = {
      "perf",      "all_reduce", "-g",
      "2",         "--cluster",  in_tree("tests/tools/cli/golden/perf_cluster.json"),
      "--backend", "cuda"};
  const Ran run = ran(perf, "/nowhere/libcuda.so.1");
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.out == "");
  CHECK(
      run.err ==
      "orrery: --backend cuda: the driver of CUDA is not there: /nowhere/libcuda.so.1: cannot open "
      "shared object file: No such file or directory\n");
  MockCudaSettings little;
  little.memory = 1 << 20;
  CHECK(ran_with(perf, little)
            .err.starts_with("orrery: --backend cuda: GPU 0 (Mock GPU 0) has 1 MiB free, and the "
                             "virtual devices on it "));
  mock().reset();
  mock().fail("cuGraphInstantiate", 1, cuda::CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(ran(perf, MockControl::library())
            .err.starts_with("orrery: --backend cuda: the driver failed in cuGraphInstantiate: "));
  CHECK(left_on_mock() == "");
}

}  // namespace
}  // namespace orrery::test
