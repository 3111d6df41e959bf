#pragma once

// This file has the local ops on whole arrays. The host executor and the definitions share this one
// implementation. The rules of rounding, wrapping and NaN are in arith.h. Callers have checked the
// operands, so a failed check here is a bug.

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

// The elementwise ops. element_ops.h says which function of elements each applies.

Tensor elementwise(Unary op, const Tensor& operand);

// These require operands of one dtype, and of one shape unless one is a scalar.
Tensor elementwise(Binary op, const Tensor& left, const Tensor& right);
Tensor elementwise(Comparison op, const Tensor& left, const Tensor& right);

// These return the parts of complex numbers, as floats.
Tensor real(const Tensor& operand);
Tensor imag(const Tensor& operand);
/// Returns the complex numbers with these parts. Requires parts of one dtype, f32 or f64, and of
/// one shape unless one is a scalar.
Tensor complex(const Tensor& real, const Tensor& imag);
/// Returns the complex conjugate. f32 and f64 become complex, with an imaginary part of +0.
Tensor conj(const Tensor& operand);

using Elementwise = std::variant<Unary, Binary, Comparison>;
/// Requires as many operands as the op takes. With XlaCpu subnormals are flushed, except by Neg.
Tensor elementwise(const Elementwise& op, std::span<const Tensor* const> operands,
                   Numerics numerics = Numerics::Ieee);

/// Takes each element from cases[which], with `which` clamped to the cases (false is 0, true is 1).
/// Requires a `which` of pred or s32, and cases of one dtype. All have one shape, or are scalars.
Tensor select_n(const Tensor& which, std::span<const Tensor* const> cases);

/// Sets target[i] = left[i] op right[i] for `count` elements. `target` may be `left`, `right` or
/// both, but must not overlap either in part. Requires a reduction that the dtype has: pred has no
/// Add, complex dtypes have Add only.
void combine_into(Dtype dtype, Combine combine, std::byte* target, const std::byte* left,
                  const std::byte* right, int64_t count);

/// Returns the elements converted to another dtype.
Tensor convert(const Tensor& operand, Dtype dtype, Numerics numerics = Numerics::Ieee);

/// Returns whether a conversion with XlaCpu computes, and so flushes. The conversion of bf16 to f32
/// or pred only looks at bits.
bool conversion_flushes(Dtype from, Dtype to);

/// Returns the elements as ops of these numerics take them: with XlaCpu subnormals are flushed.
Tensor taken(Tensor operand, Numerics numerics);

Tensor reshape(const Tensor& operand, Shape shape);

/// Dimension d of the result is dimension permutation[d] of the operand.
Tensor transpose(const Tensor& operand, std::span<const int64_t> permutation);

/// Each list has an entry per dimension, with 0 <= start <= limit <= extent. Strides default to 1.
struct SliceBounds {
  std::vector<int64_t> start;
  std::vector<int64_t> limit;
  std::vector<int64_t> strides;
};
Tensor slice(const Tensor& operand, const SliceBounds& bounds);

/// A DimensionPadding adds `interior` elements between neighbours, then `low` before the first and
/// `high` after the last. A negative low or high removes that many elements from its end, after
/// interior padding.
struct DimensionPadding {
  int64_t low = 0;
  int64_t high = 0;
  int64_t interior = 0;  // not negative
};
/// Returns the padded extent. It is negative if more is removed than there is. Throws Overflow.
int64_t padded_extent(int64_t extent, const DimensionPadding& padding);
/// Pads with `value`, a scalar. Requires one entry per dimension.
Tensor pad(const Tensor& operand, const Tensor& value, std::span<const DimensionPadding> padding);

/// Dimension d of the operand becomes dimension dimensions[d] of the result, repeated if its extent
/// is 1. The other dimensions of the result repeat the whole operand.
Tensor broadcast_in_dim(const Tensor& operand, Shape shape, std::span<const int64_t> dimensions);

/// A SequenceOrder says how a dimension is reordered for attention over `cp_size` ranks. The
/// dimension is 2 * cp_size chunks of one size.
struct SequenceOrder {
  size_t dimension = 0;
  int64_t cp_size = 0;         // at least 1
  bool to_contiguous = false;  // the inverse
};
/// Makes chunk i the result's chunk 2i, and chunk 2 * cp_size - 1 - i its chunk 2i + 1. The inverse
/// puts them back. Requires an extent that 2 * cp_size divides.
Tensor reorder_sequence(const Tensor& operand, const SequenceOrder& order);

/// Returns the slice of shape `sizes` from `start` on. Each start is clamped to [0, extent - size].
Tensor dynamic_slice(const Tensor& operand, std::span<const int64_t> start, Shape sizes);

/// Returns the operand with the slice at `start`, clamped in the same way, replaced by `update`.
Tensor dynamic_update_slice(const Tensor& operand, const Tensor& update,
                            std::span<const int64_t> start);

/// Returns an integer element as an index, saturated to int64.
int64_t element_as_index(const Tensor& indices, int64_t element);

/// Returns row indices[i] of the operand along `axis`, for every i. The dimensions of `indices`
/// replace the axis in the result. If an index has no row, every element of that row is `fill`,
/// converted. Without `fill` it is NaN (floats; NaN + 0i for complex dtypes), the smallest number
/// (signed), the largest (unsigned) or true (pred). Clip requires rows.
Tensor take(const Tensor& operand, const Tensor& indices, size_t axis, OutOfRange mode,
            std::optional<NumberOrPair> fill = std::nullopt);

/// Returns the operand with row i of the updates added to its row indices[i] along `axis`, in the
/// order of i. The updates have the shape that take() gives. Updates without a row are dropped.
/// Requires a dtype of numbers; Clip requires rows.
Tensor scatter_add(Tensor operand, const Tensor& updates, const Tensor& indices, size_t axis,
                   OutOfRange mode, Numerics numerics = Numerics::Ieee);

/// Joins the parts along `dimension`. Requires at least one part. All have one dtype, and one shape
/// but for the extent of `dimension`.
Tensor concatenate(const std::vector<std::reference_wrapper<const Tensor>>& parts,
                   size_t dimension);

/// Reduces the operand along `axes` (each once, in any order), which the result does not have. Each
/// result starts at the identity (+0; for Max the least value of the dtype, -infinity if it has
/// one; for Min the largest) and combines with its elements in row-major order. Sums are rounded to
/// reduced_sum_dtype() at each step, and to the operand's dtype at the end. Integers wrap. For
/// pred, Max is `or`, Min is `and`, and there is no Add. Complex dtypes have Add only. With XlaCpu
/// operands and results are flushed.
Tensor reduce(const Tensor& operand, Combine combine, std::span<const int64_t> axes,
              Numerics numerics = Numerics::Ieee);

/// Returns the dtype of the sums in reduce(): f32 for floats narrower than that, else `dtype`.
Dtype reduced_sum_dtype(Dtype dtype);

/// DotDimensions has the contracting and batch dimensions of the operands, paired by position.
struct DotDimensions {
  std::vector<int64_t> lhs_contracting;
  std::vector<int64_t> rhs_contracting;
  std::vector<int64_t> lhs_batch;
  std::vector<int64_t> rhs_batch;
};

/// Returns sums of products. The result's dimensions are batch, then free of lhs, then free of rhs,
/// as in jax.lax.dot_general. Each element starts at +0 and adds its products in ascending order of
/// the contracting index, row-major over the contracting dimensions as listed. Products and sums
/// are rounded to dot_sum_dtype(), the end result to `preferred`, by the rules of arith.h. Integers
/// wrap in `preferred`. If all are pred, the sum is `or` and the product `and`.
Tensor dot_general(const Tensor& lhs, const Tensor& rhs, const DotDimensions& dimensions,
                   Dtype preferred);

/// Returns the dtype of the products and sums in dot_general. If one of the three is complex, it is
/// c128 if one is c128, else c64. If none is complex, it is f64 if one is f64, else f32 if one is a
/// float. Integers and pred are summed in u32, or in u64 if one of the three has 64 bits.
Dtype dot_sum_dtype(Dtype lhs, Dtype rhs, Dtype preferred);

/// Returns whether an element of the dtype may be given as `value`. A float rounds `value`, but
/// must not round it to an infinity or to 0. An integer must have it exactly. Both parts of a
/// complex number are such floats. Other dtypes take no pairs.
bool has_number(Dtype dtype, const NumberOrPair& value);
/// Returns whether the dtype has the number itself, so that nothing is rounded. Requires a finite
/// one.
bool has_exactly(Dtype dtype, double value);

/// Makes every element `value`, converted. Requires a complex dtype if `value` is a pair.
Tensor full(Dtype dtype, Shape shape, const NumberOrPair& value);

/// Returns 0, 1, 2, ... in row-major order, each converted.
Tensor iota(Dtype dtype, Shape shape);

/// Returns an array whose elements are their own index along the dimension, converted.
Tensor iota(Dtype dtype, Shape shape, size_t dimension);

/// IntegerBounds bound small integers, whose sums over groups of moderate size are exact in every
/// dtype. They are -4..4, 0..8 for unsigned dtypes, 0..1 for pred, and -1..1 for floats of 8 bits
/// (f8e5m2 holds integers up to 8, f8e4m3fn up to 16). For complex dtypes they bound each part.
struct IntegerBounds {
  int64_t low;
  int64_t high;
};
IntegerBounds small_integers(Dtype dtype);

}  // namespace orrery
