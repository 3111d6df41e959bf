// This file has the local ops that move elements selected by integer operands: dynamic_slice and
// dynamic_update_slice, under jax.lax's names, take, under jax.numpy's, and scatter_add.

#include <algorithm>
#include <functional>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/array/kernels.h"
#include "models/program/families.h"
#include "models/program/local_parameters.h"

namespace orrery {

namespace {

using Need = Parameter::Need;

constexpr std::string_view kClip = "clip";
constexpr std::string_view kFill = "fill";

std::string text_of(const ValueType& type) {
  return fmt::format("{}{}", name(type.dtype), type.shape.text());
}

/// Returns the error in the start indices that follow the arrays among the operands of a dynamic
/// op. They must be an integer scalar for each dimension of the first array.
std::optional<TypeError> starts_error(const TypeContext& context, size_t arrays) {
  const Shape& whole = context.operands[0].shape;
  const std::span<const ValueType> starts = context.operands.subspan(arrays);
  if (starts.size() != whole.rank())
    return TypeError{"of", fmt::format("expected {} start indices after {}, one per dimension of "
                                       "{}, got {}",
                                       whole.rank(), arrays == 1 ? "the array" : "both arrays",
                                       whole.text(), starts.size())};
  for (const ValueType& start : starts)
    if (!is_integer(start.dtype) || start.shape.rank() != 0)
      return TypeError{
          "of", fmt::format("expected start indices that are integer scalars (s32[]), got {}",
                            text_of(start))};
  return std::nullopt;
}

TypeOutcome dynamic_slice(const TypeContext& context) {
  if (auto error = starts_error(context, 1))
    return *error;
  const ValueType& whole = context.operands[0];
  const std::vector<int64_t>& sizes = context.attributes.integers("slice_sizes");
  if (sizes.size() != whole.shape.rank())
    return TypeError{"slice_sizes",
                     fmt::format("expected {} numbers, one per dimension of {}, got [{}]",
                                 whole.shape.rank(), whole.shape.text(), fmt::join(sizes, ","))};
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] > whole.shape[d])
      return TypeError{"slice_sizes", fmt::format("expected at most {} in dimension {}, got {}",
                                                  whole.shape[d], d, sizes[d])};
  return typed(whole.dtype, Shape(sizes),
               indexed_states(context.mesh, context.operands.first(1), context.operands.subspan(1),
                              Linearity::Linear));
}

TypeOutcome dynamic_update_slice(const TypeContext& context) {
  if (auto error = starts_error(context, 2))
    return *error;
  const ValueType& whole = context.operands[0];
  const ValueType& update = context.operands[1];
  const auto& least = update.shape.dims();
  const auto& most = whole.shape.dims();
  if (update.dtype != whole.dtype ||
      !std::equal(least.begin(), least.end(), most.begin(), most.end(), std::less_equal<>()))
    return TypeError{"of", fmt::format("expected an update of the operand's dtype and rank, and in "
                                       "no dimension larger, got {} for {}",
                                       text_of(update), text_of(whole))};
  return typed(whole.dtype, whole.shape,
               indexed_states(context.mesh, context.operands.first(2), context.operands.subspan(2),
                              Linearity::Linear));
}

/// Returns the error in indices of the rows of `array` along the parameter "axis".
std::optional<TypeError> rows_error(const TypeContext& context, const ValueType& array,
                                    const ValueType& indices) {
  const int64_t axis = context.attributes.integer("axis");
  if (auto error = dimension_error("axis", axis, array.shape.rank()))
    return *error;
  if (!is_integer(indices.dtype))
    return TypeError{"of",
                     fmt::format("expected indices that are integers, got {}", text_of(indices))};
  if (out_of_range(context.attributes) == OutOfRange::Clip &&
      array.shape[static_cast<size_t>(axis)] == 0 && indices.shape.elements() > 0)
    return TypeError{"of",
                     fmt::format("expected rows along dimension {}, got {}", axis, text_of(array))};
  return std::nullopt;
}

/// Returns the shape of the rows of `array` along `axis` that the indices name.
Shape shape_of_rows(const Shape& array, const Shape& indices, int64_t axis) {
  std::vector<int64_t> dims(array.dims().begin(), array.dims().end());
  const auto at = dims.erase(dims.begin() + axis);
  dims.insert(at, indices.dims().begin(), indices.dims().end());
  return Shape(std::move(dims));
}

TypeOutcome take(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  const ValueType& indices = context.operands[1];
  if (auto error = rows_error(context, operand, indices))
    return *error;
  const bool clips = out_of_range(context.attributes) == OutOfRange::Clip;
  const std::optional<NumberOrPair> fill = fill_value(context.attributes);
  if (clips && fill)
    return TypeError{"fill_value", "expected a value with mode fill alone, got one with clip"};
  if (fill)
    if (auto error = number_error("fill_value", operand.dtype, *fill))
      return *error;
  const auto states = [&](Linearity linearity) {
    return indexed_states(context.mesh, context.operands.first(1), context.operands.subspan(1),
                          linearity);
  };
  // A fill value that is not 0 cannot be a sum of copies.
  const bool linear = clips || (fill && fill->is_zero());
  StatesOutcome outcome = states(linear ? Linearity::Linear : Linearity::Nonlinear);
  if (auto* error = std::get_if<TypeError>(&outcome);
      error != nullptr && !linear && std::holds_alternative<AxisStates>(states(Linearity::Linear)))
    error->message += "; with a fill_value of 0 it may stay so";
  return typed(operand.dtype,
               shape_of_rows(operand.shape, indices.shape, context.attributes.integer("axis")),
               std::move(outcome));
}

TypeOutcome scatter_add(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  const ValueType& updates = context.operands[1];
  const ValueType& indices = context.operands[2];
  if (auto error = rows_error(context, operand, indices))
    return *error;
  if (operand.dtype == Dtype::Pred)
    return TypeError{"of", fmt::format("expected numbers, got {}", text_of(operand))};
  const Shape rows =
      shape_of_rows(operand.shape, indices.shape, context.attributes.integer("axis"));
  if (updates.dtype != operand.dtype || updates.shape != rows)
    return TypeError{"of", fmt::format("expected updates of {}{}, as take would give, got {}",
                                       name(operand.dtype), rows.text(), text_of(updates))};
  return typed(operand.dtype, operand.shape,
               indexed_states(context.mesh, context.operands.first(2), context.operands.subspan(2),
                              Linearity::Linear));
}

/// The op reads as much of the arrays as it writes, and all the indices, which follow the arrays.
/// An update costs a copy of the updated array too, unless that is donated.
template <size_t kArrays>
Cost selected_cost(const Attributes&, std::span<const ValueType> operands,
                   std::span<const ValueType> results) {
  return {Flops(0), results[0].size() + touched(operands.subspan(kArrays), results),
          operands[0].dtype};
}

/// Returns the start indices. A negative one counts from the end of its dimension, as in JAX.
std::vector<int64_t> starts(const LocalCall& call, size_t arrays) {
  std::vector<int64_t> starts;
  for (const Tensor* operand : call.operands.subspan(arrays)) {
    const int64_t extent = call.operand(0).shape()[starts.size()];
    starts.push_back(arith::counted_from_end(element_as_index(*operand, 0), extent));
  }
  return starts;
}

Tensor dynamically_sliced(const LocalCall& call) {
  return dynamic_slice(call.operand(0), starts(call, 1), call.result().shape);
}

Tensor dynamically_updated(const LocalCall& call) {
  return dynamic_update_slice(call.operand(0), call.operand(1), starts(call, 2));
}

Tensor taken(const LocalCall& call) {
  return take(call.operand(0), call.operand(1),
              static_cast<size_t>(call.attributes.integer("axis")), out_of_range(call.attributes),
              fill_value(call.attributes));
}

Tensor scatter_added(const LocalCall& call) {
  return scatter_add(call.operand(0), call.operand(1), call.operand(2),
                     static_cast<size_t>(call.attributes.integer("axis")),
                     out_of_range(call.attributes), call.numerics);
}

/// The op adds each element of the updates. It copies the rest, unless the first operand is
/// donated.
Cost scatter_add_cost(const Attributes&, std::span<const ValueType> operands,
                      std::span<const ValueType> results) {
  return {Flops(operands[1].shape.elements()), touched(operands, results), operands[0].dtype};
}

OpRules indexing(OpKind kind, std::string_view name, std::string_view summary,
                 IndexOperands indices, TypeRule type, CostRule cost, EvaluateRule evaluate,
                 const Transforms& transforms) {
  OpRules rules;
  rules.kind = kind;
  rules.name = name;
  rules.summary = summary;
  rules.least_operands = 2;
  rules.most_operands = 2;
  rules.type = type;
  rules.cost = cost;
  rules.evaluate = evaluate;
  rules.errors = Errors::Moved;
  rules.index_operands = indices;
  rules.transforms = transforms;
  return rules;
}

}  // namespace

std::vector<OpRules> indexing_rules() {
  constexpr size_t kAny = std::numeric_limits<size_t>::max();
  OpRules part = indexing(
      OpKind::DynamicSlice, "dynamic_slice",
      "the part of slice_sizes that begins at the start indices, the operands after the first; a "
      "negative one counts from the end; then clamped so that it fits",
      {1, kAny}, dynamic_slice, selected_cost<1>, one_result<dynamically_sliced>,
      {backward::dynamic_slice, LinearIn::First, batching::dynamic_slice});
  part.least_operands = 1;
  part.most_operands = kAny;
  part.parameters = {{"slice_sizes", ParameterKind::Integers, Need::Required, {}, 0, {}, {}}};
  OpRules update = indexing(
      OpKind::DynamicUpdateSlice, "dynamic_update_slice",
      "the first operand, with the second in the place that begins at the start indices, the "
      "operands after it; a negative one counts from the end; then clamped so that it fits",
      {2, kAny}, dynamic_update_slice, selected_cost<2>, one_result<dynamically_updated>,
      {backward::dynamic_update_slice, LinearIn::Data, batching::dynamic_update_slice});
  update.most_operands = kAny;
  update.memory = results_over_dying;
  update.updates_donated = true;
  const Parameter axis = {"axis", ParameterKind::Integer, Need::Required, {}, {}, {}, {}};
  const Parameter mode = {"mode", ParameterKind::Text, Need::Optional, std::string(kFill), {},
                          {},     {kFill, kClip}};
  OpRules rows = indexing(
      OpKind::Take, "take",
      "the rows of the first operand along the axis that the second, integers, names; an index "
      "outside gives fill_value, or NaN (or the dtype's limit), with mode fill, where a negative "
      "one counts from the end, and the nearest row with mode clip",
      {1, 2}, take, selected_cost<1>, one_result<taken>,
      {backward::take, LinearIn::First, batching::take});
  rows.parameters = {
      axis, mode, {"fill_value", ParameterKind::Number, Need::Optional, {}, {}, {}, {}}};
  OpRules added;
  added.kind = OpKind::ScatterAdd;
  added.name = "scatter_add";
  added.summary =
      "the first operand, with each row of the second added to the row along the axis that the "
      "third, integers, names, one after another; the rows are those that take gives; one whose "
      "index is outside is left out with mode fill, where a negative index counts from the end, "
      "and added to the nearest row with mode clip";
  added.least_operands = 3;
  added.most_operands = 3;
  added.parameters = {axis, mode};
  added.type = scatter_add;
  added.cost = scatter_add_cost;
  added.evaluate = one_result<scatter_added>;
  added.memory = results_over_dying_first;
  added.updates_donated = true;
  added.errors = Errors::ScatteredSum;
  added.transforms = {backward::scatter_add, LinearIn::Data, batching::scatter_add};
  return {part, update, rows, added};
}

}  // namespace orrery
