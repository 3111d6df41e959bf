// Random programs on the mock driver: collectives, started ones, transfers, ragged exchanges and
// local ops. ORRERY_GPU_PROGRAMS sets their number.

#include <cstdlib>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/base/random.h"
#include "simulator/lower/lower.h"
#include "simulator/values/host_executor.h"
#include "tests/simulator/values/cuda/mock_rig.h"
#include "tests/verifier/random_program.h"

namespace orrery::test {

namespace {

uint64_t programs() {
  const char* const asked = std::getenv("ORRERY_GPU_PROGRAMS");
  return asked == nullptr ? 100 : std::strtoull(asked, nullptr, 10);
}

TEST_CASE("GPUs: random programs have the host's values, in any order") {
  for (uint64_t seed = 1; seed <= programs(); ++seed) {
    INFO(fmt::format("seed {}", seed));
    RandomOps ops;
    ops.linear = seed % 2 == 0;
    RandomProgram random(seed, ops);
    const Program program = random.program();
    Cluster cluster{"rig",
                    fully_connected_fabric(program.mesh.devices(),
                                           {BytesPerSecond(1'000'000'000), Duration(1)}),
                    {}};
    cluster.device.flops[Dtype::S32] = FlopsPerSecond(1'000'000'000);
    Diagnostics diagnostics("f");
    const Lowered lowered = lower(program, cluster, diagnostics);
    diagnostics.throw_if_any();
    Random data(seed);
    DeviceValues arguments(program);
    for (const Argument& argument : program.arguments)
      for (uint32_t d = 0; d < program.mesh.devices(); ++d)
        arguments.at(argument.value, LogicalId(d)) =
            random_tensor(program.value(argument.value).type.shape, data);
    CHECK(wrong_on_mock({program, lowered, arguments}, 3) == "");
    // With results over operands that end, and in graphs of few nodes.
    OnMock over{program, lowered, arguments};
    over.memory.reuse = MemoryPolicy::Reuse::Xla;
    CHECK(wrong_on_mock(over, 1) == "");
    const HostRun host = execute(program, lowered, arguments);
    cuda::ExecutorOptions options;
    options.most_nodes = 7;
    CHECK(first_difference(program, host.values, run_on_mock(over, seed, options).values) == "");
  }
}

}  // namespace

}  // namespace orrery::test
