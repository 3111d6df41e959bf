#include "simulator/values/cuda/unfit_gpu.h"

#include <fmt/format.h>

namespace orrery::cuda {

namespace {

/// The PTX is of this compute capability, minor 0; newer GPUs take it too.
constexpr int kLeastCapability = 8;

}  // namespace

void check_fit(const Gpus& gpus) {
  for (size_t g = 0; g < gpus.size(); ++g) {
    const GpuInfo& info = gpus[g].info();
    if (info.major < kLeastCapability)
      throw UnfitGpu(fmt::format("GPU {} ({}) has compute capability {}.{}: expected {}.0 or newer",
                                 g, info.name, info.major, info.minor, kLeastCapability));
    if (!info.virtual_memory)
      throw UnfitGpu(fmt::format("GPU {} ({}) has no virtual memory management", g, info.name));
    for (size_t other = 0; other < gpus.size(); ++other)
      if (!gpus.sees(g, other))
        throw UnfitGpu(fmt::format(
            "GPU {} ({}) does not see the memory of GPU {}: CUDA_VISIBLE_DEVICES chooses "
            "GPUs that do, or one",
            g, info.name, other));
  }
}

}  // namespace orrery::cuda
