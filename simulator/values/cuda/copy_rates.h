#pragma once

// At which rates GPUs copy: what the bytes of an op are compared with.

#include <optional>
#include <vector>

#include "models/base/quantity.h"
#include "simulator/values/cuda/driver/gpus.h"

namespace orrery::cuda {

/// Bytes copied per second, so that twice as many are read and written; rounded down.
struct CopyRates {
  std::vector<BytesPerSecond> in_gpu;     // of each, in its memory; 0: too fast for the clock
  std::optional<BytesPerSecond> to_next;  // from the memory of GPU 0 to that of GPU 1, if there are
  Bytes size;                             // of each copy
};

/// Copies of 1/128 of what is free on each GPU, in whole 64 KiB, at most 256 MiB. Nothing where
/// that is less than 64 KiB. Throws CudaError.
std::optional<CopyRates> copy_rates(const Gpus& gpus);

}  // namespace orrery::cuda
