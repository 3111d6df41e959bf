#pragma once

// A kernel that is to run: of a graph's node, or in a stream by itself.

#include <cstddef>
#include <span>
#include <string_view>

#include "simulator/values/cuda/driver/stream.h"

namespace orrery::cuda {

/// A kernel with one argument, a struct. It runs on the GPU of its module.
struct KernelLaunch {
  CUfunction function = nullptr;
  unsigned int blocks = 1;
  unsigned int threads = 1;  // of each block
  std::span<const std::byte> argument;
};

/// After what was given to `stream` before; the argument is copied. Throws CudaError, in which
/// `purpose` says what the kernel is.
void launch(const KernelLaunch& launch, const Stream& stream, std::string_view purpose);

}  // namespace orrery::cuda
