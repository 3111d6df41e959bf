// This file has the backward rules of collectives and of casts between states. Without known states
// a value counts once for each device, and psum is its own transpose.

#include <optional>

#include "models/array/kernels.h"
#include "models/array/work.h"
#include "models/base/check.h"
#include "models/program/backward_ops.h"
#include "models/program/families.h"
#include "models/program/groups.h"
#include "models/program/states.h"

namespace orrery::backward {

namespace {

using enum OpKind;

const std::vector<std::string>& axes(BackwardCall& call) {
  return call.attributes().names("axis_name");
}

bool has_groups(BackwardCall& call) {
  return call.attributes().has("axis_index_groups");
}

/// Returns the one state of the operand along the axes of the op (JAX requires one). Returns
/// nothing if no state is known, or over no axes.
std::optional<AxisState> operand_state(BackwardCall& call) {
  if (!call.has_states() || axes(call).empty())
    return std::nullopt;
  return call.operand_type(0).axes[axis_positions(call.mesh(), axes(call)).front()];
}

std::string cast_to(BackwardCall& call, OpKind kind, const std::string& value) {
  return call.ops().op(kind, {value}, with({{"axis_name", axes(call)}}));
}

/// Returns the cotangent of the operand of a psum over the axes.
std::string summed(BackwardCall& call, const std::string& cotangent) {
  if (axes(call).empty())
    return cotangent;
  if (!call.has_states() || has_groups(call))
    return call.ops().op(Psum, {cotangent}, same_groups(call));
  return cast_to(call, operand_state(call) == AxisState::Unreduced ? Preduced : Pvary, cotangent);
}

Attributes with_dimension(BackwardCall& call, std::string_view name, int64_t dimension) {
  Attributes attributes = same_groups(call);
  attributes.set(std::string(name), dimension);
  attributes.set("tiled", call.attributes().boolean("tiled"));
  return attributes;
}

/// Returns a non-negative dimension of a tensor of this rank.
int64_t counted(int64_t dimension, size_t rank) {
  return dimension < 0 ? dimension + static_cast<int64_t>(rank) : dimension;
}

/// Returns the part of the cotangent that belongs to the rank's operand, for a gather whose result
/// is invarying.
std::string own_part(BackwardCall& call, int64_t dimension, bool tiled) {
  const Shape& whole = call.result_type().shape;
  const auto along = static_cast<size_t>(dimension);
  const int64_t extent = whole[along] / call.group_size();
  // The last part begins before whole[along], so all starts fit the dtype.
  const Dtype index =
      has_exactly(Dtype::S32, static_cast<double>(whole[along])) ? Dtype::S32 : Dtype::S64;
  const std::string rank = converted(
      call, call.ops().op(AxisIndex, {}, with({{"axis_name", axes(call)}})), Dtype::S32, index);
  const std::string first = op(call, Mul, {rank, scalar(call, index, static_cast<double>(extent))});
  std::vector<std::string> operands = {call.cotangent()};
  for (size_t d = 0; d < whole.rank(); ++d)
    operands.push_back(d == along ? first : scalar(call, index, 0));
  const std::string part =
      call.ops().op(DynamicSlice, std::move(operands),
                    with({{"slice_sizes", dims_of(whole.with(along, extent))}}));
  if (tiled)
    return part;
  return call.ops().op(Reshape, {part}, with({{"new_sizes", dims_of(call.operand_type(0).shape)}}));
}

/// Returns the state of the result of an all_gather.
AxisState gathered_to(BackwardCall& call) {
  if (!call.has_states() || axes(call).empty())
    return AxisState::Varying;
  return call.result_type().axes[axis_positions(call.mesh(), axes(call)).front()];
}

}  // namespace

Cotangents psum(BackwardCall& call) {
  return one(call, [&] { return summed(call, call.cotangent()); });
}

/// A mean goes back as a mean if a sum goes back as a sum: each group divides by its own size.
Cotangents pmean(BackwardCall& call) {
  return one(call, [&] {
    if (axes(call).empty())
      return call.cotangent();
    if (!call.has_states() || has_groups(call))
      return call.ops().op(Pmean, {call.cotangent()}, same_groups(call));
    const Dtype dtype = call.result_type().dtype;
    const Dtype dividing = dividing_dtype(dtype, call.group_size());
    const auto ranks = static_cast<double>(call.group_size());
    const std::string cotangent = converted(call, call.cotangent(), dtype, dividing);
    const std::string divided = quotient(call, cotangent, factor(call, dividing, ranks));
    return summed(call, converted(call, divided, dividing, dtype));
  });
}

Cotangents all_gather(BackwardCall& call) {
  return one(call, [&] {
    if (axes(call).empty())
      return call.cotangent();
    const bool tiled = call.attributes().boolean("tiled");
    const int64_t axis =
        counted(call.attributes().integer("axis"), call.result_type().shape.rank());
    if (gathered_to(call) == AxisState::Invarying)
      return own_part(call, axis, tiled);
    const OpKind kind =
        gathered_to(call) == AxisState::Reduced ? UnreducedPsumScatter : PsumScatter;
    return call.ops().op(kind, {call.cotangent()}, with_dimension(call, "scatter_dimension", axis));
  });
}

Cotangents psum_scatter(BackwardCall& call) {
  return one(call, [&] {
    if (axes(call).empty())
      return call.cotangent();
    const int64_t dimension = call.attributes().integer("scatter_dimension");
    const bool unreduced = operand_state(call) == AxisState::Unreduced;
    return call.ops().op(unreduced ? AllGatherReduced : AllGather, {call.cotangent()},
                         with_dimension(call, "axis", dimension));
  });
}

Cotangents all_to_all(BackwardCall& call) {
  return one(call, [&] {
    Attributes attributes = same_groups(call);
    attributes.set("split_axis", call.attributes().integer("concat_axis"));
    attributes.set("concat_axis", call.attributes().integer("split_axis"));
    attributes.set("tiled", call.attributes().boolean("tiled"));
    return call.ops().op(AllToAll, {call.cotangent()}, std::move(attributes));
  });
}

Cotangents pswapaxes(BackwardCall& call) {
  return one(call, [&] {
    Attributes attributes = same_groups(call);
    attributes.set("axis", call.attributes().integer("axis"));
    return call.ops().op(Pswapaxes, {call.cotangent()}, std::move(attributes));
  });
}

namespace {

/// Returns the groups, and the pairs the other way round.
Attributes inverse_pairs(BackwardCall& call) {
  std::vector<std::vector<int64_t>> inverse;
  for (const std::vector<int64_t>& pair : call.attributes().lists("perm"))
    inverse.push_back({pair[1], pair[0]});
  Attributes attributes = same_groups(call);
  attributes.set("perm", std::move(inverse));
  return attributes;
}

}  // namespace

Cotangents ppermute(BackwardCall& call) {
  return one(call,
             [&] { return call.ops().op(Ppermute, {call.cotangent()}, inverse_pairs(call)); });
}

// A transfer goes back as a transfer. In place of the precv its cotangent is sent, and in place of
// the psend it is received. The token of the new psend is the cotangent of the old token.
Cotangents precv(BackwardCall& call) {
  return one(call, [&] { return call.ops().op(Psend, {call.cotangent()}, inverse_pairs(call)); });
}

Cotangents psend(BackwardCall& call) {
  return one(call, [&] {
    Attributes attributes = inverse_pairs(call);
    attributes.set("shape", dims_of(call.operand_type(0).shape));
    attributes.set("dtype", call.operand_type(0).dtype);
    return call.ops().op(Precv, {call.cotangent()}, std::move(attributes));
  });
}

Cotangents pshuffle(BackwardCall& call) {
  return one(call, [&] {
    const std::vector<int64_t>& perm = call.attributes().integers("perm");
    std::vector<int64_t> inverse(perm.size());
    for (size_t p = 0; p < perm.size(); ++p)
      inverse[static_cast<size_t>(perm[p])] = static_cast<int64_t>(p);
    Attributes attributes = same_groups(call);
    attributes.set("perm", std::move(inverse));
    return call.ops().op(Pshuffle, {call.cotangent()}, std::move(attributes));
  });
}

/// Returns the sum, on the source of each group alone.
Cotangents pbroadcast(BackwardCall& call) {
  return one(call, [&] {
    if (axes(call).empty())
      return call.cotangent();
    const std::string sum = call.ops().op(Psum, {call.cotangent()}, same_groups(call));
    const std::string rank = call.ops().op(AxisIndex, {}, with({{"axis_name", axes(call)}}));
    const int64_t source = call.attributes().integer("source");
    std::vector<int64_t> sources = {source};
    if (has_groups(call)) {
      sources.clear();
      for (const std::vector<int64_t>& group : call.attributes().lists("axis_index_groups"))
        sources.push_back(group[static_cast<size_t>(source)]);
    }
    std::string is_source;
    for (const int64_t each : sources) {
      const std::string is_this =
          op(call, Eq, {rank, scalar(call, Dtype::S32, static_cast<double>(each))});
      is_source = is_source.empty() ? is_this : op(call, Max, {is_source, is_this});  // or
    }
    if (!is_unreduced(call, sum))
      return op(call, SelectN, {is_source, zero_beside(call, sum), sum});
    const std::string one = converted(call, is_source, Dtype::Pred, call.result_type().dtype);
    return op(call, Mul, {sum, reduced_beside(call, one)});
  });
}

/// Casts back, between the states of cotangents.
Cotangents cast(BackwardCall& call) {
  return one(call, [&] {
    if (!call.has_states() || axes(call).empty())
      return call.cotangent();
    const size_t axis = axis_positions(call.mesh(), axes(call)).front();
    const AxisState from = call.operand_type(0).axes[axis];
    const AxisState to = call.result_type().axes[axis];
    if (from == AxisState::Invarying)
      return cast_to(call, to == AxisState::Varying ? Psum : UnreducedPsum, call.cotangent());
    if (from == AxisState::Varying)
      return cast_to(call, ReducedVaryCast, call.cotangent());
    ORRERY_CHECK(from == AxisState::Reduced && to == AxisState::Varying, "a cast of the table");
    return cast_to(call, VaryUnreducedCast, call.cotangent());
  });
}

}  // namespace orrery::backward
