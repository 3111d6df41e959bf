// These benchmarks measure the cost of whole runs, from the start of the command line to the report
// in JSON, without data. The columns are CPU time ("Time") and peak memory, each beside its budget.
// No benchmark fails over its budget: machines differ by a factor of two, so compare times with the
// memcpy line of the same run.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include "tools/bench/bench.h"

namespace orrery {
namespace {

const std::string kBinary = ORRERY_BINARY;
const std::string kLauncher = ORRERY_LAUNCHER;
const std::string kQuickstart = std::string(ORRERY_SCENARIOS) + "/quickstart.json";
const std::string kLayer = std::string(ORRERY_SCENARIOS) + "/llama3-8b-layer-64-nodes.json";

struct Budget {
  double seconds;
  double mebibytes = 0;  // 0: none was set
};

/// Runs the command once per iteration. The time shown is the CPU's.
void cost(benchmark::State& state, const std::vector<std::string>& command, Budget budget) {
  int64_t peak = 0;
  for (auto _ : state) {
    const ChildCost child = run_child(command);
    state.SetIterationTime(child.cpu_seconds);
    peak = std::max(peak, child.peak_bytes);
  }
  state.counters["budget_s"] = budget.seconds;
  state.counters["peak_MiB"] = static_cast<double>(peak) / (1024 * 1024);
  if (budget.mebibytes > 0)
    state.counters["budget_MiB"] = budget.mebibytes;
}

void cost_of_scenario(benchmark::State& state, const std::function<std::string()>& text,
                      Budget budget) {
  std::string file = (std::filesystem::temp_directory_path() / "orrery-bench-XXXXXX").string();
  close(mkstemp(file.data()));
  std::ofstream(file) << text();
  cost(state, {kBinary, "run", "--data", "off", "--format", "json", file}, budget);
  std::filesystem::remove(file);
}

void measure(const std::string& name, Budget budget, std::function<std::string()> text) {
  benchmark::RegisterBenchmark(("budget/" + name).c_str(),
                               [text = std::move(text), budget](benchmark::State& state) {
                                 cost_of_scenario(state, text, budget);
                               })
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kSecond);
}

/// Returns the training step of a layer, which is on 64 nodes of 8 H100, on so many nodes.
std::string layer_on(uint64_t nodes) {
  std::ifstream file(kLayer);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto set = [&](const std::string& before, uint64_t each) {
    const std::string old = before + std::to_string(64 * each);
    for (size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + 1))
      text.replace(at, old.size(), before + std::to_string(nodes * each));
  };
  set("\"nodes\": ", 1);
  set("\"d\": ", 1);
  set("\"shape\": [", 8192);  // a sequence of each node
  return text;
}

void measure_quickstart(const std::string& name, Budget budget, const std::string& program) {
  benchmark::RegisterBenchmark(
      ("budget/" + name).c_str(),
      [program, budget](benchmark::State& state) {
        const std::vector<std::string> command = {program, "run", kQuickstart};
        run_child(command);  // the launcher may have to build
        cost(state, command, budget);
      })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

void memcpy_64_MiB(benchmark::State& state) {
  const std::vector<std::byte> from(size_t{64} << 20, std::byte{1});
  std::vector<std::byte> to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(from.size()));
}
BENCHMARK(memcpy_64_MiB)->Name("budget/memcpy_64_MiB")->Unit(benchmark::kMillisecond);

const bool kRegistered = [] {
  measure_quickstart("quickstart", {0.006}, kBinary);
  measure_quickstart("quickstart_by_launcher", {0.025}, kLauncher);
  measure("psums/20000", {0.5}, [] { return many_psums(20'000); });
  measure("random_permutations/313", {0.1}, [] { return random_permutations(313); });
  measure("ring_all_reduce/1024", {0.06}, [] { return ring_all_reduce(1024); });
  measure("ring_all_reduce/4096", {0.6}, [] { return ring_all_reduce(4096); });
  measure("ring_all_reduce/10000", {4}, [] { return ring_all_reduce(10'000); });
  const auto measure_all_to_all = [](const std::string& name, AllToAll how, int64_t ranks,
                                     Budget budget) {
    measure("all_to_all/" + name + "/" + std::to_string(ranks), budget,
            [how, ranks] { return all_to_all(how, ranks); });
  };
  measure_all_to_all("pairwise_on_switch", AllToAll::PairwiseOnSwitch, 1024, {0.2, 60});
  measure_all_to_all("pairwise_on_switch", AllToAll::PairwiseOnSwitch, 4096, {3, 300});
  measure_all_to_all("direct_on_switch", AllToAll::DirectOnSwitch, 1024, {1, 200});
  measure_all_to_all("direct_on_ring", AllToAll::DirectOnRing, 256, {0.8});
  measure_all_to_all("pairwise_on_tree", AllToAll::PairwiseOnTree, 256, {0.1});
  measure_all_to_all("pairwise_on_tree", AllToAll::PairwiseOnTree, 512, {0.4});
  measure("training_step/512", {0.5}, [] { return layer_on(64); });
  measure("training_step/16384", {4}, [] { return layer_on(2048); });
  return true;
}();

}  // namespace
}  // namespace orrery
