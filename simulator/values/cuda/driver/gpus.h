#pragma once

// The GPUs that a run uses, and which of them see each other's memory.

#include <memory>
#include <vector>

#include "simulator/values/cuda/driver/gpu.h"

namespace orrery::cuda {

/// How many are visible. Throws CudaError.
int gpu_count(const Driver& driver);

class Gpus {
 public:
  /// Opens the first `count` visible GPUs, and the access between each two that can. Requires count
  /// > 0. Throws CudaError.
  Gpus(const Driver& driver, int count);

  size_t size() const { return gpus_.size(); }
  const Gpu& operator[](size_t index) const { return *gpus_[index]; }

  /// Whether `reader` reads and writes the memory of `owner` itself; so does each its own.
  bool sees(size_t reader, size_t owner) const { return sees_[reader][owner]; }
  /// The GPUs that see the memory of `owner`, by number.
  std::vector<size_t> viewers(size_t owner) const;

 private:
  void open_access(size_t reader, size_t owner);

  std::vector<std::unique_ptr<const Gpu>> gpus_;
  std::vector<std::vector<bool>> sees_;
};

}  // namespace orrery::cuda
