// In the place of the table of kernels, for a mock that is linked without it.

#include "simulator/values/cuda/kernels/host_kernels.h"

namespace orrery::cuda {

const HostKernel* host_kernel(std::string_view) {
  return nullptr;
}

}  // namespace orrery::cuda
