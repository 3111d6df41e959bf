// These benchmarks measure how many small scenarios a second one process reads and runs. Tests of
// properties do that: each case has values of its own, and only its checks are looked at.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "models/base/check.h"
#include "models/base/random.h"
#include "models/scenario/law.h"
#include "models/scenario/reader.h"
#include "tools/bench/bench.h"
#include "verifier/laws/verify.h"
#include "verifier/run.h"

namespace orrery {
namespace {

/// Returns texts of cases that are drawn as tests draw them.
std::vector<std::string> drawn_cases() {
  constexpr std::string_view kDtypes[] = {"s32", "f32", "bf16"};
  Random random(1);
  std::vector<std::string> texts;
  for (int64_t seed = 0; seed < 1000; ++seed)
    texts.push_back(scatter_and_gather(
        {random.between(0, 3), kDtypes[static_cast<size_t>(random.between(0, 2))], seed}));
  return texts;
}

Scenario read_case(const std::string& text) {
  return read_scenario("case.json", text);
}

RunOptions options_of_cases() {
  RunOptions options;
  options.wanted = Wanted::Checks;
  options.shared = shared_work();
  return options;
}

Verdict verdict_of(std::shared_ptr<const Scenario> scenario, const RunOptions& options) {
  const Verdict verdict = run(std::move(scenario), options).verdict;
  ORRERY_CHECK(verdict == Verdict::Holds, "the property holds of every case");
  return verdict;
}

void read_cases(benchmark::State& state) {
  const std::vector<std::string> texts = drawn_cases();
  size_t next = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(read_case(texts[next++ % texts.size()]).arrays.data());
  state.SetItemsProcessed(state.iterations());
}

void run_cases(benchmark::State& state) {
  std::vector<std::shared_ptr<const Scenario>> scenarios;
  for (const std::string& text : drawn_cases())
    scenarios.push_back(std::make_shared<const Scenario>(read_case(text)));
  const RunOptions options = options_of_cases();
  size_t next = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(verdict_of(scenarios[next++ % scenarios.size()], options));
  state.SetItemsProcessed(state.iterations());
}

void read_and_run_cases(benchmark::State& state) {
  const std::vector<std::string> texts = drawn_cases();
  const RunOptions options = options_of_cases();
  size_t next = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(verdict_of(
        std::make_shared<const Scenario>(read_case(texts[next++ % texts.size()])), options));
  state.SetItemsProcessed(state.iterations());
}

/// Verifies the built-in law of these cases, with n and the algorithms given.
void verify_cases(benchmark::State& state) {
  const Law law("law.json", R"({"orrery": 1,
    "forall": {"rows": {"from": 0, "to": 3}, "dtype": {"choose": ["s32", "f32", "bf16"]}},
    "mesh": {"x": 8}, "check_types": false,
    "arrays": {"a": {"shape": ["${64 * rows}", 3], "dtype": "${dtype}", "spec": ["x"]}},
    "program": [
      {"id": "part", "op": "psum_scatter", "of": "a", "axis_name": "x", "tiled": true,
       "algorithm": "ring"},
      {"id": "whole", "op": "all_gather", "of": "part", "axis_name": "x", "tiled": true,
       "algorithm": "ring"},
      {"id": "sum", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring"}],
    "expect": [{"close": ["whole", "sum"]}, {"holds": ["deadlock_free", "race_free", "proved"]}]})");
  LawOptions options;
  options.cases = 1000;
  for (auto _ : state) {
    ++options.seed;
    ORRERY_CHECK(verify(law, options).verdict == Verdict::Holds, "the law holds");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(options.cases));
}

BENCHMARK(read_cases)->Name("cases/read")->Unit(benchmark::kMicrosecond);
BENCHMARK(run_cases)->Name("cases/run")->Unit(benchmark::kMicrosecond);
BENCHMARK(read_and_run_cases)->Name("cases/read_and_run")->Unit(benchmark::kMicrosecond);
BENCHMARK(verify_cases)->Name("cases/verify_1000")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery
