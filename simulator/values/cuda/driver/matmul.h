#pragma once

// A Matmul is a product of matrices by cuBLASLt.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "simulator/values/cuda/driver/driver.h"
#include "simulator/values/cuda/driver/entry_point.h"
#include "simulator/values/cuda/driver/gpu.h"
#include "simulator/values/cuda/driver/stream.h"

namespace orrery::cuda {

/// A CublasLtHandle is cuBLASLt on one GPU.
class CublasLtHandle {
 public:
  /// The library and the GPU must outlive it. Throws CudaError and CublasLtError.
  CublasLtHandle(const CublasLt& library, const Gpu& gpu);

  const CublasLt& library() const { return library_; }
  const Gpu& gpu() const { return gpu_; }
  cublasLtHandle_t get() const { return handle_.get(); }

 private:
  const CublasLt& library_;
  const Gpu& gpu_;
  Owned<cublasLtHandle_t, cublasStatus_t> handle_;
};

/// A MatmulOperand is an operand X, stored column by column. op(X) is X, or X transposed.
struct MatmulOperand {
  bool transposed = false;
  int64_t leading = 0;       // elements from one column of X to the next
  int64_t batch_stride = 0;  // elements from one product's X to the next one's
  uint32_t alignment = 0;    // bytes, of the address of the first X
  friend auto operator<=>(const MatmulOperand&, const MatmulOperand&) = default;
};

/// A MatmulShape is D = op(A) op(B), `batch` times. D is m x n, and a sum has k products. Each D
/// lies column by column without gaps, and one D after another.
struct MatmulShape {
  cudaDataType_t operands{};
  cudaDataType_t result{};
  cublasComputeType_t compute{};
  int64_t batch = 0;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  MatmulOperand a;
  MatmulOperand b;
  uint32_t result_alignment = 0;  // bytes, of the address of the first D
  friend auto operator<=>(const MatmulShape&, const MatmulShape&) = default;
};

/// A Matmul is a product with the algorithm that cuBLASLt takes for it. The algorithm needs no
/// memory of its own. Parts of a sum are added in the compute type.
class Matmul {
 public:
  /// Returns nothing if cuBLASLt has no such algorithm. Throws CudaError and CublasLtError.
  static std::optional<Matmul> find(const CublasLtHandle& handle, const MatmulShape& shape);

  /// Gives the product to a stream of the same GPU. Throws CudaError and CublasLtError.
  void give(const Stream& stream, CUdeviceptr d, CUdeviceptr a, CUdeviceptr b) const;

 private:
  using Layout = Owned<cublasLtMatrixLayout_t, cublasStatus_t>;

  Matmul(const CublasLtHandle& handle, const MatmulShape& shape);
  Layout layout(cudaDataType_t type, int64_t rows, int64_t columns, int64_t leading,
                int64_t batch_stride) const;
  bool find_algorithm();
  std::string purpose() const;

  const CublasLtHandle* handle_;
  MatmulShape shape_;
  Owned<cublasLtMatmulDesc_t, cublasStatus_t> operation_;
  Layout a_;
  Layout b_;
  Layout d_;
  cublasLtMatmulAlgo_t algorithm_{};
};

}  // namespace orrery::cuda
