#pragma once

// The entry points of the driver, declared as the library exports them.

#include "simulator/values/cuda/driver/entry_points.h"

namespace orrery::cuda {

#define MOCK_CUDA_EXPORT(name, exported, parameters) \
  extern "C" __attribute__((visibility("default"))) CUresult exported parameters;
ORRERY_CUDA_ENTRY_POINTS(MOCK_CUDA_EXPORT)
#undef MOCK_CUDA_EXPORT

}  // namespace orrery::cuda
