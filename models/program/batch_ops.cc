#include "models/program/batch_ops.h"

#include <algorithm>
#include <numeric>

#include "models/program/rules.h"

namespace orrery::batching {

Attributes given(std::vector<std::pair<std::string, Attribute>> pairs) {
  Attributes attributes;
  for (auto& [name, value] : pairs)
    attributes.set(std::move(name), std::move(value));
  return attributes;
}

Integers dims_of(const Shape& shape) {
  return {shape.dims().begin(), shape.dims().end()};
}

Integers with_own(Integers numbers, size_t batch, int64_t own) {
  numbers.insert(numbers.begin() + static_cast<std::ptrdiff_t>(batch), own);
  return numbers;
}

std::string op(BatchCall& call, OpKind kind, std::vector<std::string> operands,
               Attributes attributes) {
  return call.op(kind, std::move(operands), std::move(attributes), 1).front();
}

BatchOutcome result(std::string value, std::optional<size_t> dimension) {
  return std::vector<Batched>{{std::move(value), dimension}};
}

BatchOutcome same_op(BatchCall& call, Attributes attributes, std::optional<size_t> dimension) {
  std::vector<std::string> operands;
  for (size_t k = 0; k < call.operands(); ++k)
    operands.push_back(call.operand(k).value);
  return result(op(call, call.kind(), std::move(operands), std::move(attributes)), dimension);
}

ShapedValue operand(BatchCall& call, size_t operand) {
  const Batched& given = call.operand(operand);
  const Shape& shape = call.operand_type(operand).shape;
  return {given.value, given.dimension ? shape.inserted(*given.dimension, call.size()) : shape};
}

ShapedValue batched_at(BatchCall& call, const Batched& value, const Shape& shape,
                       size_t dimension) {
  if (!value.dimension)
    return repeated(call, {value.value, shape}, dimension, call.size());
  return moved(call, {value.value, shape.inserted(*value.dimension, call.size())}, *value.dimension,
               dimension);
}

ShapedValue batched_at(BatchCall& call, size_t operand, size_t dimension) {
  return batched_at(call, call.operand(operand), call.operand_type(operand).shape, dimension);
}

ShapedValue reshaped(BatchCall& call, ShapedValue part, Shape shape) {
  if (part.shape == shape)
    return part;
  std::string value =
      op(call, OpKind::Reshape, {part.value}, given({{"new_sizes", dims_of(shape)}}));
  return {std::move(value), std::move(shape)};
}

ShapedValue transposed(BatchCall& call, ShapedValue part, const Integers& permutation) {
  Integers dims;
  Integers wide;  // the dimensions whose extent is not 1
  for (const int64_t from : permutation) {
    dims.push_back(part.shape[static_cast<size_t>(from)]);
    if (dims.back() != 1)
      wide.push_back(from);
  }
  Shape shape(std::move(dims));
  if (std::is_sorted(wide.begin(), wide.end()))
    return reshaped(call, std::move(part), std::move(shape));
  return {op(call, OpKind::Transpose, {part.value}, given({{"permutation", permutation}})),
          std::move(shape)};
}

ShapedValue moved(BatchCall& call, ShapedValue part, size_t from, size_t to) {
  if (from == to)
    return part;
  Integers permutation(part.shape.rank());
  std::iota(permutation.begin(), permutation.end(), 0);
  permutation.erase(permutation.begin() + static_cast<std::ptrdiff_t>(from));
  permutation.insert(permutation.begin() + static_cast<std::ptrdiff_t>(to),
                     static_cast<int64_t>(from));
  return transposed(call, std::move(part), permutation);
}

ShapedValue repeated(BatchCall& call, ShapedValue part, size_t dimension, int64_t count) {
  Shape shape = part.shape.inserted(dimension, count);
  Integers dimensions;
  for (size_t d = 0; d < part.shape.rank(); ++d)
    dimensions.push_back(shifted(static_cast<int64_t>(d), dimension));
  std::string value =
      op(call, OpKind::BroadcastInDim, {part.value},
         given({{"shape", dims_of(shape)}, {"broadcast_dimensions", std::move(dimensions)}}));
  return {std::move(value), std::move(shape)};
}

ShapedValue cut(BatchCall& call, const ShapedValue& part, size_t dimension, int64_t begin,
                int64_t end) {
  if (begin == 0 && end == part.shape[dimension])
    return part;
  Integers start(part.shape.rank(), 0);
  Integers limit = dims_of(part.shape);
  start[dimension] = begin;
  limit[dimension] = end;
  return {op(call, OpKind::Slice, {part.value},
             given({{"start_indices", std::move(start)}, {"limit_indices", std::move(limit)}})),
          part.shape.with(dimension, end - begin)};
}

ShapedValue joined(BatchCall& call, const std::vector<ShapedValue>& parts, size_t dimension) {
  if (parts.size() == 1)
    return parts.front();
  std::vector<std::string> operands;
  int64_t extent = 0;
  for (const ShapedValue& part : parts) {
    operands.push_back(part.value);
    extent += part.shape[dimension];
  }
  return {op(call, OpKind::Concatenate, std::move(operands),
             given({{"dimension", static_cast<int64_t>(dimension)}})),
          parts.front().shape.with(dimension, extent)};
}

ShapedValue folded(BatchCall& call, OpKind kind, const ShapedValue& part, size_t dimension) {
  return {
      op(call, kind, {part.value}, given({{"axes", Integers{static_cast<int64_t>(dimension)}}})),
      part.shape.without(dimension)};
}

namespace {

/// Returns the axes, except the batched one, along which `type` has one of these states.
std::vector<std::string> along(const BatchCall& call, const ValueType& type,
                               std::initializer_list<AxisState> states) {
  std::vector<std::string> names;
  for (size_t a = 0; a < type.axes.size(); ++a) {
    const std::string& name = call.mesh().axes()[a].name;
    if (name != call.axis() &&
        std::find(states.begin(), states.end(), type.axes[a]) != states.end())
      names.push_back(name);
  }
  return names;
}

ShapedValue casted(BatchCall& call, ShapedValue part, OpKind kind, std::vector<std::string> axes) {
  if (!axes.empty())
    part.value = op(call, kind, {part.value}, given({{"axis_name", std::move(axes)}}));
  return part;
}

ShapedValue filled(BatchCall& call, Shape shape, Dtype dtype, double value) {
  std::string made =
      op(call, OpKind::Full, {},
         given({{"shape", dims_of(shape)}, {"fill_value", value}, {"dtype", dtype}}));
  return {std::move(made), std::move(shape)};
}

}  // namespace

ShapedValue constant(BatchCall& call, Shape shape, Dtype dtype, double value,
                     const ValueType& type) {
  return casted(call, filled(call, std::move(shape), dtype, value), OpKind::Preduced,
                along(call, type, {AxisState::Unreduced, AxisState::Reduced}));
}

ShapedValue zeros(BatchCall& call, Shape shape, const ValueType& type) {
  ShapedValue part = filled(call, std::move(shape), type.dtype, 0);
  part = casted(call, std::move(part), OpKind::Preduced, along(call, type, {AxisState::Reduced}));
  const std::vector<std::string> addends = along(call, type, {AxisState::Unreduced});
  part = casted(call, std::move(part), OpKind::Pvary, addends);
  return casted(call, std::move(part), OpKind::VaryUnreducedCast, addends);
}

BatchOutcome one_by_one(BatchCall& call) {
  // An op that writes over its operand needs one of its own for each element.
  const bool overwrites = rules(call.kind()).donates_overwritten;
  std::vector<std::vector<ShapedValue>> parts(call.results());
  for (int64_t b = 0; b < call.size(); ++b) {
    std::vector<std::string> operands;
    for (size_t k = 0; k < call.operands(); ++k) {
      ShapedValue part = overwrites ? batched_at(call, k, 0) : operand(call, k);
      const std::optional<size_t> batch =
          overwrites ? std::optional<size_t>(0) : call.operand(k).dimension;
      if (batch)
        part = reshaped(call, cut(call, part, *batch, b, b + 1), call.operand_type(k).shape);
      operands.push_back(part.value);
    }
    std::vector<std::string> made =
        call.op(call.kind(), std::move(operands), call.attributes(), call.results());
    for (size_t r = 0; r < call.results(); ++r) {
      const Shape& shape = call.result_type(r).shape;
      parts[r].push_back(reshaped(call, {std::move(made[r]), shape}, shape.inserted(0, 1)));
    }
  }
  std::vector<Batched> results;
  for (const std::vector<ShapedValue>& each : parts)
    results.push_back({joined(call, each, 0).value, 0});
  return results;
}

OpAxes axes_of(const BatchCall& call) {
  OpAxes axes;
  for (const std::string& name : call.attributes().names("axis_name")) {
    if (name == call.axis()) {
      axes.batched = true;
      axes.before = std::exchange(axes.after, 1);
    } else {
      axes.names.push_back(name);
      axes.after *= call.mesh().axes()[*call.mesh().axis(name)].size;
    }
  }
  return axes;
}

Attributes over(const BatchCall& call, const OpAxes& axes, OpKind kind) {
  Attributes attributes;
  for (const Parameter& parameter : rules(kind).parameters)
    if (const auto found = call.attributes().all().find(parameter.name);
        found != call.attributes().all().end())
      attributes.set(found->first, found->second);
  attributes.set("axis_name", axes.names);
  return attributes;
}

Attributes over(const BatchCall& call, const OpAxes& axes) {
  return over(call, axes, call.kind());
}

}  // namespace orrery::batching
