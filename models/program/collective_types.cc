#include "models/program/collective_types.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/array/work.h"
#include "models/program/families.h"
#include "models/program/groups.h"
#include "models/program/states.h"

namespace orrery {

namespace {

TypeOutcome sum_type(const TypeContext& context, Exchange exchange) {
  const ValueType& operand = context.operands[0];
  return typed(summed_dtype(operand.dtype), operand.shape, exchanged_states(context, exchange));
}

/// Returns the dtype of a sum divided by a number. The dtype is JAX's with 64-bit types enabled.
Dtype mean_dtype(Dtype dtype) {
  if (is_inexact(dtype))
    return dtype;
  return itemsize(dtype) == Bytes(8) ? Dtype::F64 : Dtype::F32;
}

int64_t gathered_rank(const TypeContext& context) {
  return static_cast<int64_t>(context.operands[0].shape.rank()) +
         (context.attributes.boolean("tiled") ? 0 : 1);
}

TypeOutcome gather_type(const TypeContext& context, Exchange exchange) {
  if (auto error = gather_dimension_error(context))
    return std::move(*error);
  const ValueType& operand = context.operands[0];
  const bool tiled = context.attributes.boolean("tiled");
  const int64_t axis = context.attributes.integer("axis");
  const int64_t result_rank = gathered_rank(context);
  const auto dimension = static_cast<size_t>(axis < 0 ? axis + result_rank : axis);
  Shape shape = tiled ? operand.shape.with(dimension, checked_multiply(operand.shape[dimension],
                                                                       context.group_size))
                      : operand.shape.inserted(dimension, context.group_size);
  return typed(operand.dtype, std::move(shape), exchanged_states(context, exchange));
}

/// Returns the error of a dimension that must have one entry for each member of the group.
std::optional<TypeError> entries_error(const TypeContext& context, std::string_view parameter,
                                       int64_t dimension, std::string_view hint) {
  const Shape& shape = context.operands[0].shape;
  if (auto error = dimension_error(parameter, dimension, shape.rank()))
    return error;
  const int64_t extent = shape[static_cast<size_t>(dimension)];
  if (extent != context.group_size)
    return TypeError{std::string(parameter),
                     fmt::format("expected dimension {} to be the group size {}, got {}{}",
                                 dimension, context.group_size, extent, hint)};
  return std::nullopt;
}

/// Returns the error of a dimension that is split into as many parts as the group has members.
std::optional<TypeError> cut_error(const TypeContext& context, std::string_view parameter,
                                   int64_t dimension) {
  if (!context.attributes.boolean("tiled"))
    return entries_error(context, parameter, dimension,
                         "; a tiled one need only be divisible by it");
  const Shape& shape = context.operands[0].shape;
  if (auto error = dimension_error(parameter, dimension, shape.rank()))
    return error;
  const int64_t extent = shape[static_cast<size_t>(dimension)];
  if (extent % context.group_size != 0)
    return TypeError{
        std::string(parameter),
        fmt::format("expected dimension {} to be divisible by the group size {}, got {}", dimension,
                    context.group_size, extent)};
  return std::nullopt;
}

TypeOutcome scatter_type(const TypeContext& context, Exchange exchange) {
  const ValueType& operand = context.operands[0];
  if (operand.dtype == Dtype::Pred)
    return TypeError{"of", "expected an operand of numbers, got pred"};
  const int64_t along = context.attributes.integer("scatter_dimension");
  if (auto error = cut_error(context, "scatter_dimension", along))
    return *error;
  const auto dimension = static_cast<size_t>(along);
  Shape shape = context.attributes.boolean("tiled")
                    ? operand.shape.with(dimension, operand.shape[dimension] / context.group_size)
                    : operand.shape.without(dimension);
  return typed(operand.dtype, std::move(shape), exchanged_states(context, exchange));
}

}  // namespace

std::optional<TypeError> gather_dimension_error(const TypeContext& context) {
  const int64_t axis = context.attributes.integer("axis");
  const int64_t result_rank = gathered_rank(context);
  if (result_rank == 0)
    return dimension_error("axis", axis, 0);
  if (axis < -result_rank || axis >= result_rank)
    return TypeError{"axis",
                     fmt::format("expected a dimension of the result, from {} to {}, got {}",
                                 -result_rank, result_rank - 1, axis)};
  return std::nullopt;
}

std::optional<TypeError> scatter_dimension_error(const TypeContext& context) {
  return dimension_error("scatter_dimension", context.attributes.integer("scatter_dimension"),
                         context.operands[0].shape.rank());
}

TypeOutcome psum_type(const TypeContext& context) {
  return sum_type(context, Exchange::Sum);
}

TypeOutcome unreduced_psum_type(const TypeContext& context) {
  return sum_type(context, Exchange::UnreducedSum);
}

TypeOutcome pmean_type(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  return typed(mean_dtype(operand.dtype), operand.shape, exchanged_states(context, Exchange::Mean));
}

TypeOutcome extremum_type(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  if (auto error = unordered_error("of", operand.dtype))
    return *error;
  return typed(operand.dtype, operand.shape, exchanged_states(context, Exchange::Extremum));
}

// Only one axis is accepted, as in JAX, since the index along several would be ambiguous.
TypeOutcome extremal_rank_type(const TypeContext& context) {
  const std::vector<std::string>& names = context.attributes.names("axis_name");
  if (names.size() != 1)
    return TypeError{"axis_name", fmt::format("expected one axis, got {}", names.size())};
  if (auto error = unordered_error("of", context.operands[0].dtype))
    return *error;
  return typed(Dtype::S32, context.operands[0].shape,
               exchanged_states(context, Exchange::Extremum));
}

TypeOutcome all_gather_type(const TypeContext& context) {
  const std::string& to = context.attributes.text("to");
  return gather_type(context, to == "reduced"     ? Exchange::MoveToReduced
                              : to == "invarying" ? Exchange::MoveToInvarying
                                                  : Exchange::Move);
}

TypeOutcome all_gather_invariant_type(const TypeContext& context) {
  return gather_type(context, Exchange::MoveToInvarying);
}

TypeOutcome all_gather_reduced_type(const TypeContext& context) {
  return gather_type(context, Exchange::MoveToReduced);
}

TypeOutcome psum_scatter_type(const TypeContext& context) {
  return scatter_type(context, Exchange::SumScatter);
}

TypeOutcome unreduced_psum_scatter_type(const TypeContext& context) {
  return scatter_type(context, Exchange::UnreducedScatter);
}

TypeOutcome all_to_all_type(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  const int64_t split_axis = context.attributes.integer("split_axis");
  const int64_t concat_axis = context.attributes.integer("concat_axis");
  if (auto error = cut_error(context, "split_axis", split_axis))
    return *error;
  if (auto error = dimension_error("concat_axis", concat_axis, operand.shape.rank()))
    return *error;
  const auto split = static_cast<size_t>(split_axis);
  const auto concat = static_cast<size_t>(concat_axis);
  Shape shape;
  if (context.attributes.boolean("tiled")) {
    shape = operand.shape.with(split, operand.shape[split] / context.group_size);
    shape = shape.with(concat, checked_multiply(shape[concat], context.group_size));
  } else {
    shape = operand.shape.without(split).inserted(concat, context.group_size);
  }
  return typed(operand.dtype, std::move(shape), exchanged_states(context, Exchange::Move));
}

TypeOutcome pswapaxes_type(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  if (auto error = entries_error(context, "axis", context.attributes.integer("axis"), ""))
    return *error;
  return typed(operand.dtype, operand.shape, exchanged_states(context, Exchange::Move));
}

// A pbroadcast does not cast its operand to varying as other exchanges do, since equal copies need
// no broadcast.
TypeOutcome pbroadcast_type(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  const int64_t source = context.attributes.integer("source");
  if (source < 0 || source >= context.group_size)
    return TypeError{"source", fmt::format("expected a rank from 0 to {}, got {}",
                                           context.group_size - 1, source)};
  return typed(operand.dtype, operand.shape, exchanged_states(context, Exchange::MoveVarying));
}

}  // namespace orrery
