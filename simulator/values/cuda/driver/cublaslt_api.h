#pragma once

// This file declares cuBLASLt as we call it, as cuda_api.h declares the driver. cublaslt_h_check.cc
// compares it with cublasLt.h.

#include <cstddef>
#include <cstdint>

#include "simulator/values/cuda/driver/cuda_api.h"

// The codes that cuBLASLt answers with, each with its name.

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

using cublasLtHandle_t = struct cublasLtHandleOpaque_t*;
using cublasLtMatmulDesc_t = struct cublasLtMatmulDescOurs_t*;
using cublasLtMatrixLayout_t = struct cublasLtMatrixLayoutOurs_t*;
using cublasLtMatmulPreference_t = struct cublasLtMatmulPreferenceOurs_t*;

enum cudaDataType_t : unsigned int {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_R_16BF = 14,
};

enum cublasComputeType_t : unsigned int {
  CUBLAS_COMPUTE_32F = 68,  // f32 operands stay f32: TF32 is another type
  CUBLAS_COMPUTE_64F = 70,
};

enum cublasOperation_t : unsigned int { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };

enum cublasLtMatmulDescAttributes_t : unsigned int {
  CUBLASLT_MATMUL_DESC_TRANSA = 3,  // a cublasOperation_t
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
};

enum cublasLtMatrixLayoutAttribute_t : unsigned int {
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,           // int32_t
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6,  // int64_t, in elements
};

enum cublasLtReductionScheme_t : unsigned int {
  CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE = 2,  // parts of sums are added in the compute type
};

enum cublasLtMatmulPreferenceAttributes_t : unsigned int {
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,    // uint64_t
  CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3,  // uint32_t
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,  // uint32_t; the next three are of B, C and D
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8,
};

struct cublasLtMatmulAlgo_t {
  uint64_t data[8];
};

struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
};

}  // namespace orrery::cuda

// NOLINTEND(readability-identifier-naming)

// All entry points that we call, with their parameters. They are there since CUDA 12.0. The mock
// (tests/support/mock_cuda) exports the same.

// clang-format off: one entry point a line
#define ORRERY_CUBLASLT_ENTRY_POINTS(X)                                                           \
  X(cublasLtCreate, (cublasLtHandle_t * handle))                                                  \
  X(cublasLtDestroy, (cublasLtHandle_t handle))                                                   \
  X(cublasLtMatmulDescCreate,                                                                     \
    (cublasLtMatmulDesc_t * operation, cublasComputeType_t compute, cudaDataType_t scale))        \
  X(cublasLtMatmulDescSetAttribute,                                                               \
    (cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, const void* value, \
     size_t size))                                                                                \
  X(cublasLtMatmulDescDestroy, (cublasLtMatmulDesc_t operation))                                  \
  X(cublasLtMatrixLayoutCreate, (cublasLtMatrixLayout_t * layout, cudaDataType_t type,            \
                                 uint64_t rows, uint64_t columns, int64_t leading))               \
  X(cublasLtMatrixLayoutSetAttribute,                                                             \
    (cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, const void* value, \
     size_t size))                                                                                \
  X(cublasLtMatrixLayoutDestroy, (cublasLtMatrixLayout_t layout))                                 \
  X(cublasLtMatmulPreferenceCreate, (cublasLtMatmulPreference_t * preference))                    \
  X(cublasLtMatmulPreferenceSetAttribute,                                                         \
    (cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute,       \
     const void* value, size_t size))                                                             \
  X(cublasLtMatmulPreferenceDestroy, (cublasLtMatmulPreference_t preference))                     \
  X(cublasLtMatmulAlgoGetHeuristic,                                                               \
    (cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,           \
     cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,                \
     cublasLtMatmulPreference_t preference, int asked, cublasLtMatmulHeuristicResult_t* found,    \
     int* found_count))                                                                           \
  X(cublasLtMatmul,                                                                               \
    (cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void* alpha, const void* a,   \
     cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,             \
     const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,                   \
     cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, void* workspace,     \
     size_t workspace_size, CUstream stream))
// clang-format on
