#include "simulator/values/cuda/fast_products.h"

#include <utility>
#include <variant>

#include "models/base/check.h"

namespace orrery::cuda {

namespace {

cudaDataType_t data_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::F16:
      return CUDA_R_16F;
    case Dtype::BF16:
      return CUDA_R_16BF;
    case Dtype::F32:
      return CUDA_R_32F;
    case Dtype::F64:
      return CUDA_R_64F;
    default:
      fail_check("a dtype of matrix_product()", "only these are multiplied", __FILE__, __LINE__);
  }
}

MatmulOperand operand_of(const MatrixOperand& operand, bool transposed) {
  return {transposed, operand.leading, operand.batch_stride,
          static_cast<uint32_t>(operand.alignment)};
}

/// cuBLASLt has matrices column by column: as such a row-major matrix is its transpose. So the
/// result is the transpose of ours, the product of both operands' transposes in the other order.
/// The right operand, columns by contracting index, is read as it lies where its columns are side
/// by side; the left one where its contracting index is.
MatmulShape matmul_of(const MatrixProduct& product) {
  MatmulShape shape;
  shape.operands = data_type(product.operands);
  shape.result = data_type(product.result);
  shape.compute = product.operands == Dtype::F64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
  shape.batch = product.batch;
  shape.m = product.columns;
  shape.n = product.rows;
  shape.k = product.depth;
  shape.a = operand_of(product.rhs, product.rhs.contracting_inside);
  shape.b = operand_of(product.lhs, !product.lhs.contracting_inside);
  shape.result_alignment = static_cast<uint32_t>(product.result_alignment);
  return shape;
}

}  // namespace

FastProducts::FastProducts(const CublasLt& library, const Gpus& gpus, const Program& program,
                           Bytes alignment) {
  gpus_.reserve(gpus.size());
  for (size_t g = 0; g < gpus.size(); ++g)
    gpus_.push_back({CublasLtHandle(library, gpus[g]), Stream(gpus[g]), {}});
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (op.kind != OpKind::DotGeneral)
      continue;
    const auto product = matrix_product(program, op, alignment);
    if (const auto* none = std::get_if<NoProduct>(&product))
      ++in_order_[none->why];
    else if (!find(std::get<MatrixProduct>(product)))
      ++in_order_["cuBLASLt has no algorithm without memory of its own"];
    else
      by_op_.emplace(OpId(i), std::get<MatrixProduct>(product));
  }
}

bool FastProducts::find(const MatrixProduct& product) {
  for (OnGpu& gpu : gpus_) {
    if (gpu.found.contains(product))
      continue;
    std::optional<Matmul> matmul = Matmul::find(gpu.handle, matmul_of(product));
    if (!matmul)
      return false;
    gpu.found.emplace(product, std::move(*matmul));
  }
  return true;
}

DotFacts FastProducts::facts() const {
  DotFacts facts;
  for (const auto& [op, product] : by_op_)
    facts.by_cublaslt.push_back(op);
  facts.in_order = in_order_;
  return facts;
}

Graph FastProducts::graph_of(const Product& work, size_t gpu) const {
  const OnGpu& on = gpus_[gpu];
  const Matmul& matmul = on.found.at(work.product);
  return Graph::captured(on.stream, [&] { matmul.give(on.stream, work.to, work.rhs, work.lhs); });
}

}  // namespace orrery::cuda
