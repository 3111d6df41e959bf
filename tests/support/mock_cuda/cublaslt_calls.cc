// Defines the entry points of cuBLASLt.

#include <cstring>
#include <utility>

#include "tests/support/mock_cuda/exports.h"
#include "tests/support/mock_cuda/product.h"
#include "tests/support/mock_cuda/state.h"

namespace orrery::cuda {

using mock_cuda::CallKind;
using mock_cuda::Misuse;
using mock_cuda::number_of;
using mock_cuda::State;

namespace {

/// Does what call() does, for cuBLASLt. A failure that a test sets is a cublasStatus_t; the
/// driver's codes for a misuse are greater numbers, and become CUBLAS_STATUS_INVALID_VALUE.
template <class Body>
cublasStatus_t blas_call(const char* entry_point, CallKind kind, const Body& body) {
  const auto code = static_cast<unsigned int>(mock_cuda::call(entry_point, kind, body));
  return code <= CUBLAS_STATUS_LICENSE_ERROR ? static_cast<cublasStatus_t>(code)
                                             : CUBLAS_STATUS_INVALID_VALUE;
}
template <class Body>
cublasStatus_t blas_call(const char* entry_point, const Body& body) {
  return blas_call(entry_point, CallKind::Makes, body);
}

void require(bool holds, const char* otherwise) {
  if (!holds)
    throw Misuse(CUDA_ERROR_ILLEGAL_STATE, otherwise);
}

/// Returns the value of an attribute.
template <class Value>
Value value_of(const void* given, size_t size) {
  require(size == sizeof(Value), "the size of an attribute");
  Value value;
  std::memcpy(&value, given, sizeof(value));
  return value;
}

/// These are indices into an algorithm's data, which says for which product it was found.
enum AlgorithmData { kOperation, kA, kB, kD, kAlignmentA, kAlignmentB, kAlignmentD };

}  // namespace

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return blas_call("cublasLtCreate", [&](State& s) {
    *handle = s.things.cublaslt_handles.add({s.context().device});
  });
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return blas_call("cublasLtDestroy", CallKind::Destroys,
                   [&](State& s) { s.things.cublaslt_handles.remove(handle); });
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* operation,
                                        cublasComputeType_t compute, cudaDataType_t scale) {
  return blas_call("cublasLtMatmulDescCreate", [&](State& s) {
    const bool wide = compute == CUBLAS_COMPUTE_64F && scale == CUDA_R_64F;
    const bool narrow = compute == CUBLAS_COMPUTE_32F && scale == CUDA_R_32F;
    require(wide || narrow, "scales of another type than the sums");
    *operation = s.things.operations.add({compute, scale});
  });
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t size) {
  return blas_call("cublasLtMatmulDescSetAttribute", [&](State& s) {
    mock_cuda::Operation& set = s.things.operations.at(operation);
    const bool transposed = value_of<cublasOperation_t>(value, size) == CUBLAS_OP_T;
    (attribute == CUBLASLT_MATMUL_DESC_TRANSA ? set.transposed_a : set.transposed_b) = transposed;
  });
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  return blas_call("cublasLtMatmulDescDestroy", CallKind::Destroys,
                   [&](State& s) { s.things.operations.remove(operation); });
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type,
                                          uint64_t rows, uint64_t columns, int64_t leading) {
  return blas_call("cublasLtMatrixLayoutCreate", [&](State& s) {
    require(rows > 0 && columns > 0 && leading >= static_cast<int64_t>(rows),
            "columns that overlap, or a matrix without elements");
    *layout = s.things.layouts.add(
        {type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), leading});
  });
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, size_t size) {
  return blas_call("cublasLtMatrixLayoutSetAttribute", [&](State& s) {
    mock_cuda::Layout& set = s.things.layouts.at(layout);
    if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)
      set.batch = value_of<int32_t>(value, size);
    else
      set.batch_stride = value_of<int64_t>(value, size);
    require(set.batch > 0, "a batch of no matrices");
  });
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return blas_call("cublasLtMatrixLayoutDestroy", CallKind::Destroys,
                   [&](State& s) { s.things.layouts.remove(layout); });
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return blas_call("cublasLtMatmulPreferenceCreate",
                   [&](State& s) { *preference = s.things.preferences.add({}); });
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, size_t size) {
  return blas_call("cublasLtMatmulPreferenceSetAttribute", [&](State& s) {
    mock_cuda::Preference& set = s.things.preferences.at(preference);
    if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
      set.workspace = value_of<uint64_t>(value, size);
    else if (attribute == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK)
      set.reduction_schemes = value_of<uint32_t>(value, size);
    else
      set.alignments.at(attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES) =
          value_of<uint32_t>(value, size);
  });
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return blas_call("cublasLtMatmulPreferenceDestroy", CallKind::Destroys,
                   [&](State& s) { s.things.preferences.remove(preference); });
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
                                              cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int asked,
                                              cublasLtMatmulHeuristicResult_t* found,
                                              int* found_count) {
  bool none = false;
  const cublasStatus_t status = blas_call("cublasLtMatmulAlgoGetHeuristic", [&](State& s) {
    const int device = s.things.cublaslt_handles.at(handle).device;
    require(device == s.context().device, "the handle is of another device");
    s.things.operations.at(operation);
    for (const cublasLtMatrixLayout_t layout : {a, b, c, d})
      s.things.layouts.at(layout);
    const mock_cuda::Preference& preferred = s.things.preferences.at(preference);
    // Our error bounds of sums do not cover such additions.
    require((preferred.reduction_schemes & ~uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE}) == 0,
            "parts of sums may be added in the type of the result");
    require(preferred.workspace == 0 && asked == 1 && c == d, "the mock does only plain products");
    none = s.settings.algorithms == 0;
    *found_count = none ? 0 : 1;
    if (none)
      return;
    *found = {};
    auto& data = found->algo.data;
    data[kOperation] = number_of(operation);
    data[kA] = number_of(a);
    data[kB] = number_of(b);
    data[kD] = number_of(d);
    data[kAlignmentA] = preferred.alignments[0];
    data[kAlignmentB] = preferred.alignments[1];
    data[kAlignmentD] = preferred.alignments[3];
  });
  return none ? CUBLAS_STATUS_NOT_SUPPORTED : status;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              size_t workspace_size, CUstream stream) {
  return blas_call("cublasLtMatmul", [&](State& s) {
    const int device = s.things.cublaslt_handles.at(handle).device;
    mock_cuda::Stream& to = s.things.streams.at(stream);
    require(device == s.context().device && device == to.device,
            "the handle, the stream and the context are not of one device");
    require(c == d && c_layout == d_layout && workspace == nullptr && workspace_size == 0,
            "the mock does only plain products");
    const mock_cuda::Operation& how = s.things.operations.at(operation);
    const bool wide = how.compute == CUBLAS_COMPUTE_64F;
    const auto scale = [&](const void* value) {
      return wide ? value_of<double>(value, sizeof(double)) : value_of<float>(value, sizeof(float));
    };
    require(scale(alpha) == 1 && scale(beta) == 0, "the mock does only plain products");
    const mock_cuda::ProductWork work = {how.compute,
                                         how.transposed_a,
                                         how.transposed_b,
                                         s.things.layouts.at(a_layout),
                                         s.things.layouts.at(b_layout),
                                         s.things.layouts.at(d_layout),
                                         number_of(d),
                                         number_of(a),
                                         number_of(b),
                                         device};
    require(work.a.type == work.b.type && wide == (work.a.type == CUDA_R_64F),
            "types that are not multiplied so");
    const int64_t depth = work.transposed_b ? work.b.columns : work.b.rows;
    require((work.transposed_a ? work.a.columns : work.a.rows) == work.d.rows &&
                (work.transposed_b ? work.b.rows : work.b.columns) == work.d.columns &&
                depth == work.depth() && work.a.batch == work.d.batch &&
                work.b.batch == work.d.batch,
            "matrices that do not fit");
    require(algorithm != nullptr && algorithm->data[kOperation] == number_of(operation) &&
                algorithm->data[kA] == number_of(a_layout) &&
                algorithm->data[kB] == number_of(b_layout) &&
                algorithm->data[kD] == number_of(d_layout),
            "an algorithm of another product");
    require(number_of(a) % algorithm->data[kAlignmentA] == 0 &&
                number_of(b) % algorithm->data[kAlignmentB] == 0 &&
                number_of(d) % algorithm->data[kAlignmentD] == 0,
            "an address that is aligned less than was said");
    for (const auto& [layout, address] :
         {std::pair(work.a, work.from_a), std::pair(work.b, work.from_b),
          std::pair(work.d, work.to)})
      s.memory.bytes(address, size_of(layout), device, CUDA_ERROR_ILLEGAL_ADDRESS);
    s.runner.give(to, work);
  });
}

}  // namespace orrery::cuda
