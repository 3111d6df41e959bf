#include "simulator/values/cuda/kernels/kernels.h"

#include <array>
#include <string_view>

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

}  // namespace orrery::cuda
