#pragma once

// A moment on a GPU, and the time between two.

#include <string_view>

#include "models/base/quantity.h"
#include "simulator/values/cuda/driver/stream.h"

namespace orrery::cuda {

class Event {
 public:
  /// Throws CudaError.
  explicit Event(const Gpu& gpu);

  CUevent get() const { return event_.get(); }

  /// Takes the moment at which all that was given to `stream` before has ended. Throws CudaError.
  void record(const Stream& stream) const;
  /// Returns when the moment has come. Throws CudaError where work before it failed.
  void synchronize(std::string_view purpose) const;

  /// From `start` to here, to the picosecond next to what the driver tells (it tells about half a
  /// microsecond). Both have come, on the same GPU. Throws CudaError.
  Duration since(const Event& start) const;

 private:
  const Gpu* gpu_;
  Owned<CUevent> event_;
};

}  // namespace orrery::cuda
