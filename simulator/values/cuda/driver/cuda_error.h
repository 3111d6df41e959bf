#pragma once

// A call of the driver that failed.

#include <stdexcept>
#include <string>
#include <string_view>

#include "simulator/values/cuda/driver/result_codes.h"

namespace orrery::cuda {

/// The name of a code, "CUDA_ERROR_OUT_OF_MEMORY"; empty for one that CUDA 13.0 does not have.
std::string_view result_name(CUresult code);

/// what() is "cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (2): 64 MiB of virtual device 3".
class CudaError : public std::runtime_error {
 public:
  /// `call` lives as long as the program.
  CudaError(const char* call, CUresult code, const std::string& purpose);

  std::string_view call() const { return call_; }
  CUresult code() const { return code_; }
  bool out_of_memory() const { return code_ == CUDA_ERROR_OUT_OF_MEMORY; }

 private:
  const char* call_;
  CUresult code_;
};

}  // namespace orrery::cuda
