#include "tests/support/mock_cuda/launch_argument.h"

namespace orrery::mock_cuda {

using cuda::CUDA_ERROR_INVALID_VALUE;

namespace {

std::vector<std::byte> argument_of(const cuda::CUDA_KERNEL_NODE_PARAMS& node) {
  if (node.kernelParams != nullptr || node.extra == nullptr)
    throw Misuse(CUDA_ERROR_INVALID_VALUE, "the mock takes the argument of a kernel as a buffer");
  const std::byte* buffer = nullptr;
  size_t size = 0;
  for (void** at = node.extra; *at != nullptr; at += 2) {
    const uint64_t tag = number_of(*at);
    if (tag == cuda::kLaunchParamBuffer)
      buffer = static_cast<const std::byte*>(at[1]);
    else if (tag == cuda::kLaunchParamBufferSize)
      size = *static_cast<const size_t*>(at[1]);
    else
      throw Misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("the tag {} of a launch", tag));
  }
  return {buffer, buffer + size};
}

}  // namespace

KernelWork kernel_work(State& s, const cuda::CUDA_KERNEL_NODE_PARAMS& node) {
  const Function& function = s.things.functions.at(node.func);
  const uint64_t block = uint64_t{node.blockDimX} * node.blockDimY * node.blockDimZ;
  const uint64_t grid = uint64_t{node.gridDimX} * node.gridDimY * node.gridDimZ;
  if (block == 0 || grid == 0 || block > 1024 || node.gridDimY > 65535 || node.gridDimZ > 65535)
    throw Misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("{} blocks of {} threads", grid, block));
  KernelWork work{node.func, function.kernel, argument_of(node), grid * block};
  if (work.argument.size() != function.kernel->argument_size)
    throw Misuse(CUDA_ERROR_INVALID_VALUE,
                 fmt::format("the argument has {} bytes, the kernel takes {}", work.argument.size(),
                             function.kernel->argument_size));
  return work;
}

}  // namespace orrery::mock_cuda
