#pragma once

// The kernels, loaded on one GPU.

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "simulator/values/cuda/driver/gpu.h"

namespace orrery::cuda {

enum class LoadedFrom { Fatbin, Ptx };

class KernelModule {
 public:
  /// Loads `fatbin`; where it is empty or has nothing for this GPU, the driver compiles `ptx`.
  /// Throws CudaError, with what the compiler said.
  KernelModule(const Gpu& gpu, std::span<const std::byte> fatbin, std::string_view ptx);
  KernelModule(const KernelModule&) = delete;
  KernelModule& operator=(const KernelModule&) = delete;
  ~KernelModule();

  LoadedFrom loaded_from() const { return loaded_from_; }

  /// The kernel of that name; looked up once. Throws CudaError where the module lacks it.
  CUfunction function(std::string_view entry_point);

 private:
  const Gpu& gpu_;
  CUmodule module_ = nullptr;
  LoadedFrom loaded_from_ = LoadedFrom::Ptx;
  std::map<std::string, CUfunction, std::less<>> functions_;
};

}  // namespace orrery::cuda
