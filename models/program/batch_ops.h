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

/// This is a value of the batched program, with its shape.
struct ShapedValue {
  std::string value;
  Shape shape;
};

/// Makes attributes from pairs of a name and a value.
Attributes given(std::vector<std::pair<std::string, Attribute>> pairs);

Integers dims_of(const Shape& shape);

/// Returns which dimension of a batched value is dimension `dimension` of an element of the batch.
inline int64_t shifted(int64_t dimension, size_t batch) {
  return dimension + (static_cast<int64_t>(batch) <= dimension ? 1 : 0);
}

/// Inserts `own`, for the batch's dimension, into `numbers`, one per dimension of an element.
Integers with_own(Integers numbers, size_t batch, int64_t own);

/// Adds an op with one result.
std::string op(BatchCall& call, OpKind kind, std::vector<std::string> operands,
               Attributes attributes = {});

/// Returns one result, with the batch along `dimension`, or without it.
BatchOutcome result(std::string value, std::optional<size_t> dimension);

/// Adds the op itself, on the operands as they are. Its result has the batch along this dimension.
BatchOutcome same_op(BatchCall& call, Attributes attributes, std::optional<size_t> dimension);

/// Returns the operand as it is.
ShapedValue operand(BatchCall& call, size_t operand);
/// Returns the operand with the batch along `dimension`. The batch is moved there, or the operand
/// is repeated if it is not batched.
ShapedValue batched_at(BatchCall& call, size_t operand, size_t dimension);
/// Does the same for any value whose elements have `shape`.
ShapedValue batched_at(BatchCall& call, const Batched& value, const Shape& shape, size_t dimension);

/// Returns the part in another shape. Adds no op if it has that shape already.
ShapedValue reshaped(BatchCall& call, ShapedValue part, Shape shape);
/// Makes dimension permutation[d] of the part dimension d of the result. This is a reshape if only
/// dimensions of extent 1 change places.
ShapedValue transposed(BatchCall& call, ShapedValue part, const Integers& permutation);
ShapedValue moved(BatchCall& call, ShapedValue part, size_t from, size_t to);
/// Makes `count` copies along a new dimension.
ShapedValue repeated(BatchCall& call, ShapedValue part, size_t dimension, int64_t count);
/// Returns the entries [begin, end) along `dimension`.
ShapedValue cut(BatchCall& call, const ShapedValue& part, size_t dimension, int64_t begin,
                int64_t end);
/// Puts the parts side by side along `dimension`.
ShapedValue joined(BatchCall& call, const std::vector<ShapedValue>& parts, size_t dimension);
/// Folds `dimension`. Requires a reduction as `kind`.
ShapedValue folded(BatchCall& call, OpKind kind, const ShapedValue& part, size_t dimension);

/// Makes a constant for an op whose other operand has the states of `type`. Along the axes along
/// which that is reduced or unreduced, the constant must be reduced, and is cast.
ShapedValue constant(BatchCall& call, Shape shape, Dtype dtype, double value,
                     const ValueType& type);
/// Makes zeros with the reduced and unreduced states of `type`.
ShapedValue zeros(BatchCall& call, Shape shape, const ValueType& type);

/// Adds an op for each element by itself, with the results side by side along a new first
/// dimension. This is for an op that cannot take a batch of one of its operands.
BatchOutcome one_by_one(BatchCall& call);

// The rest of the file is about the axes of an op.

/// OpAxes has the axes of axis_name without the batched one, whose place the batch takes.
struct OpAxes {
  std::vector<std::string> names;  // in order
  bool batched = false;            // whether the batched one was among them
  int64_t before = 1;              // product of the sizes of those before it
  int64_t after = 1;               // of those after it; of all, if it is not among them
  int64_t others() const { return before * after; }
};
OpAxes axes_of(const BatchCall& call);

/// Returns the op's attributes over `axes`. For another kind, it returns only those that it has
/// too.
Attributes over(const BatchCall& call, const OpAxes& axes);
Attributes over(const BatchCall& call, const OpAxes& axes, OpKind kind);

}  // namespace orrery::batching
