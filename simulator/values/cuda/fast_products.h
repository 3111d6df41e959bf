#pragma once

// The dot_general ops of a program that cuBLASLt does, with its algorithm for each. Its sums add in
// any order, so that their values are not those of the host executor bit for bit.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/program/program.h"
#include "simulator/values/cuda/driver/gpus.h"
#include "simulator/values/cuda/driver/graph.h"
#include "simulator/values/cuda/driver/matmul.h"
#include "simulator/values/cuda/driver/stream.h"
#include "simulator/values/cuda/matrix_product.h"
#include "simulator/values/cuda/work_graph.h"

namespace orrery::cuda {

/// Which dot_general ops cuBLASLt does.
struct DotFacts {
  std::vector<OpId> by_cublaslt;
  std::map<std::string, uint32_t> in_order;  // why others are not, and how many ops
};

class FastProducts {
 public:
  /// The library and the GPUs outlive it. `alignment`: of the program's buffers. Throws CudaError
  /// and CublasLtError.
  FastProducts(const CublasLt& library, const Gpus& gpus, const Program& program, Bytes alignment);

  const std::map<OpId, MatrixProduct>& by_op() const { return by_op_; }
  DotFacts facts() const;

  /// What does the product on a GPU. Throws CudaError and CublasLtError.
  Graph graph_of(const Product& work, size_t gpu) const;

 private:
  struct OnGpu {
    CublasLtHandle handle;
    Stream stream;  // that is captured
    std::map<MatrixProduct, Matmul> found;
  };

  /// Whether each GPU has an algorithm for it.
  bool find(const MatrixProduct& product);

  std::vector<OnGpu> gpus_;
  std::map<OpId, MatrixProduct> by_op_;
  std::map<std::string, uint32_t> in_order_;
};

}  // namespace orrery::cuda
