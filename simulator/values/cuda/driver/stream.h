#pragma once

// A queue of work on a GPU, and moments in it.

#include <string_view>

#include "models/base/quantity.h"
#include "simulator/values/cuda/driver/gpu.h"

namespace orrery::cuda {

/// A queue of work on a GPU.
class Stream {
 public:
  /// Does not wait for the default stream. Throws CudaError.
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

/// A moment on a GPU.
class Event {
 public:
  /// Throws CudaError.
  explicit Event(const Gpu& gpu);

  CUevent get() const { return event_.get(); }

  /// Takes the moment at which all that was given to `stream` before has ended. Throws CudaError.
  void record(const Stream& stream) const;
  /// Returns when the moment has come. Throws CudaError where work before it failed.
  void synchronize(std::string_view purpose) const;

  /// The time from `start` to here, to the picosecond next to what the driver tells (it tells about
  /// half a microsecond). Both have come, on the same GPU. Throws CudaError.
  Duration since(const Event& start) const;

 private:
  const Gpu* gpu_;
  Owned<CUevent> event_;
};

}  // namespace orrery::cuda
