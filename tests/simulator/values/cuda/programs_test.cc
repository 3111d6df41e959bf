// Tests random programs on the mock driver, each in several random orders.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/simulator/values/cuda/mock_rig.h"
#include "tests/simulator/values/cuda/random_runs.h"
#include "tests/support/tries.h"

namespace orrery::test {

namespace {

TEST_CASE("GPUs: random programs have the host's values, in any order") {
  // If only a tenth is tried, there are fewer programs, each in the five ways in which it may run.
  const uint64_t programs = tries(200);
  const uint64_t orders = is_all_tried() ? tries(20) : 5;
  uint64_t started = 0;
  uint64_t of_two_threads = 0;
  for (uint64_t seed = 1; seed <= programs; ++seed) {
    INFO(fmt::format("seed {}", seed));
    const RandomRun random = random_run(seed);
    const Program& program = random.program;
    for (const Op& op : program.ops)
      started += op.issue == Issue::Start ? 1 : 0;
    of_two_threads += program.threads.size() == 2 ? 1 : 0;
    OnGpus run{program, random.lowered, random.arguments};
    for (uint64_t order = 1; order <= orders; ++order) {
      // Some runs place results over operands that end, and some have graphs of few nodes.
      run.memory.reuse = order % 2 == 0 ? MemoryPolicy::Reuse::Xla : MemoryPolicy::Reuse::Never;
      cuda::ExecutorOptions options;
      if (order % 5 == 0)
        options.most_nodes = 7;
      CHECK(wrong_on_mock(run, 1, order, options) == "");
    }
  }
  // One program in two has threads. Half of these have two threads, and half of their collectives
  // are started.
  CHECK(of_two_threads > programs / 8);
  CHECK(started > programs / 2);
}

}  // namespace

}  // namespace orrery::test
