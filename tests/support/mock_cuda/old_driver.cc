// This driver is too old: it has only the entry points of the first versions.

#include "simulator/values/cuda/driver/cuda_api.h"

namespace orrery::cuda {

extern "C" __attribute__((visibility("default"))) CUresult cuInit(unsigned int) {
  return CUDA_SUCCESS;
}
extern "C" __attribute__((visibility("default"))) CUresult cuDriverGetVersion(int* version) {
  *version = 11040;
  return CUDA_SUCCESS;
}

}  // namespace orrery::cuda
