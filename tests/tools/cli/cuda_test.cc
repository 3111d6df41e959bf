// Tests orrery run --backend cuda on the mock driver. The mock's clock is simulated, and gives the
// same times in every order.

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "simulator/values/cuda/driver/driver.h"
#include "tests/support/mock_cuda/mock_control.h"
#include "tests/tools/cli/chrome_trace.h"
#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

using Json = nlohmann::json;

std::string quickstart() {
  return in_tree("scenarios/quickstart.json");
}

/// Runs `arguments` with --backend cuda.
Ran ran_on_mock(std::vector<std::string> arguments, const MockCudaSettings& settings = {}) {
  mock().reset(settings);
  arguments.insert(arguments.end(), {"--backend", "cuda"});
  return ran(std::move(arguments), MockControl::library());
}

/// Runs `arguments` with --backend cuda and --fast-dot, by the mock's cuBLASLt.
Ran ran_fast_on_mock(std::vector<std::string> arguments, const MockCudaSettings& settings = {}) {
  mock().reset(settings);
  arguments.insert(arguments.end(), {"--backend", "cuda", "--fast-dot"});
  return ran(std::move(arguments), MockControl::library(), MockControl::library());
}

/// Returns the part of `text` after `from` and before `to`.
std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const size_t begin = text.find(from);
  REQUIRE(begin != std::string::npos);
  return text.substr(begin + from.size(), text.find(to, begin) - begin - from.size());
}

TEST_CASE("run on GPUs: the text report has a section of them") {
  const Ran run = ran_on_mock({"run", quickstart()});
  CHECK(run.outcome == Outcome::Holds);
  CHECK(run.err == "");
  // By the mock's clock a launch takes 5 us. A copy takes 1 us and its bytes at 1 TB/s. A
  // combination of 8 KiB, of which each of 512 threads does 16 bytes, takes 2 us and 10 ps per
  // thread. So the ops take:
  //   s: a copy of 8 KiB, three combinations           7.02 us
  //   g: seven copies of 8 KiB                         7.06 us
  //   r: three combinations, seven copies of 8 KiB    13.07 us
  // A copy of 127 x 64 KiB, the whole 64 KiB in 1/128 of the free memory, takes 1 us and 8.323 us:
  // 892.7 GB/s. For each 8 KiB, on each of eight devices, a copy reads and writes two and a
  // combination three: s moves 11 x 64 KiB, g 14, and r 23. The three ops run one after another.
  CHECK(
      between(run.out, "\nGPUS\n", "\nMEMORY") ==
      R"(  measured 32.15 µs, the median of 5 runs, which took 32.15 µs to 32.15 µs; simulated 47.58 µs
  Mock GPU 0 (compute capability 9.0, 1 GiB), CUDA 13.0
  8 virtual devices, arenas of 832 KiB in all, 384 KiB beside them
  168 nodes in 1 graph
  copies of 7.938 MiB: 892.7 GB/s, so that they read and write 1785.5 GB/s: 100 %
  ops are measured in one more run, with events in its graph: 27.15 µs
  id  op                  simulated, µs  measured, µs   GB/s  of copies
  s   psum_scatter_start          10.05          7.02  102.6      5.7 %
  g   all_gather                  10.05          7.06  130.0      7.3 %
  r   psum                        12.69         13.07  115.3      6.5 %
  not shown: 2 ops without kernels and copies
)");
  CHECK(left_on_mock() == "");
}

TEST_CASE("run on GPUs: the JSON report has a key of them, and the rest is as without them") {
  const Ran run = ran_on_mock({"run", quickstart(), "--format", "json", "--measured-runs", "2"});
  CHECK(run.outcome == Outcome::Holds);
  CHECK(between(run.out, "  \"gpus\": {\n", "\n  },\n") == R"(    "driver": "13.0",
    "devices": [
      {"name":"Mock GPU 0","compute_capability":"9.0","uuid":"GPU-a0a0a0a0-a0a0-a0a0-a0a0-a0a0a0a0a0a0","memory_bytes":1073741824}
    ],
    "virtual": [
      {"id":0,"gpu":0,"arena_bytes":106496,"beside_bytes":49152},
      {"id":1,"gpu":0,"arena_bytes":106496,"beside_bytes":49152},
      {"id":2,"gpu":0,"arena_bytes":106496,"beside_bytes":49152},
      {"id":3,"gpu":0,"arena_bytes":106496,"beside_bytes":49152},
      {"id":4,"gpu":0,"arena_bytes":106496,"beside_bytes":49152},
      {"id":5,"gpu":0,"arena_bytes":106496,"beside_bytes":49152},
      {"id":6,"gpu":0,"arena_bytes":106496,"beside_bytes":49152},
      {"id":7,"gpu":0,"arena_bytes":106496,"beside_bytes":49152}
    ],
    "nodes": 168,
    "graphs": 1,
    "launches": 1,
    "measured": {
      "runs_ps": [32153599,32153599],
      "makespan_ps": 32153599,
      "copies": {
        "bytes": 8323072,
        "rates_Bps": [892739217288]
      },
      "ops": [
        {
          "id": "s",
          "start_ps": 5000000,
          "end_ps": 12023552,
          "bytes": 720896,
          "bytes_per_second": 102639803905,
          "of_copies": 0.0574858827288911,
          "simulated_start_ps": 0,
          "simulated_end_ps": 10053308
        },
        {
          "id": "g",
          "start_ps": 12023552,
          "end_ps": 19080896,
          "bytes": 917504,
          "bytes_per_second": 130006982796,
          "of_copies": 0.0728135273316101,
          "simulated_start_ps": 24843301,
          "simulated_end_ps": 34896609
        },
        {
          "id": "r",
          "start_ps": 19080896,
          "end_ps": 32153599,
          "bytes": 1507328,
          "bytes_per_second": 115303468609,
          "of_copies": 0.0645784717284369,
          "simulated_start_ps": 34896609,
          "simulated_end_ps": 47582225
        }
      ]
    })");
  Json with = Json::parse(run.out);
  Json without = Json::parse(text_of(in_tree("tests/tools/cli/golden/quickstart.json")));
  // The fingerprint of values is the host's, and no measured time is in it.
  CHECK(with["fingerprint"] == without["fingerprint"]);
  for (const char* const key : {"time", "ops", "devices", "links", "values", "faults"})
    CHECK(with[key] == without[key]);
  CHECK(left_on_mock() == "");
}

TEST_CASE("run on GPUs: three checks more, and the digest of the GPUs is compared too") {
  const Ran run = ran_on_mock({"run", quickstart(), "--format", "json"});
  const Json report = Json::parse(run.out);
  std::map<std::string, std::string> messages;
  for (const Json& check : report["checks"])
    messages[check["name"]] = check["message"];
  // The values are p, g and r on eight devices.
  CHECK(messages["VALUES.GPUS"] ==
        "24 values of the GPUs are those of the host executor, bit for bit.");
  CHECK(messages["MEMORY.ARENA"] ==
        "On GPUs, each virtual device used as many bytes of its arena as the profile counts.");
  CHECK(messages["MEMORY.GUARDS"] == "On GPUs, nothing was written outside of its place.");
  CHECK(messages["SCHEDULE.DIGEST"] ==
        "Each step of each schedule ran once in: host executor, GPUs, timing sweep.");
}

TEST_CASE("run on GPUs: with --measure steps each step has its time, within that of its op") {
  const Ran run = ran_on_mock({"run", quickstart(), "--format", "json", "--measure", "steps"});
  CHECK(run.outcome == Outcome::Holds);
  const Json measured = Json::parse(run.out)["gpus"]["measured"];
  std::map<std::string, Json> ops;
  for (const Json& op : measured["ops"])
    ops[op["id"]] = op;
  CHECK(!measured["steps"].empty());
  for (const Json& step : measured["steps"]) {
    CAPTURE(step);
    const Json& op = ops.at(step["op"]);
    CHECK(step["start_ps"] < step["end_ps"]);
    CHECK(step["start_ps"] >= op["start_ps"]);
    CHECK(step["end_ps"] <= op["end_ps"]);
  }
  CHECK(left_on_mock() == "");
}

TEST_CASE("run on GPUs: two GPUs have half of the virtual devices each, and clocks of their own") {
  MockCudaSettings settings;
  settings.devices = 2;
  const Ran run = ran_on_mock({"run", quickstart(), "--format", "json"}, settings);
  CHECK(run.outcome == Outcome::Holds);
  CHECK(run.err == "");
  const Json gpus = Json::parse(run.out)["gpus"];
  CHECK(gpus["devices"].size() == 2);
  std::vector<int> places;
  for (const Json& device : gpus["virtual"])
    places.push_back(device["gpu"]);
  CHECK(places == std::vector{0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(gpus["measured"]["ops"].size() == 3);
  CHECK(left_on_mock() == "");
}

TEST_CASE("run on GPUs: the trace has what was measured, in processes of their own") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/trace.json";
  const Ran run =
      ran_on_mock({"run", quickstart(), "--format", "json", "--measure", "steps", "--trace", path});
  CHECK(run.outcome == Outcome::Holds);
  const Json measured = Json::parse(run.out)["gpus"]["measured"];
  std::map<std::string, std::pair<int64_t, int64_t>> ops;
  std::map<int64_t, int64_t> ends;  // by row
  size_t steps = 0;
  int overlaps = 0;
  std::map<std::string, int> processes;
  std::vector<Slice> slices = ChromeTrace(text_of(path)).slices;
  std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return std::tie(a.begin_ps, a.end_ps) < std::tie(b.begin_ps, b.end_ps);
  });
  for (const Slice& slice : slices) {
    if (slice.category.rfind("measured", 0) != 0)
      continue;
    const std::string process = slice.process.substr(0, slice.process.rfind(' '));
    ++processes[process];
    overlaps += slice.begin_ps < ends[slice.row] ? 1 : 0;
    ends[slice.row] = slice.end_ps;
    if (slice.category == "measured_step") {
      ++steps;
      continue;
    }
    const auto [op, is_new] = ops.try_emplace(slice.name, slice.begin_ps, slice.end_ps);
    op->second.first = std::min(op->second.first, slice.begin_ps);
    op->second.second = std::max(op->second.second, slice.end_ps);
  }
  CHECK(overlaps == 0);
  CHECK(processes.size() == 8);
  CHECK(processes.count("device 0, measured") == 1);
  CHECK(processes.count("device 7, measured") == 1);
  CHECK(steps == measured["steps"].size());
  for (const Json& op : measured["ops"])
    CHECK(ops.at(op["id"]) == std::pair<int64_t, int64_t>(op["start_ps"], op["end_ps"]));
}

TEST_CASE("run on GPUs: measured runs of another seed, the same bytes") {
  // The mock runs ready nodes in another order, by the same clock.
  MockCudaSettings settings;
  settings.seed = 2;
  CHECK(ran_on_mock({"run", quickstart(), "--format", "json"}, settings).out ==
        ran_on_mock({"run", quickstart(), "--format", "json"}).out);
}

TEST_CASE("run on GPUs: a saved report is read by diff") {
  const TemporaryFolder folder;
  const std::string saved = folder.path() + "/gpus.json";
  REQUIRE(ran_on_mock({"run", quickstart(), "--format", "json", "-o", saved}).outcome ==
          Outcome::Holds);
  CHECK(ran({"diff", saved, saved}).outcome == Outcome::Holds);
}

TEST_CASE("run on GPUs: without a driver, one line and 2") {
  const Ran run = ran({"run", quickstart(), "--backend", "cuda"}, "/nowhere/libcuda.so.1");
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.out == "");
  CHECK(run.err ==
        "orrery: --backend cuda: the driver of CUDA is not there: /nowhere/libcuda.so.1: cannot "
        "open shared object file: No such file or directory\n");
}

TEST_CASE("run on GPUs: without a GPU, one line and 2") {
  MockCudaSettings settings;
  settings.devices = 0;
  const Ran run = ran_on_mock({"run", quickstart()}, settings);
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.out == "");
  CHECK(run.err == "orrery: --backend cuda: " + MockControl::library() + ": no GPU is visible\n");
}

TEST_CASE("run on GPUs: too little memory, both numbers and 2") {
  MockCudaSettings settings;
  settings.memory = uint64_t{1} << 19;
  const Ran run = ran_on_mock({"run", quickstart()}, settings);
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.out == "");
  // The arenas need 8 * 106,496 B, and 8 * 49,152 B beside them, each in multiples of 64 KiB.
  CHECK(run.err ==
        "orrery: --backend cuda: GPU 0 (Mock GPU 0) has 512 KiB free, and the virtual devices on "
        "it need 1.5 MiB\n");
  CHECK(mock().calls("cuMemCreate") == 0);
  CHECK(left_on_mock() == "");
}

TEST_CASE("run on GPUs: of several scenarios one with too little memory does not stop the others") {
  MockCudaSettings settings;
  settings.memory = uint64_t{1} << 19;
  const TemporaryFolder folder;
  // Each of two devices has eight bytes.
  const std::string small = folder.file("small.json", R"({"orrery": 1,
    "cluster": {"devices": 2, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us"},
    "mesh": {"x": 2}, "arrays": {"a": {"shape": [2], "dtype": "f32"}},
    "program": [{"id": "r", "op": "neg", "of": "a"}]})");
  const Ran run = ran_on_mock({"run", quickstart(), small}, settings);
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.err == quickstart() +
                       ": --backend cuda: GPU 0 (Mock GPU 0) has 512 KiB free, and the virtual "
                       "devices on it need 1.5 MiB\n");
  CHECK(run.out.find("too little memory on the GPUs") != std::string::npos);
  CHECK(run.out.find("✓  " + small) != std::string::npos);
  CHECK(left_on_mock() == "");
}

TEST_CASE("run on GPUs: one that lacks what is needed, what it lacks and 2") {
  MockCudaSettings settings;
  settings.compute_capability = 75;
  CHECK(ran_on_mock({"run", quickstart()}, settings).err ==
        "orrery: --backend cuda: GPU 0 (Mock GPU 0) has compute capability 7.5: expected 8.0 or "
        "newer\n");
  settings.compute_capability = 80;
  settings.virtual_memory = 0;
  const Ran run = ran_on_mock({"run", quickstart()}, settings);
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.err == "orrery: --backend cuda: GPU 0 (Mock GPU 0) has no virtual memory management\n");
  MockCudaSettings apart;
  apart.devices = 2;
  apart.peers = 0;
  CHECK(ran_on_mock({"run", quickstart()}, apart).err ==
        "orrery: --backend cuda: GPU 0 (Mock GPU 0) does not see the memory of GPU 1: "
        "CUDA_VISIBLE_DEVICES chooses GPUs that do, or one\n");
  CHECK(left_on_mock() == "");
}

TEST_CASE("run on GPUs: where the driver fails, the call, the code and 2") {
  mock().reset();
  mock().fail("cuGraphLaunch", 1, cuda::CUDA_ERROR_OUT_OF_MEMORY);
  const Ran run = ran({"run", quickstart(), "--backend", "cuda"}, MockControl::library());
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.out == "");
  CHECK(run.err ==
        "orrery: --backend cuda: the driver failed in cuGraphLaunch: CUDA_ERROR_OUT_OF_MEMORY (2): "
        "a launch of a graph\n");
  CHECK(left_on_mock() == "");
}

TEST_CASE("run on GPUs: what is of measurements needs them") {
  const auto error = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"run", quickstart()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran run = ran(arguments);
    CHECK(run.outcome == Outcome::WrongInput);
    CHECK(run.out == "");
    return run.err;
  };
  CHECK(error({"--measure", "ops"}) == "--measure: is of runs with --backend cuda\n");
  CHECK(error({"--fast-dot"}) == "--fast-dot: is of runs with --backend cuda\n");
  CHECK(error({"--measured-runs", "3"}) == "--measured-runs: is of runs with --backend cuda\n");
}

TEST_CASE("run on GPUs: a program that holds more than its memory fails, and does not run there") {
  const std::string file = in_tree("scenarios/fsdp-two-layers-too-small.json");
  const Ran run = ran_on_mock({"run", file, "--format", "json"});
  CHECK(run.outcome == Outcome::Fails);
  const Json report = Json::parse(run.out);
  CHECK(!report.contains("gpus"));
  const Json& checks = report["checks"];
  CHECK(std::any_of(checks.begin(), checks.end(), [](const Json& check) {
    return check["name"] == "MEMORY.CAPACITY" && check["verdict"] == "fails";
  }));
  const Json& labels = report["labels"];
  CHECK(std::count(labels.begin(), labels.end(),
                   "GPUs: not run (a device holds more than its memory)") == 1);
  CHECK(mock().calls("cuGraphLaunch") == 0);
  CHECK(left_on_mock() == "");
}

TEST_CASE("run on GPUs: ops that stand for several others run by the kernels of these") {
  for (const char* const scenario : {"scenarios/attention-heads.json", "scenarios/mpmd-map.json"}) {
    CAPTURE(scenario);
    const Ran run = ran_on_mock({"run", in_tree(scenario), "--format", "json"});
    const Json report = Json::parse(run.out);
    CHECK(report.contains("gpus"));
    const Json& checks = report["checks"];
    CHECK(std::count_if(checks.begin(), checks.end(), [](const Json& check) {
            return (check["name"] == "VALUES.GPUS" || check["name"] == "MEMORY.ARENA") &&
                   check["verdict"] == "holds";
          }) == 2);
    CHECK(left_on_mock() == "");
  }
}

TEST_CASE("run on GPUs: a program that hangs does not run there") {
  const Ran run = ran_on_mock({"run", in_tree("scenarios/two-programs-hang.json")});
  CHECK(run.outcome == Outcome::Fails);
  CHECK(run.out.find("\nGPUS\n") == std::string::npos);
  CHECK(run.out.find("  · GPUs: not run (the program cannot end)\n") != std::string::npos);
  CHECK(mock().calls("cuGraphLaunch") == 0);
  CHECK(left_on_mock() == "");
}

/// The program has f32[8,16] by f32[16,4], a product of s32, and ops that use the products, on two
/// devices.
constexpr const char* kProducts = R"({
  "orrery": 1,
  "name": "products",
  "cluster": {"devices": 2, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us",
              "flops": {"f32": "10 TFLOP/s", "s32": "10 TFLOP/s"}},
  "mesh": {"x": 2},
  "arrays": {
    "a": {"shape": [16, 16], "dtype": "f32", "spec": ["x"], "init": "random"},
    "b": {"shape": [16, 4], "dtype": "f32", "init": "random"},
    "i": {"shape": [4], "dtype": "s32", "init": "ones"}
  },
  "program": [
    {"id": "d", "op": "dot_general", "of": ["a", "b"], "dimension_numbers": [[[1], [0]], [[], []]]},
    {"id": "s", "op": "psum", "of": "d", "axis_name": "x"},
    {"id": "n", "op": "dot_general", "of": ["i", "i"], "dimension_numbers": [[[0], [0]], [[], []]]}
  ],
  "outputs": ["s", "n"]
})";

TEST_CASE("run on GPUs: with --fast-dot the report says what cuBLASLt did and how it is compared") {
  const TemporaryFolder folder;
  const std::string file = folder.file("products.json", kProducts);
  const Ran run = ran_fast_on_mock({"run", file, "--format", "json"});
  CHECK(run.err == "");
  REQUIRE(run.outcome == Outcome::Holds);
  const Json report = Json::parse(run.out);
  const Json& labels = report["labels"];
  CHECK(std::count(labels.begin(), labels.end(),
                   "--fast-dot: 1 dot_general by cuBLASLt, 1 in the stated order (s32: 1)") == 1);
  std::map<std::string, std::string> messages;
  for (const Json& check : report["checks"])
    messages[check["name"]] = check["message"];
  // The values are "n" on two devices, and "d" and "s".
  CHECK(messages["VALUES.GPUS"] ==
        "2 values of the GPUs are those of the host executor, bit for bit. 4 that depend on "
        "--fast-dot were compared within the bounds of both sides' roundings.");
  CHECK(left_on_mock() == "");
  // Without --fast-dot the report has no such message.
  const Ran plain = ran_on_mock({"run", file, "--format", "json"});
  CHECK(plain.outcome == Outcome::Holds);
  CHECK(plain.out.find("fast-dot") == std::string::npos);
  CHECK(mock().calls("cublasLtCreate") == 0);
}

TEST_CASE("run on GPUs: a product by cuBLASLt that is wrong fails") {
  const TemporaryFolder folder;
  const Ran run =
      ran_fast_on_mock({"run", folder.file("products.json", kProducts)}, {.product_errors = 1});
  CHECK(run.outcome == Outcome::Fails);
  CHECK(run.out.find("\"d\" on device 0: element 0 is ") != std::string::npos);
  CHECK(left_on_mock() == "");
}

TEST_CASE("run on GPUs: --fast-dot without cuBLASLt, one line and 2") {
  mock().reset();
  const Ran run = ran({"run", quickstart(), "--backend", "cuda", "--fast-dot"},
                      MockControl::library(), "/nowhere/libcublasLt.so.13");
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.out == "");
  CHECK(run.err ==
        "orrery: --fast-dot: cuBLASLt is not there: /nowhere/libcublasLt.so.13: cannot open shared "
        "object file: No such file or directory\n");
}

TEST_CASE("run on GPUs: where cuBLASLt fails, the call, the code and 2") {
  const TemporaryFolder folder;
  const std::string file = folder.file("products.json", kProducts);
  mock().reset();
  mock().fail("cublasLtMatmul", 1, static_cast<cuda::CUresult>(cuda::CUBLAS_STATUS_INTERNAL_ERROR));
  const Ran run = ran({"run", file, "--backend", "cuda", "--fast-dot"}, MockControl::library(),
                      MockControl::library());
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.out == "");
  CHECK(run.err ==
        "orrery: --fast-dot: cuBLASLt failed in cublasLtMatmul: CUBLAS_STATUS_INTERNAL_ERROR (14): "
        "1 product, 8 x 16 by 16 x 4\n");
  CHECK(left_on_mock() == "");
}

}  // namespace
}  // namespace orrery::test
