#include "simulator/values/cuda/kernel_launches.h"

#include <algorithm>

namespace orrery::cuda {

namespace {

constexpr unsigned int kThreadsOfBlock = 256;
constexpr int kBlocksOfMultiprocessor = 8;

unsigned int blocks(const Gpu& gpu, int64_t items) {
  const int64_t most = int64_t{gpu.info().multiprocessors} * kBlocksOfMultiprocessor;
  const int64_t needed = (items + kThreadsOfBlock - 1) / kThreadsOfBlock;
  return static_cast<unsigned int>(std::clamp(needed, int64_t{1}, std::max(most, int64_t{1})));
}

}  // namespace

KernelLaunch launch_of(const KernelCall& call, const Gpu& gpu, KernelModule& module) {
  return {module.function(entry_point(call.kernel)), blocks(gpu, call.items), kThreadsOfBlock,
          call.argument};
}

}  // namespace orrery::cuda
