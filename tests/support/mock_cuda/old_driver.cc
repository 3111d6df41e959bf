// A driver that is too old: it has the entry points that the first ones had, and no more.

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
