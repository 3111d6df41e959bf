#pragma once

// The codes that cuBLASLt answers with, each with its name. cublaslt_h_check.cc compares them with
// its header.

#define ORRERY_CUBLAS_STATUSES(X)       \
  X(CUBLAS_STATUS_SUCCESS, 0)           \
  X(CUBLAS_STATUS_NOT_INITIALIZED, 1)   \
  X(CUBLAS_STATUS_ALLOC_FAILED, 3)      \
  X(CUBLAS_STATUS_INVALID_VALUE, 7)     \
  X(CUBLAS_STATUS_ARCH_MISMATCH, 8)     \
  X(CUBLAS_STATUS_MAPPING_ERROR, 11)    \
  X(CUBLAS_STATUS_EXECUTION_FAILED, 13) \
  X(CUBLAS_STATUS_INTERNAL_ERROR, 14)   \
  X(CUBLAS_STATUS_NOT_SUPPORTED, 15)    \
  X(CUBLAS_STATUS_LICENSE_ERROR, 16)

// NOLINTBEGIN(readability-identifier-naming): the names are given

namespace orrery::cuda {

enum cublasStatus_t : unsigned int {
#define ORRERY_CUBLAS_STATUS(name, code) name = code,
  ORRERY_CUBLAS_STATUSES(ORRERY_CUBLAS_STATUS)
#undef ORRERY_CUBLAS_STATUS
};

}  // namespace orrery::cuda

// NOLINTEND(readability-identifier-naming)
