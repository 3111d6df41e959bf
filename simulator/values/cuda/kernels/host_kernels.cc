// This file has the kernels as functions of the host (kernels.h). Only tests and their mock driver
// link it, since it takes the compiler longer than the rest of the folder.

#include <algorithm>
#include <iterator>
#include <string_view>

#include "simulator/values/cuda/kernels/kernel_list.h"
#include "simulator/values/cuda/kernels/kernels.h"

namespace orrery::cuda {

namespace {

template <class Args, void (*kBody)(const Args&, int64_t, int64_t)>
void run(const void* argument, int64_t first, int64_t stride) {
  kBody(*static_cast<const Args*>(argument), first, stride);
}

#define ORRERY_ENTRY(name, Args, body) {"orrery_" #name, run<Args, body>, sizeof(Args)},
constexpr HostKernel kKernels[] = {ORRERY_KERNELS(ORRERY_ENTRY)};
#undef ORRERY_ENTRY

}  // namespace

std::span<const HostKernel> host_kernels() {
  return kKernels;
}

const HostKernel* host_kernel(std::string_view entry_point) {
  const auto* const found =
      std::find_if(std::begin(kKernels), std::end(kKernels),
                   [&](const HostKernel& kernel) { return kernel.entry_point == entry_point; });
  return found == std::end(kKernels) ? nullptr : found;
}

}  // namespace orrery::cuda
