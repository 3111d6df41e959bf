// These benchmarks measure the time from a scenario's file to its report, within one process and as
// the whole command line, for which a user waits.

#include <string>

#include <benchmark/benchmark.h>

#include "models/scenario/reader.h"
#include "tools/bench/bench.h"
#include "verifier/run.h"

namespace orrery {
namespace {

const std::string kScenarios = ORRERY_SCENARIOS;

void read_and_run(benchmark::State& state, const std::string& file) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(run(load_scenario(kScenarios + "/" + file), RunOptions()).fingerprint);
  }
}
BENCHMARK_CAPTURE(read_and_run, quickstart, "quickstart.json")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_and_run, llama3_8b_block, "llama3-8b-block-tp8.json")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_and_run, llama3_small_block, "llama3-small-block-tp8.json")
    ->Unit(benchmark::kMillisecond);

void start_to_report(benchmark::State& state, const std::string& file) {
  for (auto _ : state)
    run_child({ORRERY_BINARY, "run", kScenarios + "/" + file});
}
BENCHMARK_CAPTURE(start_to_report, quickstart, "quickstart.json")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(start_to_report, llama3_8b_block, "llama3-8b-block-tp8.json")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace orrery
