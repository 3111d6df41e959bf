#include "simulator/values/cuda/driver/matmul.h"

#include <fmt/format.h>

namespace orrery::cuda {

namespace {

/// The factor of the sums (alpha), or of D's previous elements (beta), in each compute type.
struct Scales {
  double wide;
  float narrow;

  explicit Scales(double value) : wide(value), narrow(static_cast<float>(value)) {}
  const void* of(cublasComputeType_t compute) const {
    return compute == CUBLAS_COMPUTE_64F ? static_cast<const void*>(&wide) : &narrow;
  }
};

const void* pointer(CUdeviceptr address) {
  return reinterpret_cast<const void*>(static_cast<uintptr_t>(address));
}

}  // namespace

CublasLtHandle::CublasLtHandle(const CublasLt& library, const Gpu& gpu)
    : library_(library), gpu_(gpu) {
  gpu.make_current();
  cublasLtHandle_t handle = nullptr;
  library.cublasLtCreate.must([&] { return fmt::format("GPU {}", gpu.info().device); }, &handle);
  handle_ = Owned<cublasLtHandle_t, cublasStatus_t>(library.cublasLtDestroy, handle);
}

Matmul::Matmul(const CublasLtHandle& handle, const MatmulShape& shape)
    : handle_(&handle), shape_(shape) {
  const CublasLt& library = handle.library();
  const auto what = [&] { return purpose(); };
  cublasLtMatmulDesc_t operation = nullptr;
  library.cublasLtMatmulDescCreate.must(
      what, &operation, shape.compute,
      shape.compute == CUBLAS_COMPUTE_64F ? CUDA_R_64F : CUDA_R_32F);
  operation_ =
      Owned<cublasLtMatmulDesc_t, cublasStatus_t>(library.cublasLtMatmulDescDestroy, operation);
  const auto transpose = [&](cublasLtMatmulDescAttributes_t which, bool transposed) {
    const cublasOperation_t value = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    library.cublasLtMatmulDescSetAttribute.must(what, operation, which, &value, sizeof(value));
  };
  const MatmulOperand& a = shape.a;
  const MatmulOperand& b = shape.b;
  transpose(CUBLASLT_MATMUL_DESC_TRANSA, a.transposed);
  transpose(CUBLASLT_MATMUL_DESC_TRANSB, b.transposed);
  a_ = layout(shape.operands, a.transposed ? shape.k : shape.m, a.transposed ? shape.m : shape.k,
              a.leading, a.batch_stride);
  b_ = layout(shape.operands, b.transposed ? shape.n : shape.k, b.transposed ? shape.k : shape.n,
              b.leading, b.batch_stride);
  d_ = layout(shape.result, shape.m, shape.n, shape.m, shape.m * shape.n);
}

Matmul::Layout Matmul::layout(cudaDataType_t type, int64_t rows, int64_t columns, int64_t leading,
                              int64_t batch_stride) const {
  const CublasLt& library = handle_->library();
  const auto what = [&] { return purpose(); };
  cublasLtMatrixLayout_t layout = nullptr;
  library.cublasLtMatrixLayoutCreate.must(what, &layout, type, static_cast<uint64_t>(rows),
                                          static_cast<uint64_t>(columns), leading);
  Layout owned(library.cublasLtMatrixLayoutDestroy, layout);
  const auto batch = static_cast<int32_t>(shape_.batch);
  library.cublasLtMatrixLayoutSetAttribute.must(what, layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                &batch, sizeof(batch));
  library.cublasLtMatrixLayoutSetAttribute.must(what, layout,
                                                CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                &batch_stride, sizeof(batch_stride));
  return owned;
}

bool Matmul::find_algorithm() {
  const CublasLt& library = handle_->library();
  const auto what = [&] { return purpose(); };
  handle_->gpu().make_current();
  cublasLtMatmulPreference_t preference = nullptr;
  library.cublasLtMatmulPreferenceCreate.must(what, &preference);
  const Owned<cublasLtMatmulPreference_t, cublasStatus_t> owned(
      library.cublasLtMatmulPreferenceDestroy, preference);
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t which, auto value) {
    library.cublasLtMatmulPreferenceSetAttribute.must(what, preference, which, &value,
                                                      sizeof(value));
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{0});
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, shape_.a.alignment);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, shape_.b.alignment);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, shape_.result_alignment);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, shape_.result_alignment);
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  const cublasStatus_t code =
      library.cublasLtMatmulAlgoGetHeuristic(handle_->get(), operation_.get(), a_.get(), b_.get(),
                                             d_.get(), d_.get(), preference, 1, &found, &count);
  if (code != CUBLAS_STATUS_SUCCESS && code != CUBLAS_STATUS_NOT_SUPPORTED)
    throw CublasLtError(library.cublasLtMatmulAlgoGetHeuristic.name(), code, purpose());
  algorithm_ = found.algo;
  return code == CUBLAS_STATUS_SUCCESS && count == 1 && found.state == CUBLAS_STATUS_SUCCESS;
}

std::optional<Matmul> Matmul::find(const CublasLtHandle& handle, const MatmulShape& shape) {
  Matmul matmul(handle, shape);
  if (!matmul.find_algorithm())
    return std::nullopt;
  return matmul;
}

void Matmul::give(const Stream& stream, CUdeviceptr d, CUdeviceptr a, CUdeviceptr b) const {
  static const Scales kOne(1);
  static const Scales kZero(0);
  stream.gpu().make_current();
  void* const to = const_cast<void*>(pointer(d));
  handle_->library().cublasLtMatmul.must(
      [&] { return purpose(); }, handle_->get(), operation_.get(), kOne.of(shape_.compute),
      pointer(a), a_.get(), pointer(b), b_.get(), kZero.of(shape_.compute), to, d_.get(), to,
      d_.get(), &algorithm_, nullptr, 0, stream.get());
}

std::string Matmul::purpose() const {
  return fmt::format("{} product{}, {} x {} by {} x {}", shape_.batch, shape_.batch == 1 ? "" : "s",
                     shape_.n, shape_.k, shape_.k, shape_.m);
}

}  // namespace orrery::cuda
