#include "tests/simulator/values/cuda/random_runs.h"

#include <utility>

#include "models/base/random.h"
#include "simulator/lower/lower.h"
#include "tests/simulator/values/random_threads.h"
#include "tests/verifier/random_program.h"

namespace orrery::test {

namespace {

RandomRun of_any_ops(uint64_t seed) {
  RandomOps ops;
  ops.linear = seed % 4 == 0;
  RandomProgram random(seed, ops);
  Program program = random.program();
  Cluster cluster{
      "rig",
      fully_connected_fabric(program.mesh.devices(), {BytesPerSecond(1'000'000'000), Duration(1)}),
      {}};
  cluster.device.flops[Dtype::S32] = FlopsPerSecond(1'000'000'000);
  Diagnostics diagnostics("f");
  Lowered lowered = lower(program, cluster, diagnostics);
  diagnostics.throw_if_any();
  Random data(seed);
  DeviceValues arguments(program);
  for (const Argument& argument : program.arguments)
    for (uint32_t d = 0; d < program.mesh.devices(); ++d)
      arguments.at(argument.value, LogicalId(d)) =
          random_tensor(program.value(argument.value).type.shape, data);
  return {std::move(program), std::move(lowered), std::move(arguments)};
}

}  // namespace

RandomRun random_run(uint64_t seed) {
  if (seed % 2 == 0)
    return of_any_ops(seed);
  const std::unique_ptr<HostRig> rig = random_threads(seed);
  rig->lower();
  return {std::move(rig->program), std::move(rig->lowered), std::move(rig->arguments)};
}

}  // namespace orrery::test
