#pragma once

// Which dot_general is a product of matrices as cuBLASLt does them.
//
// It is where each operand's batch, free and contracting dimensions are three even rows of
// elements: each group like one dimension, in any order. One of the last two must have its elements
// side by side. Nothing is transposed or copied for it.

#include <compare>
#include <cstdint>
#include <string>
#include <variant>

#include "models/array/dtype.h"
#include "models/base/quantity.h"
#include "models/program/program.h"

namespace orrery::cuda {

/// Where an operand's elements lie. Of its free and its contracting index, one counts elements side
/// by side.
struct MatrixOperand {
  bool contracting_inside = false;  // the contracting one does; else the free one
  int64_t leading = 0;              // elements between neighbours of the other index
  int64_t batch_stride = 0;         // elements between neighbours of the batch; 0 in a batch of 1
  int64_t alignment = 0;            // bytes, of the address: a power of 2, at most 256
  friend auto operator<=>(const MatrixOperand&, const MatrixOperand&) = default;
};

/// The result's elements lie row by row, one matrix after another.
struct MatrixProduct {
  Dtype operands{};
  Dtype result{};  // that of the operands, or f32
  int64_t batch = 0;
  int64_t rows = 0;     // free in the left operand
  int64_t columns = 0;  // free in the right one
  int64_t depth = 0;    // the products of a sum
  MatrixOperand lhs;
  MatrixOperand rhs;
  int64_t result_alignment = 0;
  friend auto operator<=>(const MatrixProduct&, const MatrixProduct&) = default;
};

/// Why an op is none, as a label says it: "s32", "its contracting dimensions are not in a row".
struct NoProduct {
  std::string why;
};

/// Of a dot_general; the buffers lie at multiples of `alignment`. Products of f16 and
/// bf16 are summed in f32, of others in their own dtype, as dot_sum_dtype() has it.
std::variant<MatrixProduct, NoProduct> matrix_product(const Program& program, const Op& op,
                                                      Bytes alignment);

}  // namespace orrery::cuda
