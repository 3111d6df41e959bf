// This file has the batch rules of ops that move elements.

#include <algorithm>

#include "models/program/batch_ops.h"
#include "models/program/families.h"

namespace orrery::batching {

namespace {

/// Returns the batch's dimension in the first operand that is batched.
size_t first_dimension(const BatchCall& call) {
  size_t k = 0;
  while (!call.operand(k).dimension)
    ++k;
  return *call.operand(k).dimension;
}

/// Returns all operands with the batch along `dimension`.
std::vector<std::string> all_at(BatchCall& call, size_t dimension) {
  std::vector<std::string> operands;
  for (size_t k = 0; k < call.operands(); ++k)
    operands.push_back(batched_at(call, k, dimension).value);
  return operands;
}

/// Returns `attributes` with another value of the one named.
Attributes with(Attributes attributes, std::string_view name, Attribute value) {
  attributes.set(std::string(name), std::move(value));
  return attributes;
}

Attributes with_own_entry(Attributes attributes, std::string_view name, size_t batch, int64_t own) {
  Integers numbers = with_own(attributes.integers(name), batch, own);
  return with(std::move(attributes), name, std::move(numbers));
}

}  // namespace

BatchOutcome reshape(BatchCall& call) {
  const ShapedValue part = batched_at(call, 0, 0);
  return result(
      op(call, OpKind::Reshape, {part.value},
         given({{"new_sizes", dims_of(call.result_type().shape.inserted(0, call.size()))}})),
      0);
}

/// If the batch takes the place of the axis, each element has its own copy, and nothing is stacked.
BatchOutcome logically_stacked(BatchCall& call) {
  Attributes attributes = call.attributes();
  if (call.axis() == attributes.text("mpmd_axis"))
    return reshape(call);
  const size_t batch = *call.operand(0).dimension;
  const int64_t at = shifted(attributes.integer("array_axis"), batch);
  attributes.set("array_axis", at);
  return same_op(call, std::move(attributes), batch + (at <= static_cast<int64_t>(batch) ? 1 : 0));
}

BatchOutcome transpose(BatchCall& call) {
  const size_t batch = *call.operand(0).dimension;
  Integers permutation = {static_cast<int64_t>(batch)};
  for (const int64_t from : call.attributes().integers("permutation"))
    permutation.push_back(shifted(from, batch));
  return same_op(call, given({{"permutation", std::move(permutation)}}), 0);
}

BatchOutcome slice(BatchCall& call) {
  const size_t batch = *call.operand(0).dimension;
  Attributes attributes = with_own_entry(call.attributes(), "start_indices", batch, 0);
  attributes = with_own_entry(std::move(attributes), "limit_indices", batch, call.size());
  if (attributes.has("strides"))
    attributes = with_own_entry(std::move(attributes), "strides", batch, 1);
  return same_op(call, std::move(attributes), batch);
}

BatchOutcome concatenate(BatchCall& call) {
  const size_t batch = first_dimension(call);
  const int64_t dimension = shifted(call.attributes().integer("dimension"), batch);
  return result(
      op(call, OpKind::Concatenate, all_at(call, batch), given({{"dimension", dimension}})), batch);
}

BatchOutcome split(BatchCall& call) {
  const size_t batch = *call.operand(0).dimension;
  const int64_t axis = call.attributes().integer("axis");
  const auto rank = static_cast<int64_t>(call.operand_type(0).shape.rank());
  const Integers& sizes = call.attributes().integers("sizes");
  std::vector<Batched> results;
  for (std::string& part :
       call.op(OpKind::Split, {call.operand(0).value},
               with(call.attributes(), "axis", shifted(axis < 0 ? axis + rank : axis, batch)),
               sizes.size()))
    results.push_back({std::move(part), batch});
  return results;
}

BatchOutcome pad(BatchCall& call) {
  if (call.operand(1).dimension)
    return one_by_one(call);
  const size_t batch = *call.operand(0).dimension;
  std::vector<Integers> config = call.attributes().lists("padding_config");
  config.insert(config.begin() + static_cast<std::ptrdiff_t>(batch), {0, 0, 0});
  return same_op(call, given({{"padding_config", std::move(config)}}), batch);
}

BatchOutcome broadcast_in_dim(BatchCall& call) {
  const ShapedValue part = batched_at(call, 0, 0);
  Integers dimensions = {0};
  for (const int64_t to : call.attributes().integers("broadcast_dimensions"))
    dimensions.push_back(to + 1);
  Attributes attributes = with_own_entry(call.attributes(), "shape", 0, call.size());
  return result(op(call, OpKind::BroadcastInDim, {part.value},
                   with(std::move(attributes), "broadcast_dimensions", std::move(dimensions))),
                0);
}

BatchOutcome reorder_sequence(BatchCall& call) {
  const size_t batch = *call.operand(0).dimension;
  const int64_t dimension = shifted(call.attributes().integer("seq_dim"), batch);
  return same_op(call, with(call.attributes(), "seq_dim", dimension), batch);
}

BatchOutcome optimization_barrier(BatchCall& call) {
  std::vector<std::string> operands;
  for (size_t k = 0; k < call.operands(); ++k)
    operands.push_back(call.operand(k).value);
  const std::vector<std::string> values =
      call.op(OpKind::OptimizationBarrier, std::move(operands), {}, call.operands());
  std::vector<Batched> results;
  for (size_t k = 0; k < call.operands(); ++k)
    results.push_back({values[k], call.operand(k).dimension});
  return results;
}

}  // namespace orrery::batching
