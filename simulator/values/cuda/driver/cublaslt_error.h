#pragma once

// A call of cuBLASLt that failed.

#include <stdexcept>
#include <string>
#include <string_view>

#include "simulator/values/cuda/driver/cublaslt_codes.h"

namespace orrery::cuda {

/// what() is "cublasLtMatmul: CUBLAS_STATUS_EXECUTION_FAILED (13): a product of f16".
class CublasLtError : public std::runtime_error {
 public:
  CublasLtError(const char* call, cublasStatus_t code, const std::string& purpose);

  cublasStatus_t code() const { return code_; }

 private:
  cublasStatus_t code_;
};

}  // namespace orrery::cuda
