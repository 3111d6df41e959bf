#include "simulator/values/cuda/fast_products.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "models/array/kernels.h"
#include "models/array/strided_move.h"
#include "models/base/check.h"
#include "models/program/local_parameters.h"

namespace orrery::cuda {

namespace {

/// cuBLASLt need not be told a larger alignment: better aligned operands are treated alike.
constexpr int64_t kMostAlignment = 256;

/// A Row is several dimensions as one: `extent` elements that lie `stride` elements apart.
struct Row {
  int64_t extent = 1;
  int64_t stride = 0;  // 0: of one element
};

/// Joins the dimensions, in that order, if they lie evenly in a row-major array.
std::optional<Row> row_of(const Shape& shape, std::span<const int64_t> dimensions) {
  const std::vector<int64_t> strides = strides_of(shape);
  Row row;
  for (const int64_t dimension : dimensions) {
    const auto d = static_cast<size_t>(dimension);
    if (shape[d] == 1)
      continue;
    if (row.extent > 1 && row.stride != shape[d] * strides[d])
      return std::nullopt;
    row = {row.extent * shape[d], strides[d]};
  }
  return row;
}

std::vector<int64_t> free_dimensions(const Shape& shape, const std::vector<int64_t>& batch,
                                     const std::vector<int64_t>& contracting) {
  std::vector<int64_t> free;
  for (int64_t d = 0; d < static_cast<int64_t>(shape.rank()); ++d)
    if (std::ranges::count(batch, d) + std::ranges::count(contracting, d) == 0)
      free.push_back(d);
  return free;
}

/// Sorts the pairs of contracting dimensions by those of the left operand: sums may add in any
/// order.
void sort_contracting(DotDimensions& of) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (size_t i = 0; i < of.lhs_contracting.size(); ++i)
    pairs.emplace_back(of.lhs_contracting[i], of.rhs_contracting[i]);
  std::ranges::sort(pairs);
  for (size_t i = 0; i < pairs.size(); ++i)
    std::tie(of.lhs_contracting[i], of.rhs_contracting[i]) = pairs[i];
}

struct Rows {
  Row batch;
  Row free;
  Row contracting;
};

std::variant<Rows, NoProduct> rows_of(const Shape& shape, const std::vector<int64_t>& batch,
                                      const std::vector<int64_t>& contracting) {
  const std::optional<Row> of_batch = row_of(shape, batch);
  if (!of_batch)
    return NoProduct{"its batch dimensions are not in a row"};
  const std::optional<Row> of_free = row_of(shape, free_dimensions(shape, batch, contracting));
  if (!of_free)
    return NoProduct{"its free dimensions are not in a row"};
  const std::optional<Row> of_contracting = row_of(shape, contracting);
  if (!of_contracting)
    return NoProduct{"its contracting dimensions are not in a row"};
  return Rows{*of_batch, *of_free, *of_contracting};
}

/// Returns nothing if neither index counts elements side by side.
std::optional<MatrixOperand> operand_of(const Rows& rows) {
  MatrixOperand operand;
  const auto set = [&](const Row& inside, const Row& other) {
    operand.leading = other.extent > 1 ? other.stride : inside.extent;
  };
  if (rows.contracting.extent == 1 || rows.contracting.stride == 1) {
    operand.contracting_inside = true;
    set(rows.contracting, rows.free);
  } else if (rows.free.extent == 1 || rows.free.stride == 1) {
    set(rows.free, rows.contracting);
  } else {
    return std::nullopt;
  }
  operand.batch_stride = rows.batch.stride;
  return operand;
}

/// Returns a power of 2, at most kMostAlignment, that divides the address of a value.
int64_t alignment_of(const Program& program, ValueId id, Bytes of_buffers) {
  const int64_t bits = kMostAlignment | of_buffers.count() | program.value(id).offset.count();
  return bits & -bits;
}

/// Returns why cuBLASLt does not sum these dtypes as dot_general does; nothing if it does. Both
/// operands have dtype `operands`.
std::optional<NoProduct> wrong_dtypes(Dtype operands, Dtype result) {
  const bool narrow = operands == Dtype::F16 || operands == Dtype::BF16;
  if (!narrow && operands != Dtype::F32 && operands != Dtype::F64)
    return NoProduct{std::string(name(operands))};
  if (result != operands && !(narrow && result == Dtype::F32))
    return NoProduct{fmt::format("{} from {}", name(result), name(operands))};
  return std::nullopt;
}

}  // namespace

std::variant<MatrixProduct, NoProduct> matrix_product(const Program& program, const Op& op,
                                                      Bytes alignment) {
  const ValueType& lhs = program.value(op.operands[0]).type;
  const ValueType& rhs = program.value(op.operands[1]).type;
  const ValueType& result = program.value(op.results[0]).type;
  if (auto wrong = wrong_dtypes(lhs.dtype, result.dtype))
    return std::move(*wrong);
  if (lhs.shape.elements() == 0 || rhs.shape.elements() == 0)
    return NoProduct{"no elements"};
  DotDimensions of = dot_dimensions(op.attributes);
  sort_contracting(of);
  const auto left = rows_of(lhs.shape, of.lhs_batch, of.lhs_contracting);
  if (const auto* no = std::get_if<NoProduct>(&left))
    return *no;
  const auto right = rows_of(rhs.shape, of.rhs_batch, of.rhs_contracting);
  if (const auto* no = std::get_if<NoProduct>(&right))
    return *no;
  const Rows& l = std::get<Rows>(left);
  const Rows& r = std::get<Rows>(right);
  const std::optional<MatrixOperand> left_operand = operand_of(l);
  const std::optional<MatrixOperand> right_operand = operand_of(r);
  if (!left_operand || !right_operand)
    return NoProduct{"its batch dimensions are the innermost"};
  MatrixProduct product{lhs.dtype,     result.dtype,   l.batch.extent,
                        l.free.extent, r.free.extent,  l.contracting.extent,
                        *left_operand, *right_operand, 0};
  const int64_t largest = std::max({product.batch, product.rows, product.columns, product.depth,
                                    product.lhs.leading, product.rhs.leading});
  if (largest > std::numeric_limits<int32_t>::max())
    return NoProduct{"a matrix of 2^31 rows or columns"};
  product.lhs.alignment = alignment_of(program, op.operands[0], alignment);
  product.rhs.alignment = alignment_of(program, op.operands[1], alignment);
  product.result_alignment = alignment_of(program, op.results[0], alignment);
  return product;
}

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

/// cuBLASLt has matrices column by column. Read that way, a row-major matrix becomes its transpose.
/// So cuBLASLt makes the transpose of our result: the product of both operands' transposes in the
/// other order. A is our right operand, and is transposed if its contracting index counts elements
/// side by side. B is our left operand, and is transposed if its contracting index does not.
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
