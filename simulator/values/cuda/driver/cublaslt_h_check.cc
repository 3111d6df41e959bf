// This file checks that our declarations say what cublasLt.h says. It is compiled where there is a
// toolkit; nothing here runs.

#include <cublasLt.h>

#include "simulator/values/cuda/driver/cublaslt_api.h"
#include "simulator/values/cuda/driver/header_check.h"

namespace orrery::cuda {
namespace {

ORRERY_STANDS_FOR(cublasStatus_t);
ORRERY_STANDS_FOR(cudaDataType_t);
ORRERY_STANDS_FOR(cublasComputeType_t);
ORRERY_STANDS_FOR(cublasOperation_t);
ORRERY_STANDS_FOR(cublasLtMatmulDescAttributes_t);
ORRERY_STANDS_FOR(cublasLtMatrixLayoutAttribute_t);
ORRERY_STANDS_FOR(cublasLtMatmulPreferenceAttributes_t);
ORRERY_STANDS_FOR(cublasLtReductionScheme_t);
ORRERY_STANDS_FOR(cublasLtMatmulAlgo_t);
ORRERY_STANDS_FOR(cublasLtMatmulHeuristicResult_t);

ORRERY_HANDLE(cublasLtHandle_t);
ORRERY_HANDLE(cublasLtMatmulDesc_t);
ORRERY_HANDLE(cublasLtMatrixLayout_t);
ORRERY_HANDLE(cublasLtMatmulPreference_t);
template <>
struct Theirs<std::remove_pointer_t<CUstream>> {
  using Type = std::remove_pointer_t<::cudaStream_t>;
};

// This compares the signatures.
#define ORRERY_SAME_SIGNATURE(name, parameters) \
  static_assert(std::is_same_v<TheirsOf<cublasStatus_t parameters>, decltype(::name)>);
ORRERY_CUBLASLT_ENTRY_POINTS(ORRERY_SAME_SIGNATURE)

// These compare the members: each has its type and its place.
ORRERY_SAME_MEMBER(cublasLtMatmulHeuristicResult_t, algo);
ORRERY_SAME_MEMBER(cublasLtMatmulHeuristicResult_t, workspaceSize);
ORRERY_SAME_MEMBER(cublasLtMatmulHeuristicResult_t, state);

// These compare the constants.
#define ORRERY_SAME_CONSTANT(name) \
  static_assert(static_cast<long long>(name) == static_cast<long long>(::name))

ORRERY_SAME_CONSTANT(CUDA_R_16F);
ORRERY_SAME_CONSTANT(CUDA_R_16BF);
ORRERY_SAME_CONSTANT(CUDA_R_32F);
ORRERY_SAME_CONSTANT(CUDA_R_64F);
ORRERY_SAME_CONSTANT(CUBLAS_COMPUTE_32F);
ORRERY_SAME_CONSTANT(CUBLAS_COMPUTE_64F);
ORRERY_SAME_CONSTANT(CUBLAS_OP_N);
ORRERY_SAME_CONSTANT(CUBLAS_OP_T);
ORRERY_SAME_CONSTANT(CUBLASLT_MATMUL_DESC_TRANSA);
ORRERY_SAME_CONSTANT(CUBLASLT_MATMUL_DESC_TRANSB);
ORRERY_SAME_CONSTANT(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
ORRERY_SAME_CONSTANT(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
ORRERY_SAME_CONSTANT(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
ORRERY_SAME_CONSTANT(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
ORRERY_SAME_CONSTANT(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
ORRERY_SAME_CONSTANT(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
ORRERY_SAME_CONSTANT(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
ORRERY_SAME_CONSTANT(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
ORRERY_SAME_CONSTANT(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);

#define ORRERY_SAME_CODE(name, code) \
  static_assert(static_cast<unsigned int>(::name) == static_cast<unsigned int>(name));
ORRERY_CUBLAS_STATUSES(ORRERY_SAME_CODE)

}  // namespace
}  // namespace orrery::cuda
