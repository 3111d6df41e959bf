#pragma once

// A physical GPU: what it is, and its primary context, in which everything on it happens.

#include <string>

#include "models/base/quantity.h"
#include "simulator/values/cuda/driver/driver.h"
#include "simulator/values/cuda/driver/owned.h"

namespace orrery::cuda {

struct GpuInfo {
  CUdevice device = 0;  // its number among those visible
  std::string name;     // "NVIDIA H100 80GB HBM3"
  int major = 0;        // of the compute capability
  int minor = 0;
  std::string uuid;  // "GPU-f3a1...", as nvidia-smi writes it
  Bytes memory;      // in all
  int multiprocessors = 0;
  bool virtual_memory = false;  // whether an arena can be made on it
};

struct GpuMemory {
  Bytes free;
  Bytes total;
};

/// Holds the primary context from construction to destruction. Everything made on a GPU keeps a
/// pointer to it, and ends before it does.
class Gpu {
 public:
  /// `driver` outlives the GPU. Throws CudaError.
  Gpu(const Driver& driver, int ordinal);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const Driver& driver() const { return driver_; }
  const GpuInfo& info() const { return info_; }
  CUcontext context() const { return context_; }

  /// What follows happens on this GPU. Throws CudaError.
  void make_current() const;
  /// The same for destructors: never throws.
  void try_make_current() const noexcept;

  /// Of now. Throws CudaError.
  GpuMemory memory() const;
  /// Of what arenas are made of, and of what it is given in multiples. Throws CudaError.
  CUmemAllocationProp memory_properties() const;
  Bytes granule() const;

 private:
  const Driver& driver_;
  GpuInfo info_;
  Owned<CUdevice> retained_;
  CUcontext context_ = nullptr;
};

}  // namespace orrery::cuda
