// This file has the batch rules of collectives that reduce or gather.
//
// If the batch takes the place of an axis of the collective, its entries are the values of the
// ranks along that axis. So they are folded or put side by side locally, and the rest is done by
// the same collective over the other axes. Ranks are counted over the axes before the batched one,
// then along it, then over the axes after it.

#include <algorithm>

#include "models/array/kernels.h"
#include "models/array/work.h"
#include "models/program/batch_ops.h"
#include "models/program/families.h"
#include "models/program/rules.h"

namespace orrery::batching {

namespace {

using enum OpKind;

std::string converted(BatchCall& call, const std::string& value, Dtype from, Dtype to) {
  return from == to ? value : op(call, ConvertElementType, {value}, given({{"new_dtype", to}}));
}

/// Returns the operand as the sum of a collective takes it: pred is counted.
Batched counted(BatchCall& call) {
  const Batched& operand = call.operand(0);
  const Dtype dtype = call.operand_type(0).dtype;
  return {converted(call, operand.value, dtype, summed_dtype(dtype)), operand.dimension};
}

/// Returns the sum of `count` copies of a value. It is a product if the dtype has the number.
ShapedValue times(BatchCall& call, const ShapedValue& part, Dtype dtype, int64_t count) {
  const auto factor = static_cast<double>(count);
  ValueType type = call.operand_type(0);
  type.dtype = dtype;
  if (has_exactly(dtype, factor))
    return {op(call, Mul, {part.value, constant(call, Shape(), dtype, factor, type).value}),
            part.shape};
  return folded(call, ReduceSum, repeated(call, part, 0, count), 0);
}

/// Returns the sum of the operand over the batch.
ShapedValue local_sum(BatchCall& call) {
  const Batched operand = counted(call);
  const Shape& shape = call.operand_type(0).shape;
  if (!operand.dimension)
    return times(call, {operand.value, shape}, summed_dtype(call.operand_type(0).dtype),
                 call.size());
  return folded(call, ReduceSum, {operand.value, shape.inserted(*operand.dimension, call.size())},
                *operand.dimension);
}

std::string over_others(BatchCall& call, OpKind kind, const std::string& value,
                        const OpAxes& axes) {
  return axes.names.empty() ? value : op(call, kind, {value}, over(call, axes, kind));
}

}  // namespace

BatchOutcome psum(BatchCall& call) {
  const OpAxes axes = axes_of(call);
  if (!axes.batched)
    return same_op(call, call.attributes(), call.operand(0).dimension);
  return result(over_others(call, call.kind(), local_sum(call).value, axes), std::nullopt);
}

BatchOutcome pmean(BatchCall& call) {
  const OpAxes axes = axes_of(call);
  if (!axes.batched)
    return same_op(call, call.attributes(), call.operand(0).dimension);
  std::string sum = over_others(call, Psum, local_sum(call).value, axes);
  const Dtype dtype = call.result_type().dtype;
  const int64_t ranks = call.size() * axes.others();
  const Dtype dividing = dividing_dtype(dtype, ranks);
  const ShapedValue divisor =
      constant(call, Shape(), dividing, static_cast<double>(ranks), call.result_type());
  sum = converted(call, sum, summed_dtype(call.operand_type(0).dtype), dtype);
  const std::string quotient =
      op(call, Div, {converted(call, sum, dtype, dividing), divisor.value});
  return result(converted(call, quotient, dividing, dtype), std::nullopt);
}

BatchOutcome extremum(BatchCall& call) {
  const OpAxes axes = axes_of(call);
  const std::optional<size_t> batch = call.operand(0).dimension;
  if (!axes.batched)
    return same_op(call, call.attributes(), batch);
  ShapedValue part = operand(call, 0);
  if (batch)
    part = folded(call, call.kind() == Pmax ? ReduceMax : ReduceMin, part, *batch);
  return result(over_others(call, call.kind(), part.value, axes), std::nullopt);
}

// Returns the lowest entry of the batch that has the extremum. A NaN is not equal to itself. So if
// any entry is NaN, no entry has the extremum, and the answer is 2147483647, as for pargmax.
BatchOutcome extremal_rank(BatchCall& call) {
  const std::optional<size_t> batch = call.operand(0).dimension;
  if (!axes_of(call).batched)
    return same_op(call, call.attributes(), batch);
  const ShapedValue part = operand(call, 0);
  const auto s32 = [&](double value) {
    return constant(call, Shape(), Dtype::S32, value, call.result_type());
  };
  constexpr double kNone = 2147483647;
  if (!batch)
    return result(
        op(call, SelectN, {op(call, Eq, {part.value, part.value}), s32(kNone).value, s32(0).value}),
        std::nullopt);
  const bool most = call.kind() == Pargmax;
  const ShapedValue extremum = folded(call, most ? ReduceMax : ReduceMin, part, *batch);
  const ShapedValue wide = repeated(call, extremum, *batch, call.size());
  const ShapedValue places = {op(call, Iota, {},
                                 given({{"shape", dims_of(part.shape)},
                                        {"dtype", Dtype::S32},
                                        {"dimension", static_cast<int64_t>(*batch)}})),
                              part.shape};
  const ShapedValue found = {
      op(call, SelectN, {op(call, Eq, {part.value, wide.value}), s32(kNone).value, places.value}),
      part.shape};
  return result(folded(call, ReduceMin, found, *batch).value, std::nullopt);
}

namespace {

/// Returns a non-negative dimension of a result of this rank.
int64_t from_front(int64_t dimension, size_t rank) {
  return dimension < 0 ? dimension + static_cast<int64_t>(rank) : dimension;
}

}  // namespace

BatchOutcome all_gather(BatchCall& call) {
  const OpAxes axes = axes_of(call);
  const std::optional<size_t> batch = call.operand(0).dimension;
  if (over_no_axes(call.attributes()))
    return same_op(call, call.attributes(), batch);
  const bool tiled = call.attributes().boolean("tiled");
  const Shape& shape = call.operand_type(0).shape;
  const auto axis = static_cast<size_t>(
      from_front(call.attributes().integer("axis"), shape.rank() + (tiled ? 0 : 1)));
  if (!axes.batched) {
    Attributes attributes = call.attributes();
    attributes.set("axis", shifted(static_cast<int64_t>(axis), *batch));
    return same_op(call, std::move(attributes), tiled || *batch <= axis ? *batch : *batch + 1);
  }
  // Without other axes the batch itself is stacked along `axis`. With other axes their ranks are
  // gathered first: [before, after, here, ...]. Then `here` goes between the two, and all three
  // become one dimension of all ranks, in their order.
  ShapedValue part = batched_at(call, 0, axes.names.empty() ? axis : 0);
  if (!axes.names.empty()) {
    Attributes attributes = over(call, axes);
    attributes.set("axis", int64_t{0});
    attributes.set("tiled", false);
    Integers dims = dims_of(part.shape);
    dims.insert(dims.begin(), {axes.before, axes.after});
    part = {op(call, call.kind(), {part.value}, std::move(attributes)),
            part.shape.inserted(0, axes.others())};
    part = reshaped(call, std::move(part), Shape(std::move(dims)));
    part = moved(call, std::move(part), 2, 1);
    part = reshaped(call, std::move(part), shape.inserted(0, call.size() * axes.others()));
    part = moved(call, std::move(part), 0, axis);
  }
  if (tiled)
    part = reshaped(call, std::move(part), call.result_type().shape);
  return result(part.value, std::nullopt);
}

BatchOutcome psum_scatter(BatchCall& call) {
  const OpAxes axes = axes_of(call);
  const std::optional<size_t> batch = call.operand(0).dimension;
  if (over_no_axes(call.attributes()))
    return same_op(call, call.attributes(), batch);
  const bool tiled = call.attributes().boolean("tiled");
  const auto along = static_cast<size_t>(call.attributes().integer("scatter_dimension"));
  if (!axes.batched) {
    Attributes attributes = call.attributes();
    attributes.set("scatter_dimension", shifted(static_cast<int64_t>(along), *batch));
    return same_op(call, std::move(attributes), tiled || *batch <= along ? *batch : *batch - 1);
  }
  // The scattered dimension is split into a part for each rank: [before, here, after, ...]. `here`
  // goes first, since each entry of the batch keeps its part. The other two become one dimension,
  // which is scattered over the other axes.
  ShapedValue part = local_sum(call);
  const Shape& scattered = call.result_type().shape;
  Shape parts = part.shape.with(along, axes.after);
  if (tiled)
    parts = parts.inserted(along + 1, scattered[along]);
  parts = parts.inserted(along, call.size()).inserted(along, axes.before);
  part = reshaped(call, std::move(part), std::move(parts));
  part = moved(call, std::move(part), along + 1, along);
  const Shape own = scattered.inserted(along, call.size());
  part = reshaped(call, std::move(part),
                  axes.names.empty() ? own : own.inserted(along + 1, axes.others()));
  if (!axes.names.empty()) {
    Attributes attributes = over(call, axes);
    attributes.set("scatter_dimension", static_cast<int64_t>(along + 1));
    attributes.set("tiled", false);
    part = {op(call, call.kind(), {part.value}, std::move(attributes)), own};
  }
  return result(part.value, along);
}

}  // namespace orrery::batching
