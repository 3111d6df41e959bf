#pragma once

// A queue of work on a GPU.

#include <string_view>

#include "simulator/values/cuda/driver/gpu.h"

namespace orrery::cuda {

class Stream {
 public:
  /// One that does not wait for the default stream. Throws CudaError.
  explicit Stream(const Gpu& gpu);
  /// Waits for what runs, so that what it uses may end after it.
  ~Stream();
  Stream(Stream&&) noexcept = default;
  Stream& operator=(Stream&&) noexcept = default;

  const Gpu& gpu() const { return *gpu_; }
  CUstream get() const { return stream_.get(); }

  /// Returns when all that was given to the stream has ended. Throws CudaError where any of it
  /// failed; `purpose` says what it was.
  void synchronize(std::string_view purpose) const;

 private:
  const Gpu* gpu_;
  Owned<CUstream> stream_;
};

}  // namespace orrery::cuda
