#pragma once

// This file has the kernels as the host knows them: what a launch is (KernelCall), the kernels'
// code for the device (Image), and the same kernels as functions of the host.
//
// How this folder works: a kernel is a freestanding function of its argument, the number of its
// first item and its stride (fold.h, move.h, elementwise.h; places.h and elements.h have what they
// share). kernel_list.h lists them all. From that list device_kernels.cu makes the device's entry
// points. nvcc compiles it where there is an nvcc, and clang for kernels.ptx, which is checked in
// (tools/build/device_ptx.py). host_kernels.cc makes functions of the host, which the mock driver
// of the tests runs. calls.h says which calls do an op, or a step or an end of a collective.
//
// A new kernel is a function in one of these headers, a line in kernel_list.h, and a maker of its
// call. It may use no library and no memory but its argument's, and rounds as the host's kernels
// do, since values are compared with the host's bit for bit.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "models/array/dtype.h"
#include "simulator/values/cuda/kernels/places.h"

namespace orrery::cuda {

/// The families are in the order of kFamilyNames (kernels.cc).
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

/// Returns the name of the entry point, such as "orrery_combine_f32" or "orrery_copy".
std::string entry_point(KernelId kernel);

/// A kernel's argument has at most this many bytes.
inline constexpr size_t kMostArgumentBytes = 4096;

/// A KernelCall is a launch of a kernel with an argument, on a number of items of work. A thread
/// does items first, first + stride, ... below `items`. Items are independent of each other, so any
/// order of them gives the same bits.
struct KernelCall {
  KernelId kernel;
  std::vector<std::byte> argument;  // one struct, which holds the number of items too
  int64_t items = 0;
  friend bool operator==(const KernelCall&, const KernelCall&) = default;
};

/// Makes a call. Requires the argument's type to be that of the kernel.
template <class Args>
KernelCall call_of(KernelId kernel, const Args& args, int64_t items) {
  static_assert(std::is_trivially_copyable_v<Args> && sizeof(Args) <= kMostArgumentBytes);
  KernelCall call{kernel, std::vector<std::byte>(sizeof(Args)), items};
  std::memcpy(call.argument.data(), &args, sizeof(Args));
  return call;
}

/// A HostKernel is a kernel as a function of the host, of the same text. It is for tests, and for
/// the driver that stands for a GPU in them. It does items first, first + stride, ... of those that
/// the argument says. Addresses in the argument are of the host.
struct HostKernel {
  std::string_view entry_point;
  void (*run)(const void* argument, int64_t first, int64_t stride);
  size_t argument_size;
};

/// Returns every kernel. A target that calls this links `host_kernels`.
std::span<const HostKernel> host_kernels();

/// Returns the kernel of an entry point; null if there is none.
const HostKernel* host_kernel(std::string_view entry_point);

/// An Image is the kernels as code of the device. The build embeds it
/// (tools/build/device_image.py).
struct Image {
  /// Code for some GPUs, and PTX for newer ones; empty if the build had no nvcc.
  std::span<const std::byte> fatbin;
  /// PTX for every GPU since Ampere and every driver since 450. A zero follows it.
  std::string_view ptx;
};

Image kernel_image();

}  // namespace orrery::cuda
