#include "simulator/values/cuda/kernels/kernels.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "simulator/values/cuda/kernels/kernel_list.h"

namespace orrery::cuda {

namespace {

constexpr auto kFamilyNames = std::to_array<std::string_view>(
    {"combine",  "combine_ranked", "copy",   "fill",    "move",   "convert",     "rank",
     "its_rank", "unary",          "binary", "compare", "select", "select_many", "part",
     "take",     "scatter_add",    "iota",   "reduce",  "dot",    "any_dot"});
static_assert(kFamilyNames.size() == static_cast<size_t>(KernelFamily::AnyDot) + 1);

}  // namespace

std::string entry_point(KernelId kernel) {
  std::string point = "orrery_";
  point += kFamilyNames.at(static_cast<size_t>(kernel.family));
  if (kernel.dtype) {
    point += '_';
    point += name(*kernel.dtype);
  }
  return point;
}

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
