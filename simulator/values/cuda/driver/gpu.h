#pragma once

// Gpus are the physical GPUs that a run uses. Each Gpu has its properties and its primary context,
// in which everything on it happens. Gpus also knows which GPUs see each other's memory.

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "simulator/values/cuda/driver/driver.h"
#include "simulator/values/cuda/driver/entry_point.h"
#include "simulator/values/gpu_facts.h"

namespace orrery::cuda {

struct GpuMemory {
  Bytes free;
  Bytes total;
};

/// A Gpu holds its primary context from construction to destruction. Everything made on a GPU keeps
/// a pointer to it, and ends before it does.
class Gpu {
 public:
  /// `driver` must outlive the GPU. Throws CudaError.
  Gpu(const Driver& driver, int ordinal);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const Driver& driver() const { return driver_; }
  const GpuInfo& info() const { return info_; }
  CUcontext context() const { return context_; }

  /// Makes later calls of this thread act on this GPU. Throws CudaError.
  void make_current() const;
  /// Does the same for destructors: it never throws.
  void try_make_current() const noexcept;

  /// Returns the memory as it is now. Throws CudaError.
  GpuMemory memory() const;
  /// Returns the properties of the memory that arenas are made of.
  CUmemAllocationProp memory_properties() const;
  /// Returns the allocation granularity. An arena's memory is a multiple of it. Throws CudaError.
  Bytes granule() const;

 private:
  const Driver& driver_;
  GpuInfo info_;
  Owned<CUdevice> retained_;
  CUcontext context_ = nullptr;
};

/// Returns how many GPUs are visible. Throws CudaError.
int gpu_count(const Driver& driver);

class Gpus {
 public:
  /// Opens the first `count` visible GPUs, and the access between each two that can see each
  /// other's memory. Requires count > 0. Throws CudaError.
  Gpus(const Driver& driver, int count);

  size_t size() const { return gpus_.size(); }
  const Gpu& operator[](size_t index) const { return *gpus_[index]; }

  /// Returns whether `reader` itself reads and writes the memory of `owner`, as each does its own.
  bool sees(size_t reader, size_t owner) const { return sees_[reader][owner]; }
  /// Returns the GPUs that see the memory of `owner`, by number.
  std::vector<size_t> viewers(size_t owner) const;

 private:
  void open_access(size_t reader, size_t owner);

  std::vector<std::unique_ptr<const Gpu>> gpus_;
  std::vector<std::vector<bool>> sees_;
};

/// The error thrown if a GPU lacks what programs need, or has too little memory. what() is one
/// line.
class UnfitGpu : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// The error thrown if the memory of a GPU is too little for the program.
class TooLittleMemory : public UnfitGpu {
 public:
  using UnfitGpu::UnfitGpu;
};

/// Throws UnfitGpu if the kernels are not for a GPU, if a GPU has no virtual memory management,
/// which arenas need, or if one GPU does not see another's memory.
void check_fit(const Gpus& gpus);

}  // namespace orrery::cuda
