#pragma once

// Memory of the host that the driver copies from and to without a detour.

#include <cstddef>
#include <span>

#include "models/base/quantity.h"
#include "simulator/values/cuda/driver/gpu.h"

namespace orrery::cuda {

class PinnedMemory {
 public:
  /// Requires size > 0. Throws CudaError.
  PinnedMemory(const Gpu& gpu, Bytes size);
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory();

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  const Gpu& gpu_;
  std::span<std::byte> bytes_;
};

}  // namespace orrery::cuda
