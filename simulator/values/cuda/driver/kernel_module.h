#pragma once

// A KernelModule has the kernels, loaded on one GPU. A KernelLaunch is a launch of one of them.

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "models/base/check.h"
#include "simulator/values/cuda/driver/gpu.h"
#include "simulator/values/cuda/driver/stream.h"

namespace orrery::cuda {

enum class LoadedFrom { Fatbin, Ptx };

class KernelModule {
 public:
  /// Loads `fatbin`. If that is empty or has nothing for this GPU, the driver compiles `ptx`.
  /// Throws CudaError, with the messages of the compiler.
  KernelModule(const Gpu& gpu, std::span<const std::byte> fatbin, std::string_view ptx);
  KernelModule(const KernelModule&) = delete;
  KernelModule& operator=(const KernelModule&) = delete;
  ~KernelModule();

  LoadedFrom loaded_from() const { return loaded_from_; }

  /// Returns the kernel of that name, looked up once. Throws CudaError if the module lacks it.
  CUfunction function(std::string_view entry_point);

 private:
  const Gpu& gpu_;
  CUmodule module_ = nullptr;
  LoadedFrom loaded_from_ = LoadedFrom::Ptx;
  std::map<std::string, CUfunction, std::less<>> functions_;
};

/// A KernelLaunch is a kernel that is to run, as a graph's node or in a stream by itself. It has
/// one argument, a struct, and runs on the GPU of its module.
struct KernelLaunch {
  CUfunction function = nullptr;
  unsigned int blocks = 1;
  unsigned int threads = 1;  // of each block
  std::span<const std::byte> argument;
};

/// Runs the kernel after what was given to `stream` before; the argument is copied. Throws
/// CudaError, in which `purpose` says what the kernel is.
void launch(const KernelLaunch& launch, const Stream& stream, std::string_view purpose);

/// A LaunchArgument is the argument of a kernel as the driver takes it: one buffer with its size,
/// which a driver can compare with the kernel's parameter.
class LaunchArgument {
 public:
  explicit LaunchArgument(const KernelLaunch& launch)
      : size_(launch.argument.size()),
        extra_{tag(kLaunchParamBuffer), const_cast<std::byte*>(launch.argument.data()),
               tag(kLaunchParamBufferSize), &size_, tag(kLaunchParamEnd)} {
    // Drivers before CUDA 12.1 take no more, and some later ones crash at more in a graph.
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
