#pragma once

#include <stdexcept>

#include "simulator/values/cuda/driver/gpus.h"

namespace orrery::cuda {

/// A GPU that lacks what all programs need, or has too little memory for one. what() is one line.
class UnfitGpu : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
class TooLittleMemory : public UnfitGpu {
 public:
  using UnfitGpu::UnfitGpu;
};

/// Throws UnfitGpu where the kernels are not for a GPU, or it has no virtual memory management,
/// which arenas need, or where one does not see another's memory.
void check_fit(const Gpus& gpus);

}  // namespace orrery::cuda
