#pragma once

// The argument of a kernel as the driver takes it: one buffer with its size, which a driver can
// compare with the kernel's parameter.

#include <array>

#include "models/base/check.h"
#include "simulator/values/cuda/driver/kernel_launch.h"

namespace orrery::cuda {

class LaunchArgument {
 public:
  explicit LaunchArgument(const KernelLaunch& launch)
      : size_(launch.argument.size()),
        extra_{tag(kLaunchParamBuffer), const_cast<std::byte*>(launch.argument.data()),
               tag(kLaunchParamBufferSize), &size_, tag(kLaunchParamEnd)} {
    // Drivers before CUDA 12.1 take no more, and some after it crash at more in a graph.
    ORRERY_CHECK(size_ <= 4096, "the argument of a kernel has at most 4 KiB");
  }
  LaunchArgument(const LaunchArgument&) = delete;
  LaunchArgument& operator=(const LaunchArgument&) = delete;

  void** extra() { return extra_.data(); }

 private:
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver wants it so
  static void* tag(uintptr_t number) { return reinterpret_cast<void*>(number); }

  size_t size_;
  std::array<void*, 5> extra_;
};

}  // namespace orrery::cuda
