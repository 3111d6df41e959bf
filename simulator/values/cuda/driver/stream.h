#pragma once

// This file has streams of work on a GPU, and moments in them.

#include <string_view>

#include "models/base/quantity.h"
#include "simulator/values/cuda/driver/gpu.h"

namespace orrery::cuda {

/// A Stream is a queue of work on a GPU.
class Stream {
 public:
  /// Makes a stream that does not wait for the default stream. Throws CudaError.
  explicit Stream(const Gpu& gpu);
  /// Waits for the work that runs, so that what it uses may be destroyed afterwards.
  ~Stream();
  Stream(Stream&&) noexcept = default;
  Stream& operator=(Stream&&) noexcept = default;

  const Gpu& gpu() const { return *gpu_; }
  CUstream get() const { return stream_.get(); }

  /// Returns when all that was given to the stream has ended. Throws CudaError if any of it failed;
  /// `purpose` says what it was.
  void synchronize(std::string_view purpose) const;

 private:
  const Gpu* gpu_;
  Owned<CUstream> stream_;
};

/// An Event is a moment on a GPU.
class Event {
 public:
  /// Throws CudaError.
  explicit Event(const Gpu& gpu);

  CUevent get() const { return event_.get(); }

  /// Records the moment at which all that was given to `stream` before has ended. Throws CudaError.
  void record(const Stream& stream) const;
  /// Returns when the moment has come. Throws CudaError if work before it failed.
  void synchronize(std::string_view purpose) const;

  /// Returns the time from `start` to this event, rounded to a picosecond; the driver resolves
  /// about half a microsecond. Requires that both have come, on the same GPU. Throws CudaError.
  Duration since(const Event& start) const;

 private:
  const Gpu* gpu_;
  Owned<CUevent> event_;
};

}  // namespace orrery::cuda
