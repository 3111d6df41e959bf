#pragma once

// Batch rules share these ops, which arrange a batch and whose shapes the rules know.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/array/shape.h"
#include "models/program/batch.h"

namespace orrery::batching {

using Integers = std::vector<int64_t>;

/// A value of the batched program, with its shape.
struct Part {
  std::string value;
  Shape shape;
};

/// Attributes from pairs of a name and a value.
Attributes given(std::vector<std::pair<std::string, Attribute>> pairs);

Integers dims_of(const Shape& shape);

/// Dimension `dimension` of an element of the batch, in the batch.
inline int64_t shifted(int64_t dimension, size_t batch) {
  return dimension + (static_cast<int64_t>(batch) <= dimension ? 1 : 0);
}

/// `numbers`, one per dimension of an element, with `own` for that of the batch.
Integers with_own(Integers numbers, size_t batch, int64_t own);

/// An op with one result.
std::string op(BatchCall& call, OpKind kind, std::vector<std::string> operands,
               Attributes attributes = {});

/// One result, with the batch along `dimension`, or without it.
BatchOutcome result(std::string value, std::optional<size_t> dimension);

/// The op itself, on the operands as they are. Its result has the batch along this dimension.
BatchOutcome same_op(BatchCall& call, Attributes attributes, std::optional<size_t> dimension);

/// The operand as it is.
Part operand(BatchCall& call, size_t operand);
/// The operand with the batch along `dimension`: moved there, or repeated if it is not batched.
Part batched_at(BatchCall& call, size_t operand, size_t dimension);
/// The same for any value whose elements have `shape`.
Part batched_at(BatchCall& call, const Batched& value, const Shape& shape, size_t dimension);

/// Under another shape. Nothing is added where it has that.
Part reshaped(BatchCall& call, Part part, Shape shape);
/// Dimension d of the result is dimension permutation[d]. Where only dimensions of extent 1 change
/// places this is a reshape.
Part transposed(BatchCall& call, Part part, const Integers& permutation);
Part moved(BatchCall& call, Part part, size_t from, size_t to);
/// `count` copies along a new dimension.
Part repeated(BatchCall& call, Part part, size_t dimension, int64_t count);
/// The entries [begin, end) along `dimension`.
Part cut(BatchCall& call, const Part& part, size_t dimension, int64_t begin, int64_t end);
/// Side by side along `dimension`.
Part joined(BatchCall& call, const std::vector<Part>& parts, size_t dimension);
/// Folds `dimension`; `kind` is a reduction.
Part folded(BatchCall& call, OpKind kind, const Part& part, size_t dimension);

/// A constant for an op whose other operand has the states of `type`. Where that is reduced or
/// unreduced along an axis, the constant must be reduced there, and is cast.
Part constant(BatchCall& call, Shape shape, Dtype dtype, double value, const ValueType& type);
/// Zeros of the states of `type`: addends where it is unreduced, reduced copies where it is
/// reduced.
Part zeros(BatchCall& call, Shape shape, const ValueType& type);

/// An op for each element by itself, with the results side by side along a new first dimension. For
/// an op that cannot take a batch of one of its operands.
BatchOutcome one_by_one(BatchCall& call);

// The axes of an op.

/// The axes of axis_name without the batched one, whose place the batch takes.
struct OpAxes {
  std::vector<std::string> names;  // in order
  bool batched = false;            // whether the batched one was among them
  int64_t before = 1;              // product of the sizes of those before it
  int64_t after = 1;               // of those after it; of all, if it is not among them
  int64_t others() const { return before * after; }
};
OpAxes axes_of(const BatchCall& call);

/// The op's attributes over `axes`; for another kind of op, only those that it has too.
Attributes over(const BatchCall& call, const OpAxes& axes);
Attributes over(const BatchCall& call, const OpAxes& axes, OpKind kind);

}  // namespace orrery::batching
