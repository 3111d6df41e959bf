// This file has the local ops that move elements without changing them, under jax.lax's names. But
// reorder_sequence is ejkernel's.

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/array/kernels.h"
#include "models/mesh/partition_spec.h"
#include "models/program/families.h"
#include "models/program/local_parameters.h"

namespace orrery {

namespace {

using Need = Parameter::Need;

std::string list(const std::vector<int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ","));
}

TypeOutcome moved(const TypeContext& context, Shape shape) {
  return typed(context.operands[0].dtype, std::move(shape),
               joined_states(context.mesh, context.operands, Linearity::Linear));
}

/// The op reads as much as it writes.
Cost moved_cost(const Attributes&, std::span<const ValueType> operands,
                std::span<const ValueType> results) {
  return {Flops(0), results[0].size() * 2, operands[0].dtype};
}

TypeOutcome reshape(const TypeContext& context) {
  const Shape& from = context.operands[0].shape;
  Shape shape(context.attributes.integers("new_sizes"));
  if (shape.elements() != from.elements())
    return TypeError{"new_sizes", fmt::format("expected sizes of {} elements, as {} has, got {}",
                                              from.elements(), from.text(), shape.text())};
  return moved(context, std::move(shape));
}

Tensor reshaped(const LocalCall& call) {
  return reshape(call.operand(0), call.result().shape);
}

TypeOutcome logically_stacked(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  const std::string& name = context.attributes.text("mpmd_axis");
  if (auto error = missing_axis_error(context.mesh, name))
    return TypeError{"mpmd_axis", std::move(*error)};
  const auto rank = static_cast<int64_t>(operand.shape.rank());
  const int64_t at = context.attributes.integer("array_axis");
  if (at < 0 || at > rank)
    return TypeError{"array_axis",
                     fmt::format("expected a dimension from 0 to {}, got {}", rank, at)};
  ValueType type = operand;
  const size_t axis = *context.mesh.axis(name);
  const bool strict = context.attributes.boolean("strict");
  if (context.checks == Checks::States && type.axes[axis] != AxisState::Invarying &&
      (strict || context.mesh.axes()[axis].size > 1))
    return TypeError{"of", fmt::format("expected an array that does not vary over axis \"{}\", so "
                                       "that its copies can be stacked, got {}",
                                       name, text(operand, context.mesh))};
  std::vector<int64_t> extents(operand.shape.dims().begin(), operand.shape.dims().end());
  extents.insert(extents.begin() + at, 1);
  type.shape = Shape(std::move(extents));
  type.axes[axis] = AxisState::Varying;
  return std::vector<ValueType>{std::move(type)};
}

TypeOutcome transpose(const TypeContext& context) {
  const Shape& from = context.operands[0].shape;
  const std::vector<int64_t>& permutation = context.attributes.integers("permutation");
  std::vector<bool> used(from.rank(), false);
  std::vector<int64_t> dims;
  for (const int64_t dimension : permutation) {
    if (dimension >= static_cast<int64_t>(from.rank()) || used[static_cast<size_t>(dimension)])
      break;
    used[static_cast<size_t>(dimension)] = true;
    dims.push_back(from[static_cast<size_t>(dimension)]);
  }
  if (dims.size() != from.rank() || permutation.size() != from.rank())
    return TypeError{"permutation", fmt::format("expected each dimension of {} once, got {}",
                                                from.text(), list(permutation))};
  return moved(context, Shape(std::move(dims)));
}

Tensor transposed(const LocalCall& call) {
  return transpose(call.operand(0), call.attributes.integers("permutation"));
}

TypeOutcome slice(const TypeContext& context) {
  const Shape& from = context.operands[0].shape;
  const std::vector<int64_t>& start = context.attributes.integers("start_indices");
  const std::vector<int64_t>& limit = context.attributes.integers("limit_indices");
  const std::vector<int64_t> strides = context.attributes.has("strides")
                                           ? context.attributes.integers("strides")
                                           : std::vector<int64_t>(from.rank(), 1);
  const auto length_error = [&](std::string parameter, const std::vector<int64_t>& given) {
    return TypeError{std::move(parameter),
                     fmt::format("expected {} numbers, one per dimension of {}, got {}",
                                 from.rank(), from.text(), list(given))};
  };
  if (start.size() != from.rank())
    return length_error("start_indices", start);
  if (limit.size() != from.rank())
    return length_error("limit_indices", limit);
  if (strides.size() != from.rank())
    return length_error("strides", strides);
  std::vector<int64_t> dims;
  for (size_t d = 0; d < from.rank(); ++d) {
    if (limit[d] > from[d])
      return TypeError{"limit_indices", fmt::format("expected at most {} in dimension {}, got {}",
                                                    from[d], d, limit[d])};
    if (start[d] > limit[d])
      return TypeError{"start_indices",
                       fmt::format("expected at most the limit {} in dimension {}, got {}",
                                   limit[d], d, start[d])};
    if (strides[d] < 1)
      return TypeError{"strides",
                       fmt::format("expected at least 1 in dimension {}, got {}", d, strides[d])};
    dims.push_back(ceil_divide(limit[d] - start[d], strides[d]));
  }
  return moved(context, Shape(std::move(dims)));
}

Tensor sliced(const LocalCall& call) {
  return slice(call.operand(0), slice_bounds(call.attributes));
}

TypeOutcome concatenate(const TypeContext& context) {
  const int64_t along = context.attributes.integer("dimension");
  const ValueType& first = context.operands[0];
  if (auto error = dimension_error("dimension", along, first.shape.rank()))
    return *error;
  const auto dimension = static_cast<size_t>(along);
  int64_t extent = 0;
  for (const ValueType& part : context.operands) {
    if (part.dtype != first.dtype || part.shape.rank() != first.shape.rank() ||
        part.shape.with(dimension, 0) != first.shape.with(dimension, 0))
      return TypeError{
          "of", fmt::format("expected parts of one dtype, and of one shape but for dimension {}, "
                            "got {}{} and {}{}",
                            dimension, name(first.dtype), first.shape.text(), name(part.dtype),
                            part.shape.text())};
    extent = checked_add(extent, part.shape[dimension]);
  }
  return moved(context, first.shape.with(dimension, extent));
}

Tensor concatenated(const LocalCall& call) {
  std::vector<std::reference_wrapper<const Tensor>> parts;
  for (const Tensor* operand : call.operands)
    parts.emplace_back(*operand);
  return concatenate(parts, static_cast<size_t>(call.attributes.integer("dimension")));
}

TypeOutcome split(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  const std::vector<int64_t>& sizes = context.attributes.integers("sizes");
  const auto rank = static_cast<int64_t>(operand.shape.rank());
  const int64_t given = context.attributes.integer("axis");
  if (rank == 0)
    return TypeError{"axis", "expected an operand with dimensions, got a scalar"};
  if (given < -rank || given >= rank)
    return TypeError{
        "axis", fmt::format("expected a dimension from {} to {}, got {}", -rank, rank - 1, given)};
  const size_t axis = split_axis(context.attributes, operand.shape);
  int64_t sum = 0;
  for (const int64_t size : sizes)
    sum = checked_add(sum, size);
  if (sum != operand.shape[axis] || sizes.empty())
    return TypeError{"sizes",
                     fmt::format("expected sizes that add up to {}, dimension {} of {}, got {}",
                                 operand.shape[axis], axis, operand.shape.text(), list(sizes))};
  TypeOutcome outcome = moved(context, operand.shape);
  if (auto* types = std::get_if<std::vector<ValueType>>(&outcome)) {
    const ValueType whole = types->front();
    types->assign(sizes.size(), whole);
    for (size_t part = 0; part < sizes.size(); ++part)
      (*types)[part].shape = whole.shape.with(axis, sizes[part]);
  }
  return outcome;
}

std::vector<Tensor> parts(const LocalCall& call) {
  const Shape& whole = call.operand(0).shape();
  const size_t axis = split_axis(call.attributes, whole);
  SliceBounds bounds{std::vector<int64_t>(whole.rank(), 0),
                     std::vector<int64_t>(whole.dims().begin(), whole.dims().end()),
                     {}};
  bounds.limit[axis] = 0;
  std::vector<Tensor> parts;
  for (const int64_t size : call.attributes.integers("sizes")) {
    bounds.start[axis] = bounds.limit[axis];
    bounds.limit[axis] += size;
    parts.push_back(slice(call.operand(0), bounds));
  }
  return parts;
}

/// Along an axis over which one operand varies, JAX makes all operands varying that can be.
TypeOutcome as_they_are(const TypeContext& context) {
  std::vector<ValueType> types(context.operands.begin(), context.operands.end());
  for (size_t axis = 0; axis < context.mesh.axes().size(); ++axis) {
    const bool varies = std::any_of(types.begin(), types.end(), [&](const ValueType& type) {
      return type.axes[axis] == AxisState::Varying;
    });
    for (ValueType& type : types)
      if (varies && type.axes[axis] != AxisState::Unreduced)
        type.axes[axis] = AxisState::Varying;
  }
  return types;
}

std::vector<Tensor> copies(const LocalCall& call) {
  std::vector<Tensor> copies;
  for (const Tensor* operand : call.operands)
    copies.push_back(*operand);
  return copies;
}

/// An entry of a padding_config is at most this large. Sums and products of a few entries then fit
/// 64 bits.
constexpr int64_t kMostPadding = int64_t{1} << 60;

std::optional<TypeError> padding_error(const TypeContext& context) {
  const Shape& from = context.operands[0].shape;
  const std::vector<std::vector<int64_t>>& config = context.attributes.lists("padding_config");
  const auto error = [](std::string message) {
    return TypeError{"padding_config", std::move(message)};
  };
  if (config.size() != from.rank())
    return error(fmt::format("expected {} entries, one per dimension of {}, got {}", from.rank(),
                             from.text(), config.size()));
  for (size_t d = 0; d < config.size(); ++d) {
    if (config[d].size() != 3)
      return error(fmt::format("expected [low, high, interior] for dimension {}, got {}", d,
                               list(config[d])));
    if (std::any_of(config[d].begin(), config[d].end(),
                    [](int64_t number) { return number < -kMostPadding || number > kMostPadding; }))
      return error(fmt::format("expected numbers from -2^60 to 2^60 for dimension {}, got {}", d,
                               list(config[d])));
    const DimensionPadding padding = {config[d][0], config[d][1], config[d][2]};
    if (padding.interior < 0)
      return error(fmt::format("expected an interior of at least 0 for dimension {}, got {}", d,
                               padding.interior));
    const int64_t extent = padded_extent(from[d], padding);
    if (extent < 0)
      return error(
          fmt::format("expected to take off no more than dimension {} has, got {} from an "
                      "extent of {}, which leaves {}",
                      d, list(config[d]), from[d], extent));
  }
  return std::nullopt;
}

TypeOutcome pad(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  const ValueType& value = context.operands[1];
  if (value.dtype != operand.dtype || value.shape.rank() != 0)
    return TypeError{"of", fmt::format("expected a scalar of {} to pad with, got {}{}",
                                       name(operand.dtype), name(value.dtype), value.shape.text())};
  if (auto error = padding_error(context))
    return *error;
  std::vector<int64_t> dims;
  for (const DimensionPadding& padding : paddings(context.attributes))
    dims.push_back(padded_extent(operand.shape[dims.size()], padding));
  // As in JAX, a reduced operand goes with an invarying scalar as padding, which counts as reduced.
  std::array types = {operand, value};
  for (size_t axis = 0; axis < operand.axes.size(); ++axis)
    if (operand.axes[axis] == AxisState::Reduced && value.axes[axis] == AxisState::Invarying)
      types[1].axes[axis] = AxisState::Reduced;
  return typed(operand.dtype, Shape(std::move(dims)),
               joined_states(context.mesh, types, Linearity::Linear));
}

Tensor padded(const LocalCall& call) {
  return pad(call.operand(0), call.operand(1), paddings(call.attributes));
}

TypeOutcome broadcast_in_dim(const TypeContext& context) {
  constexpr std::string_view kDimensions = "broadcast_dimensions";
  const Shape& from = context.operands[0].shape;
  Shape shape(context.attributes.integers("shape"));
  const std::vector<int64_t>& dimensions = context.attributes.integers(kDimensions);
  const auto error = [&](std::string message) {
    return TypeError{std::string(kDimensions), std::move(message)};
  };
  if (dimensions.size() != from.rank())
    return error(fmt::format("expected {} numbers, one per dimension of {}, got {}", from.rank(),
                             from.text(), list(dimensions)));
  for (size_t d = 0; d < dimensions.size(); ++d) {
    const int64_t to = dimensions[d];
    if (to < 0 || to >= static_cast<int64_t>(shape.rank()))
      return error(fmt::format("expected dimensions of {}, got {}", shape.text(), to));
    if (d > 0 && to <= dimensions[d - 1])
      return error(fmt::format("expected ascending dimensions, got {}", list(dimensions)));
    const int64_t extent = shape[static_cast<size_t>(to)];
    if (from[d] != 1 && from[d] != extent)
      return error(
          fmt::format("expected an extent of 1 or {} (dimension {} of {}), got {} "
                      "(dimension {} of {})",
                      extent, to, shape.text(), from[d], d, from.text()));
  }
  return moved(context, std::move(shape));
}

Tensor broadcast(const LocalCall& call) {
  return broadcast_in_dim(call.operand(0), call.result().shape,
                          call.attributes.integers("broadcast_dimensions"));
}

TypeOutcome reorder_sequence(const TypeContext& context) {
  const Shape& from = context.operands[0].shape;
  const int64_t cp_size = context.attributes.integer("cp_size");
  const int64_t along = context.attributes.integer("seq_dim");
  if (cp_size % 2 != 0)
    return TypeError{"cp_size", fmt::format("expected an even number, got {}", cp_size)};
  if (auto error = dimension_error("seq_dim", along, from.rank()))
    return *error;
  const int64_t extent = from[static_cast<size_t>(along)];
  if (extent % 2 != 0 || extent / 2 % cp_size != 0)
    return TypeError{"cp_size",
                     fmt::format("expected 2 x {} to divide an extent of {} (dimension {} of {})",
                                 cp_size, extent, along, from.text())};
  return moved(context, from);
}

Tensor reordered(const LocalCall& call) {
  return reorder_sequence(call.operand(0), sequence_order(call.attributes));
}

/// The op reads its operands once, and writes its results.
Cost read_once_cost(const Attributes&, std::span<const ValueType> operands,
                    std::span<const ValueType> results) {
  return {Flops(0), touched(operands, results), operands[0].dtype};
}

Parameter sizes(std::string_view name, Need need) {
  return {name, ParameterKind::Integers, need, {}, 0, {}, {}};
}

OpRules movement(OpKind kind, std::string_view name, std::string_view summary,
                 std::vector<Parameter> parameters, TypeRule type, EvaluateRule evaluate,
                 BackwardRule backward, BatchRule batch) {
  OpRules rules;
  rules.kind = kind;
  rules.name = name;
  rules.summary = summary;
  rules.parameters = std::move(parameters);
  rules.type = type;
  rules.cost = moved_cost;
  rules.evaluate = evaluate;
  rules.errors = Errors::Moved;
  rules.transforms = {backward, LinearIn::All, batch};
  return rules;
}

}  // namespace

std::vector<OpRules> movement_rules() {
  constexpr size_t kAny = std::numeric_limits<size_t>::max();
  OpRules renamed =
      movement(OpKind::Reshape, "reshape", "the same elements, row-major, under another shape",
               {sizes("new_sizes", Need::Required)}, reshape, one_result<reshaped>,
               backward::reshape, batching::reshape);
  renamed.cost = renaming_cost;
  renamed.memory = results_in_operands;
  OpRules stacked = movement(
      OpKind::LogicallyStacked, "logically_stacked",
      "the operand as the part of an array that has a new dimension, cut by the axis of groups; "
      "each group has a copy of its own, in the same storage",
      {{"mpmd_axis", ParameterKind::Text, Need::Required, {}, {}, {}, {}},
       {"array_axis", ParameterKind::Integer, Need::Optional, int64_t{0}, {}, {}, {}},
       {"strict", ParameterKind::Boolean, Need::Optional, false, {}, {}, {}}},
      logically_stacked, one_result<reshaped>, backward::reshape, batching::logically_stacked);
  stacked.cost = renaming_cost;
  stacked.memory = results_in_operands;
  OpRules joined =
      movement(OpKind::Concatenate, "concatenate", "the operands side by side along a dimension",
               {{"dimension", ParameterKind::Integer, Need::Required, {}, {}, {}, {}}}, concatenate,
               one_result<concatenated>, backward::concatenate, batching::concatenate);
  joined.most_operands = kAny;
  OpRules split_up =
      movement(OpKind::Split, "split",
               "the operand's parts of the given sizes, in order along the axis; a negative axis "
               "counts from "
               "the end",
               {sizes("sizes", Need::Required),
                {"axis", ParameterKind::Integer, Need::Optional, int64_t{0}, {}, {}, {}}},
               split, parts, backward::split, batching::split);
  split_up.most_results = kAny;
  split_up.cost = read_once_cost;
  OpRules barrier =
      movement(OpKind::OptimizationBarrier, "optimization_barrier",
               "each result is its operand, in the same storage; nothing runs", {}, as_they_are,
               copies, backward::optimization_barrier, batching::optimization_barrier);
  barrier.most_operands = kAny;
  barrier.most_results = kAny;
  barrier.cost = renaming_cost;
  barrier.memory = results_in_operands;
  barrier.takes_tokens = true;
  OpRules padding =
      movement(OpKind::Pad, "pad",
               "the first operand with copies of the second, a scalar, around and between its "
               "elements; negative low or high take elements off",
               {{"padding_config", ParameterKind::IntegerLists, Need::Required, {}, {}, {}, {}}},
               pad, one_result<padded>, backward::pad, batching::pad);
  padding.transforms.linear_in = LinearIn::Data;
  padding.least_operands = 2;
  padding.most_operands = 2;
  padding.cost = read_once_cost;
  OpRules repeated =
      movement(OpKind::BroadcastInDim, "broadcast_in_dim",
               "the operand repeated: its dimension d becomes dimension broadcast_dimensions[d]",
               {sizes("shape", Need::Required), sizes("broadcast_dimensions", Need::Required)},
               broadcast_in_dim, one_result<broadcast>, backward::broadcast_in_dim,
               batching::broadcast_in_dim);
  repeated.cost = read_once_cost;
  OpRules chunks = movement(
      OpKind::ReorderSequence, "reorder_sequence",
      "the dimension in 2 x cp_size chunks, reordered for causal attention: of cp_size equal "
      "parts, "
      "part r gets chunks r and 2 x cp_size - 1 - r, so that all ranks have the same work; "
      "to_contiguous puts the chunks back",
      {{"cp_size", ParameterKind::Integer, Need::Required, {}, 2, {}, {}},
       {"seq_dim", ParameterKind::Integer, Need::Optional, int64_t{1}, {}, {}, {}},
       {"to_contiguous", ParameterKind::Boolean, Need::Optional, false, {}, {}, {}}},
      reorder_sequence, one_result<reordered>, backward::reorder_sequence,
      batching::reorder_sequence);
  return {renamed,
          movement(OpKind::Transpose, "transpose",
                   "dimension d of the result is dimension permutation[d] of the operand",
                   {sizes("permutation", Need::Required)}, transpose, one_result<transposed>,
                   backward::transpose, batching::transpose),
          movement(OpKind::Slice, "slice", "every strides-th element from start to before limit",
                   {sizes("start_indices", Need::Required), sizes("limit_indices", Need::Required),
                    sizes("strides", Need::Optional)},
                   slice, one_result<sliced>, backward::slice, batching::slice),
          joined,
          split_up,
          padding,
          repeated,
          chunks,
          stacked,
          barrier};
}

}  // namespace orrery
