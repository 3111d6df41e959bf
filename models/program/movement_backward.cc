// This file has the backward rules of the ops that move elements.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "models/base/quantity.h"
#include "models/program/backward_ops.h"
#include "models/program/families.h"

namespace orrery::backward {

namespace {

using enum OpKind;

std::string slice_of(BackwardCall& call, const std::string& value, std::vector<int64_t> start,
                     std::vector<int64_t> limit) {
  return call.ops().op(
      Slice, {value},
      with({{"start_indices", std::move(start)}, {"limit_indices", std::move(limit)}}));
}

std::string padded(BackwardCall& call, const std::string& value,
                   std::vector<std::vector<int64_t>> config) {
  return call.ops().op(Pad, {value, zero_beside(call, value)},
                       with({{"padding_config", std::move(config)}}));
}

std::string reshaped(BackwardCall& call, const std::string& value, const Shape& shape) {
  return call.ops().op(Reshape, {value}, with({{"new_sizes", dims_of(shape)}}));
}

std::string sum_over(BackwardCall& call, const std::string& value, std::vector<int64_t> axes) {
  return call.ops().op(ReduceSum, {value}, with({{"axes", std::move(axes)}}));
}

std::string sum_of_all(BackwardCall& call, const std::string& value) {
  std::vector<int64_t> axes;
  for (size_t d = 0; d < call.ops().type(value).shape.rank(); ++d)
    axes.push_back(static_cast<int64_t>(d));
  return sum_over(call, value, std::move(axes));
}

/// Returns the operands from number `first` on, which say where a slice begins.
std::vector<std::string> starts(BackwardCall& call, size_t first) {
  std::vector<std::string> names;
  for (size_t k = first; k < call.operands(); ++k)
    names.push_back(call.operand(k));
  return names;
}

/// Returns the part of `value` of this shape, which begins as the operands from number `first` on
/// say.
std::string part_at(BackwardCall& call, const std::string& value, const Shape& shape,
                    size_t first) {
  std::vector<std::string> operands = {value};
  for (std::string& start : starts(call, first))
    operands.push_back(std::move(start));
  return call.ops().op(DynamicSlice, std::move(operands), with({{"slice_sizes", dims_of(shape)}}));
}

std::string index(BackwardCall& call, int64_t value) {
  return call.ops().op(Full, {},
                       with({{"shape", std::vector<int64_t>()},
                             {"fill_value", static_cast<double>(value)},
                             {"dtype", Dtype::S32}}));
}

std::string updated(BackwardCall& call, const std::string& value, const std::string& update,
                    size_t first, std::vector<std::string> donated = {}) {
  std::vector<std::string> operands = {value, update};
  for (std::string& start : starts(call, first))
    operands.push_back(std::move(start));
  return call.ops().op(DynamicUpdateSlice, std::move(operands), {}, std::move(donated));
}

}  // namespace

Cotangents reshape(BackwardCall& call) {
  return one(call, [&] { return reshaped(call, call.cotangent(), call.operand_type(0).shape); });
}

Cotangents transpose(BackwardCall& call) {
  return one(call, [&] {
    const std::vector<int64_t>& permutation = call.attributes().integers("permutation");
    std::vector<int64_t> inverse(permutation.size());
    for (size_t d = 0; d < permutation.size(); ++d)
      inverse[static_cast<size_t>(permutation[d])] = static_cast<int64_t>(d);
    return call.ops().op(Transpose, {call.cotangent()}, with({{"permutation", inverse}}));
  });
}

/// Adds to the slice of the sum so far, if the rule may donate the sum, the slice has no gaps, and
/// its place fits an index. Else the cotangent becomes an array of the operand's size.
Cotangents slice(BackwardCall& call) {
  return one(call, [&] {
    const Shape& from = call.operand_type(0).shape;
    const Shape& part = call.result_type().shape;
    const std::vector<int64_t>& start = call.attributes().integers("start_indices");
    std::vector<std::vector<int64_t>> config;
    bool adds_in_place = part.elements() > 0;
    for (size_t d = 0; d < from.rank(); ++d) {
      const int64_t stride =
          call.attributes().has("strides") ? call.attributes().integers("strides")[d] : 1;
      // With one element or none there is nothing between elements.
      const int64_t interior = part[d] > 1 ? stride - 1 : 0;
      const int64_t span = part[d] == 0 ? 0 : (part[d] - 1) * (interior + 1) + 1;
      config.push_back({start[d], from[d] - start[d] - span, interior});
      adds_in_place &= interior == 0 && start[d] <= std::numeric_limits<int32_t>::max();
    }
    if (adds_in_place)
      if (const std::optional<std::string> sum = call.sum_so_far(0)) {
        std::vector<int64_t> limit = start;
        for (size_t d = 0; d < limit.size(); ++d)
          limit[d] += part[d];
        const std::string before = slice_of(call, *sum, start, std::move(limit));
        std::vector<std::string> operands = {*sum, op(call, Add, {before, call.cotangent()})};
        for (const int64_t first : start)
          operands.push_back(index(call, first));
        return call.ops().op(DynamicUpdateSlice, std::move(operands), {}, {*sum});
      }
    return padded(call, call.cotangent(), std::move(config));
  });
}

Cotangents concatenate(BackwardCall& call) {
  const auto along = static_cast<size_t>(call.attributes().integer("dimension"));
  Cotangents cotangents(call.operands());
  int64_t begin = 0;
  for (size_t k = 0; k < call.operands(); ++k) {
    const int64_t end = begin + call.operand_type(k).shape[along];
    if (call.wants(k)) {
      std::vector<int64_t> start(call.result_type().shape.rank(), 0);
      std::vector<int64_t> limit = dims_of(call.result_type().shape);
      start[along] = begin;
      limit[along] = end;
      cotangents[k] = slice_of(call, call.cotangent(), std::move(start), std::move(limit));
    }
    begin = end;
  }
  return cotangents;
}

Cotangents split(BackwardCall& call) {
  return one(call, [&] {
    const auto rank = static_cast<int64_t>(call.operand_type(0).shape.rank());
    const int64_t axis = call.attributes().integer("axis");
    std::vector<std::string> parts;
    for (size_t k = 0; k < call.attributes().integers("sizes").size(); ++k)
      parts.push_back(call.cotangent(k));
    return call.ops().op(Concatenate, std::move(parts),
                         with({{"dimension", axis < 0 ? axis + rank : axis}}));
  });
}

Cotangents pad(BackwardCall& call) {
  const Shape& from = call.operand_type(0).shape;
  const std::vector<std::vector<int64_t>>& config = call.attributes().lists("padding_config");
  const bool empty = from.elements() == 0;
  Cotangents cotangents(2);
  std::string inside;
  if (!empty) {
    // First the padding around is removed. Elements that it had cut off get zeros. Then the padding
    // between elements is removed.
    std::vector<std::vector<int64_t>> around;
    std::vector<int64_t> strides;
    std::vector<int64_t> limit;
    for (size_t d = 0; d < from.rank(); ++d) {
      around.push_back({-config[d][0], -config[d][1], 0});
      strides.push_back(config[d][2] + 1);
      limit.push_back((from[d] - 1) * strides[d] + 1);
    }
    inside = padded(call, call.cotangent(), std::move(around));
    inside = call.ops().op(Slice, {inside},
                           with({{"start_indices", std::vector<int64_t>(from.rank(), 0)},
                                 {"limit_indices", limit},
                                 {"strides", strides}}));
  } else {
    inside = zeros_beside(call, call.operand_type(0).shape);
  }
  if (call.wants(0))
    cotangents[0] = inside;
  if (call.wants(1))
    cotangents[1] = op(call, Sub, {sum_of_all(call, call.cotangent()), sum_of_all(call, inside)});
  return cotangents;
}

Cotangents broadcast_in_dim(BackwardCall& call) {
  return one(call, [&] {
    const Shape& from = call.operand_type(0).shape;
    const Shape& to = call.result_type().shape;
    const std::vector<int64_t>& kept = call.attributes().integers("broadcast_dimensions");
    std::vector<int64_t> summed;
    for (size_t d = 0; d < to.rank(); ++d) {
      const auto found = std::find(kept.begin(), kept.end(), static_cast<int64_t>(d));
      const auto of = static_cast<size_t>(found - kept.begin());
      if (found == kept.end() || from[of] != to[d])
        summed.push_back(static_cast<int64_t>(d));
    }
    const std::string sum =
        summed.empty() ? call.cotangent() : sum_over(call, call.cotangent(), std::move(summed));
    return call.ops().type(sum).shape == from ? sum : reshaped(call, sum, from);
  });
}

Cotangents reorder_sequence(BackwardCall& call) {
  return one(call, [&] {
    Attributes inverse = call.attributes();
    inverse.set("to_contiguous", !inverse.boolean("to_contiguous"));
    return call.ops().op(ReorderSequence, {call.cotangent()}, std::move(inverse));
  });
}

/// The cotangent is written, or added, to the part of the array that was taken.
Cotangents dynamic_slice(BackwardCall& call) {
  Cotangents cotangents(call.operands());
  if (!call.wants(0))
    return cotangents;
  std::string part = call.cotangent();
  std::optional<std::string> sum = call.sum_so_far(0);
  if (sum)
    part = op(call, Add, {part_at(call, *sum, call.result_type().shape, 1), part});
  else
    sum = zeros_beside(call, call.operand_type(0).shape);
  cotangents[0] = updated(call, *sum, part, 1, {*sum});
  return cotangents;
}

/// The cotangent of the update is taken out of that of the result, in whose place zeros are left.
Cotangents dynamic_update_slice(BackwardCall& call) {
  Cotangents cotangents(call.operands());
  std::vector<std::string> donated;
  if (call.may_donate(0))
    donated = {call.cotangent()};
  if (call.wants(1))
    cotangents[1] = part_at(call, call.cotangent(), call.operand_type(1).shape, 2);
  if (call.wants(0))
    cotangents[0] = updated(call, call.cotangent(), zeros_beside(call, call.operand_type(1).shape),
                            2, std::move(donated));
  return cotangents;
}

/// Each cotangent gets a barrier of its own, since not every result has a cotangent.
Cotangents optimization_barrier(BackwardCall& call) {
  Cotangents cotangents(call.operands());
  for (size_t k = 0; k < call.operands(); ++k)
    if (call.wants(k) && call.has_cotangent(k))
      cotangents[k] = op(call, OptimizationBarrier, {call.cotangent(k)});
  return cotangents;
}

}  // namespace orrery::backward
