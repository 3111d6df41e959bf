#pragma once

// FastProducts has the dot_general ops of a program that cuBLASLt does, with its algorithm for
// each. cuBLASLt adds the products of a sum in any order, so values may differ from the host
// executor's.
//
// A dot_general can be a product of matrices for cuBLASLt. In each operand, the batch, the free and
// the contracting dimensions must each lie as one dimension would. The three groups may come in any
// order. The free or the contracting group must have its elements side by side. Nothing is
// transposed or copied for cuBLASLt.

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "models/base/quantity.h"
#include "models/program/program.h"
#include "simulator/values/cuda/driver/gpu.h"
#include "simulator/values/cuda/driver/graph.h"
#include "simulator/values/cuda/driver/matmul.h"
#include "simulator/values/cuda/driver/stream.h"
#include "simulator/values/cuda/work_graph.h"

namespace orrery::cuda {

/// A NoProduct says why a dot_general is no product for cuBLASLt, as a label says it: "s32", "its
/// contracting dimensions are not in a row".
struct NoProduct {
  std::string why;
};

/// Returns the product for cuBLASLt, or why there is none. Requires a dot_general. Buffers lie at
/// multiples of `alignment`. Products of f16 and bf16 are summed in f32, others in their own dtype,
/// as dot_sum_dtype() has it.
std::variant<MatrixProduct, NoProduct> matrix_product(const Program& program, const Op& op,
                                                      Bytes alignment);

class FastProducts {
 public:
  /// The library and the GPUs must outlive it. The program's buffers lie at multiples of
  /// `alignment`. Throws CudaError and CublasLtError.
  FastProducts(const CublasLt& library, const Gpus& gpus, const Program& program, Bytes alignment);

  const std::map<OpId, MatrixProduct>& by_op() const { return by_op_; }
  DotFacts facts() const;

  /// Returns the graph that does the product on a GPU. Throws CudaError and CublasLtError.
  Graph graph_of(const Product& work, size_t gpu) const;

 private:
  struct OnGpu {
    CublasLtHandle handle;
    Stream stream;  // that is captured
    std::map<MatrixProduct, Matmul> found;
  };

  /// Finds an algorithm for each GPU. Returns whether each has one.
  bool find(const MatrixProduct& product);

  std::vector<OnGpu> gpus_;
  std::map<OpId, MatrixProduct> by_op_;
  std::map<std::string, uint32_t> in_order_;
};

}  // namespace orrery::cuda
