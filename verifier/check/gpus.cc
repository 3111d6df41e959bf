#include "verifier/check/gpus.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "models/array/text.h"
#include "models/scenario/quantity_text.h"
#include "verifier/check/names.h"

namespace orrery {
namespace {

/// The first element whose bits differ. Requires one dtype and shape.
int64_t first_difference(const Tensor& a, const Tensor& b) {
  const auto differ = std::mismatch(a.bytes().begin(), a.bytes().end(), b.bytes().begin());
  return (differ.first - a.bytes().begin()) / itemsize(a.dtype()).count();
}

}  // namespace

Check gpu_values_agree(const Program& program, const DeviceValues& host, const DeviceValues& gpus) {
  std::vector<bool> given(program.values.size(), false);
  for (const Argument& argument : program.arguments)
    given[argument.value.index()] = true;
  uint64_t compared = 0;
  for (size_t v = 0; v < program.values.size(); ++v) {
    if (given[v])
      continue;
    for (int64_t d = 0; d < program.mesh.devices(); ++d) {
      const LogicalId device(static_cast<size_t>(d));
      const std::optional<Tensor>& expected = host.at(ValueId(v), device);
      const std::optional<Tensor>& got = gpus.at(ValueId(v), device);
      if (!expected || !got)
        continue;
      ++compared;
      if (same_bits(*expected, *got))
        continue;
      const int64_t element = first_difference(*expected, *got);
      const std::string& name = program.values[v].name;
      const std::string on_gpus = element_text(*got, element);
      const std::string on_host = element_text(*expected, element);
      return failed(CheckKind::ValuesGpus, quoted(name),
                    fmt::format("{} on device {}: element {} is {} on the GPUs and {} on the host.",
                                quoted(name), d, element, on_gpus, on_host),
                    {{"value", name},
                     {"device", fmt::format("{}", d)},
                     {"element", fmt::format("{}", element)},
                     {"gpus", on_gpus},
                     {"host", on_host}});
    }
  }
  return passed(
      CheckKind::ValuesGpus, "",
      fmt::format("{} values of the GPUs are those of the host executor, bit for bit.", compared));
}

Check arenas_agree(const MemoryProfile& memory, const cuda::GpuFacts& facts) {
  for (size_t d = 0; d < facts.memory.size(); ++d) {
    const Bytes counted = memory.kind_of[d] ? memory.of(LogicalId(d)).arena : Bytes();
    if (facts.memory[d].arena != counted)
      return failed(
          CheckKind::MemoryArena, "",
          fmt::format("Virtual device {} used {} of its arena, and the profile counts {}.", d,
                      quantity_text(facts.memory[d].arena), quantity_text(counted)));
  }
  return passed(CheckKind::MemoryArena, "");
}

Check guards_whole(const cuda::GpuFacts& facts) {
  if (facts.damage)
    return failed(CheckKind::MemoryGuards, "", *facts.damage + ".");
  return passed(CheckKind::MemoryGuards, "");
}

}  // namespace orrery
