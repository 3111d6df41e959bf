#include "simulator/values/cuda/kernels/kernel_call.h"

#include <array>
#include <string_view>

namespace orrery::cuda {

namespace {

constexpr std::array<std::string_view, 8> kFamilyNames = {
    "combine", "combine_ranked", "copy", "fill", "move", "convert", "rank", "its_rank"};

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

}  // namespace orrery::cuda
