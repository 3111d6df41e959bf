#pragma once

// This file declares the entry points of the driver and of cuBLASLt as the library exports them.

#include "simulator/values/cuda/driver/cublaslt_api.h"
#include "simulator/values/cuda/driver/cuda_api.h"

namespace orrery::cuda {

#define MOCK_CUDA_EXPORT(name, exported, parameters) \
  extern "C" __attribute__((visibility("default"))) CUresult exported parameters;
ORRERY_CUDA_ENTRY_POINTS(MOCK_CUDA_EXPORT)
#undef MOCK_CUDA_EXPORT
#define MOCK_CUBLASLT_EXPORT(name, parameters) \
  extern "C" __attribute__((visibility("default"))) cublasStatus_t name parameters;
ORRERY_CUBLASLT_ENTRY_POINTS(MOCK_CUBLASLT_EXPORT)
#undef MOCK_CUBLASLT_EXPORT

}  // namespace orrery::cuda
