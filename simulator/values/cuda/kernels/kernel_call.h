#pragma once

// What a launch of a kernel is: which, with which argument, on how many items of work.

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "models/array/dtype.h"
#include "simulator/values/cuda/kernels/device_pointer.h"

namespace orrery::cuda {

/// In the order of kFamilyNames (kernel_call.cc).
enum class KernelFamily : uint8_t {
  Combine,  // per dtype
  CombineRanked,
  Copy,
  Fill,
  Move,
  Convert,
  Rank,
  ItsRank,
  Unary,
  Binary,  // per dtype
  Compare,
  Select,
  SelectMany,
  Part,
  Take,
  ScatterAdd,  // per dtype
  Iota,
  Reduce,  // per dtype
  Dot,     // per dtype of the operands
  AnyDot,  // per dtype of the sums
};

struct KernelId {
  KernelFamily family;
  std::optional<Dtype> dtype = {};  // of a family with a kernel per dtype
  friend auto operator<=>(const KernelId&, const KernelId&) = default;
};

/// "orrery_combine_f32", "orrery_copy".
std::string entry_point(KernelId kernel);

/// The most bytes that a kernel's argument has.
inline constexpr size_t kMostArgumentBytes = 4096;

/// A kernel does items first, first + stride, ... below `items`. They are independent of each
/// other, so that any order of them gives the same bits.
struct KernelCall {
  KernelId kernel;
  std::vector<std::byte> argument;  // one struct, which holds the number of items too
  int64_t items = 0;
  friend bool operator==(const KernelCall&, const KernelCall&) = default;
};

/// Requires the argument's type to be that of the kernel.
template <class Args>
KernelCall call_of(KernelId kernel, const Args& args, int64_t items) {
  static_assert(std::is_trivially_copyable_v<Args> && sizeof(Args) <= kMostArgumentBytes);
  KernelCall call{kernel, std::vector<std::byte>(sizeof(Args)), items};
  std::memcpy(call.argument.data(), &args, sizeof(Args));
  return call;
}

}  // namespace orrery::cuda
