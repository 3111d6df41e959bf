#pragma once

// The kernels compiled for the CPU.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace orrery::cuda {

struct HostKernel {
  /// The items first, first + stride, ...: one thread's share.
  void (*run)(const void* argument, int64_t first, int64_t stride);
  size_t argument_size;
};

/// Null: there is none of that name.
const HostKernel* host_kernel(std::string_view entry_point);

}  // namespace orrery::cuda
