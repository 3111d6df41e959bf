#pragma once

// Local ops on whole arrays: one implementation, which the host executor and the oracle share. The
// rules of rounding, wrapping and NaN are in arith.h. Callers have checked the operands; a failed
// check here is a bug.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "models/array/combine.h"
#include "models/array/dtype.h"
#include "models/array/element_ops.h"
#include "models/array/rows.h"
#include "models/array/tensor.h"

namespace orrery {

// Elementwise ops. Which function of elements each is: element_ops.h.

Tensor elementwise(Unary op, const Tensor& operand);

// Operands of one dtype and one shape; a scalar goes with any.
Tensor elementwise(Binary op, const Tensor& left, const Tensor& right);
Tensor elementwise(Comparison op, const Tensor& left, const Tensor& right);

// The parts of a complex number, as floats.
Tensor real(const Tensor& operand);
Tensor imag(const Tensor& operand);
/// The complex number of two parts: f32 or f64, of one shape; a scalar goes with any.
Tensor complex(const Tensor& real, const Tensor& imag);
/// The complex conjugate, also of f32 and f64, whose imaginary part is +0.
Tensor conj(const Tensor& operand);

using Elementwise = std::variant<Unary, Binary, Comparison>;
/// Requires as many operands as the op takes. With XlaCpu subnormals are flushed, but Neg keeps
/// them.
Tensor elementwise(const Elementwise& op, std::span<const Tensor* const> operands,
                   Numerics numerics = Numerics::Ieee);

/// Element by element from cases[which], with `which` clamped to the cases (false is 0, true is 1).
/// `which` is of pred or s32; the cases are of one dtype. All have one shape, or are scalars.
Tensor select_n(const Tensor& which, std::span<const Tensor* const> cases);

/// target[i] = left[i] op right[i] for `count` elements. `target` may be `left`, `right` or both,
/// but must not overlap either in part. Requires a reduction that the dtype has: pred has no Add,
/// complex dtypes have Add only.
void combine_into(Dtype dtype, Combine combine, std::byte* target, const std::byte* left,
                  const std::byte* right, int64_t count);

/// The same elements under another dtype.
Tensor convert(const Tensor& operand, Dtype dtype, Numerics numerics = Numerics::Ieee);

/// Whether a conversion with XlaCpu computes, and so flushes. The conversion of bf16 to f32 or pred
/// only looks at bits.
bool conversion_flushes(Dtype from, Dtype to);

/// The elements as ops of these numerics take them: with XlaCpu subnormals are flushed.
Tensor taken(Tensor operand, Numerics numerics);

Tensor reshape(const Tensor& operand, Shape shape);

/// Dimension d of the result is dimension permutation[d] of the operand.
Tensor transpose(const Tensor& operand, std::span<const int64_t> permutation);

/// One entry per dimension, 0 <= start <= limit <= extent; no strides means all 1.
struct SliceBounds {
  std::vector<int64_t> start;
  std::vector<int64_t> limit;
  std::vector<int64_t> strides;
};
Tensor slice(const Tensor& operand, const SliceBounds& bounds);

/// `interior` elements between neighbours, then `low` before the first and `high` after the last. A
/// negative low or high removes that many elements from its end, after interior padding.
struct DimensionPadding {
  int64_t low = 0;
  int64_t high = 0;
  int64_t interior = 0;  // not negative
};
/// The extent of a padded dimension; negative where more is removed than there is. Throws Overflow.
int64_t padded_extent(int64_t extent, const DimensionPadding& padding);
/// The padding is `value`, a scalar. There is one entry per dimension.
Tensor pad(const Tensor& operand, const Tensor& value, std::span<const DimensionPadding> padding);

/// Dimension d of the operand is dimension dimensions[d] of the result, and where its extent is 1
/// it is repeated; the other dimensions of the result repeat the whole.
Tensor broadcast_in_dim(const Tensor& operand, Shape shape, std::span<const int64_t> dimensions);

/// The slice of shape `sizes` that begins at `start`, each clamped to 0 ... extent - size.
Tensor dynamic_slice(const Tensor& operand, std::span<const int64_t> start, Shape sizes);

/// The operand with that slice replaced by `update`.
Tensor dynamic_update_slice(const Tensor& operand, const Tensor& update,
                            std::span<const int64_t> start);

/// An integer element as an index, saturated to int64.
int64_t element_as_index(const Tensor& indices, int64_t element);

/// Row indices[i] of the operand along `axis`, for every i: the dimensions of `indices` stand in
/// the result where the axis was. If an index has no row, every element is `fill`, converted, or
/// without it NaN (floats; NaN + 0i of complex dtypes), the smallest number (signed), the largest
/// (unsigned), true (pred). Clip requires rows.
Tensor take(const Tensor& operand, const Tensor& indices, size_t axis, OutOfRange mode,
            std::optional<NumberOrPair> fill = std::nullopt);

/// The operand, with each row of the updates added to its row indices[i] along `axis`, in the order
/// of i. The updates have the shape that take gives. Updates without a row are dropped. Requires a
/// dtype of numbers; Clip requires rows.
Tensor scatter_add(Tensor operand, const Tensor& updates, const Tensor& indices, size_t axis,
                   OutOfRange mode, Numerics numerics = Numerics::Ieee);

/// Requires at least one part. All have one dtype, and one shape but for the extent of `dimension`.
Tensor concatenate(const std::vector<std::reference_wrapper<const Tensor>>& parts,
                   size_t dimension);

/// Reduces the operand along `axes` (each once, in any order), which the result does not have. Each
/// element starts at the identity (+0; for Max the least value of the dtype, -infinity if it has
/// one; for Min the largest) and combines with its elements in row-major order. Sums are rounded to
/// reduced_sum_dtype() at each step, and to the operand's dtype at the end; integers wrap. For
/// pred Max is `or`, Min is `and`, and there is no Add. Complex dtypes have Add only.
/// With XlaCpu operands and results are flushed.
Tensor reduce(const Tensor& operand, Combine combine, std::span<const int64_t> axes,
              Numerics numerics = Numerics::Ieee);

/// The dtype of the sums in reduce: f32 for floats narrower than that, else `dtype` itself.
Dtype reduced_sum_dtype(Dtype dtype);

/// Contracting and batch dimensions of the operands, paired by position.
struct DotDimensions {
  std::vector<int64_t> lhs_contracting;
  std::vector<int64_t> rhs_contracting;
  std::vector<int64_t> lhs_batch;
  std::vector<int64_t> rhs_batch;
};

/// Sums of products. The result's dimensions are batch, then free of lhs, then free of rhs, as
/// jax.lax.dot_general has them. Each element starts at +0 and adds its products in ascending order
/// of the contracting index, row-major over the contracting dimensions as listed. Products and sums
/// are rounded to dot_sum_dtype(), the end result to `preferred`, as arith.h has them. Integers
/// wrap in `preferred`. For pred operands and result the sum is `or`, the product `and`.
Tensor dot_general(const Tensor& lhs, const Tensor& rhs, const DotDimensions& dimensions,
                   Dtype preferred);

/// The dtype of the products and sums in dot_general: f64 if one of the three is f64, else f32 if
/// one is a float. Complex dtypes are summed in c128 if one of them is c128, else in c64. Integers
/// and pred are summed in u32, or in u64 if one of them has 64 bits.
Dtype dot_sum_dtype(Dtype lhs, Dtype rhs, Dtype preferred);

/// Whether an element of the dtype may be given as `value`. A float rounds `value`, but only to an
/// infinity or to 0 if `value` is one; an integer must have it exactly. Both parts of a complex
/// number are such floats, and other dtypes take no pairs.
bool has_number(Dtype dtype, const NumberOrPair& value);
/// Whether it has that number itself, so that nothing is rounded. Requires a finite one.
bool has_exactly(Dtype dtype, double value);

/// Every element is `value`, converted. Requires a complex dtype where it is a pair.
Tensor full(Dtype dtype, Shape shape, const NumberOrPair& value);

/// 0, 1, 2, ... in row-major order, each converted.
Tensor iota(Dtype dtype, Shape shape);

/// Each element is its own index along the dimension, converted.
Tensor iota(Dtype dtype, Shape shape, size_t dimension);

/// Small integers whose sums over groups of moderate size are exact in every dtype: -4..4, 0..8 for
/// unsigned dtypes, 0..1 for pred, and -1..1 for floats of 8 bits (f8e5m2 holds integers up to 8,
/// f8e4m3fn up to 16). For complex dtypes these are the bounds of a part.
struct IntegerBounds {
  int64_t low;
  int64_t high;
};
IntegerBounds small_integers(Dtype dtype);

}  // namespace orrery
