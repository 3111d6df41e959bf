#pragma once

// The kernels as functions of the host, of the same text: for tests, and for the driver that stands
// for a GPU in them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace orrery::cuda {

/// Does items first, first + stride, ... of those that the argument says. Addresses in the argument
/// are of the host.
struct HostKernel {
  std::string_view entry_point;
  void (*run)(const void* argument, int64_t first, int64_t stride);
  size_t argument_size;
};

/// Every kernel.
std::span<const HostKernel> host_kernels();

/// Null where there is no such entry point.
const HostKernel* host_kernel(std::string_view entry_point);

}  // namespace orrery::cuda
