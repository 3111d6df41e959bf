#include "tests/simulator/values/cuda/gpu_rig.h"

#include <fmt/format.h>

#include "models/array/text.h"
#include "simulator/memory/profile.h"
#include "simulator/values/host_executor.h"

namespace orrery::test {

cuda::GpuRun run_on(const cuda::Driver& driver, const OnGpus& run,
                    const cuda::ExecutorOptions& options) {
  return cuda::execute(driver, run.program, run.lowered, run.memory,
                       profile(run.program, run.lowered, run.memory), run.arguments, options);
}

std::string first_difference(const Program& program, const DeviceValues& host,
                             const DeviceValues& gpus) {
  for (size_t v = 0; v < program.values.size(); ++v) {
    for (uint32_t d = 0; d < program.mesh.devices(); ++d) {
      const std::optional<Tensor>& expected = host.at(ValueId(v), LogicalId(d));
      const std::optional<Tensor>& got = gpus.at(ValueId(v), LogicalId(d));
      if (expected.has_value() != got.has_value())
        return fmt::format("{} on device {} is on one side only", program.values[v].name, d);
      if (!expected || same_bits(*expected, *got))
        continue;
      for (int64_t e = 0; e < expected->elements(); ++e)
        if (element_text(*expected, e) != element_text(*got, e))
          return fmt::format("{} on device {}: element {} is {}, not {}", program.values[v].name, d,
                             e, element_text(*got, e), element_text(*expected, e));
      return fmt::format("{} on device {}: other bits", program.values[v].name, d);
    }
  }
  return {};
}

std::string wrong(const OnGpus& run, const cuda::GpuRun& gpus) {
  const HostRun host = execute(run.program, run.lowered, run.arguments);
  if (std::string differs = first_difference(run.program, host.values, gpus.values);
      !differs.empty())
    return differs;
  if (gpus.digest != host.digest)
    return "the digests differ";
  if (gpus.facts.damage)
    return *gpus.facts.damage;
  const MemoryProfile memory = profile(run.program, run.lowered, run.memory);
  for (uint32_t d = 0; d < run.program.mesh.devices(); ++d) {
    const Bytes counted = memory.kind_of[d] ? memory.of(LogicalId(d)).arena : Bytes();
    if (gpus.facts.memory[d].arena != counted)
      return fmt::format("device {} used {} B of its arena, not {}", d,
                         gpus.facts.memory[d].arena.count(), counted.count());
  }
  return {};
}

}  // namespace orrery::test
