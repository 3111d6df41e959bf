// This file has the entry points of the device, one for each kernel of the list. It is compiled by
// nvcc, and by clang for the PTX that is checked in (kernels.ptx).

#include "simulator/values/cuda/kernels/kernel_list.h"

namespace orrery::cuda {

#ifdef __clang__  // without CUDA's headers
#define ORRERY_GLOBAL __attribute__((global))
#define ORRERY_ARGUMENT const
__attribute__((device)) inline int64_t first_item() {
  return int64_t{__nvvm_read_ptx_sreg_ctaid_x()} * __nvvm_read_ptx_sreg_ntid_x() +
         __nvvm_read_ptx_sreg_tid_x();
}
__attribute__((device)) inline int64_t item_stride() {
  return int64_t{__nvvm_read_ptx_sreg_nctaid_x()} * __nvvm_read_ptx_sreg_ntid_x();
}
#else
#define ORRERY_GLOBAL __global__
#define ORRERY_ARGUMENT const __grid_constant__
__device__ inline int64_t first_item() {
  return int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline int64_t item_stride() {
  return int64_t{gridDim.x} * blockDim.x;
}
#endif

#define ORRERY_ENTRY(name, Args, body)                                     \
  extern "C" ORRERY_GLOBAL void orrery_##name(ORRERY_ARGUMENT Args args) { \
    body(args, first_item(), item_stride());                               \
  }
ORRERY_KERNELS(ORRERY_ENTRY)

}  // namespace orrery::cuda
