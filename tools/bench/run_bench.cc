// From a scenario's file to its report: inside one process, and as a user waits for it, from the
// start of the command line to its end.

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/scenario/reader.h"
#include "verifier/run.h"

namespace orrery {
namespace {

const std::string kScenarios = ORRERY_SCENARIOS;

void read_and_run(benchmark::State& state, const std::string& file) {
  for (auto _ : state) {
    const Scenario scenario = load_scenario(kScenarios + "/" + file);
    benchmark::DoNotOptimize(run(scenario, RunOptions()).fingerprint);
  }
}
BENCHMARK_CAPTURE(read_and_run, quickstart, "quickstart.json")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_and_run, llama3_8b_block, "llama3-8b-block-tp8.json")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_and_run, llama3_small_block, "llama3-small-block-tp8.json")
    ->Unit(benchmark::kMillisecond);

/// Runs the command line on a scenario, its output thrown away; throws where it does not exit with
/// 0.
void run_command_line(const std::string& scenario) {
  std::string program = ORRERY_BINARY;
  std::string verb = "run";
  std::string file = scenario;
  char* const arguments[] = {program.data(), verb.data(), file.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int fault = posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (fault != 0)
    throw std::system_error(fault, std::generic_category(), program);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0)
    throw std::system_error(ECHILD, std::generic_category(), program + " run " + scenario);
}

void start_to_report(benchmark::State& state, const std::string& file) {
  for (auto _ : state)
    run_command_line(kScenarios + "/" + file);
}
BENCHMARK_CAPTURE(start_to_report, quickstart, "quickstart.json")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(start_to_report, llama3_8b_block, "llama3-8b-block-tp8.json")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace orrery
