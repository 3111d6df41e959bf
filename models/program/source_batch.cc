// This file has the batch rules of casts, of axis_index and axis_size, and of compute.

#include <algorithm>
#include <limits>

#include "models/program/batch_ops.h"
#include "models/program/families.h"
#include "models/program/groups.h"

namespace orrery::batching {

namespace {

using enum OpKind;

int64_t size_of(const BatchCall& call) {
  return call.mesh().size(axis_positions(call.mesh(), call.attributes().names("axis_name")));
}

ShapedValue s32(BatchCall& call, int64_t value) {
  std::string made = op(call, Full, {},
                        given({{"shape", Integers()},
                               {"fill_value", static_cast<double>(value)},
                               {"dtype", Dtype::S32}}));
  return {std::move(made), Shape()};
}

}  // namespace

BatchOutcome cast(BatchCall& call) {
  const OpAxes axes = axes_of(call);
  const Batched& operand = call.operand(0);
  if (axes.batched && axes.names.empty())
    return std::vector<Batched>{operand};
  return same_op(call, over(call, axes), operand.dimension);
}

BatchOutcome axis_index(BatchCall& call) {
  const OpAxes axes = axes_of(call);
  std::string index = op(
      call, Iota, {},
      given({{"shape", Integers{call.size()}}, {"dtype", Dtype::S32}, {"dimension", int64_t{0}}}));
  if (axes.names.empty())
    return result(index, 0);
  // The index is ((before * size) + own) * after + last, over the axes before the batched one, the
  // batched one, and the axes after it.
  const auto first_after = [&] {
    const auto& all = call.attributes().names("axis_name");
    return std::find(all.begin(), all.end(), *call.axis()) - all.begin();
  }();
  const std::vector<std::string> before(axes.names.begin(), axes.names.begin() + first_after);
  const std::vector<std::string> after(axes.names.begin() + first_after, axes.names.end());
  const auto times = [&](const std::string& value, int64_t factor) {
    return factor == 1 ? value : op(call, Mul, {value, s32(call, factor).value});
  };
  const auto index_over = [&](const std::vector<std::string>& names) {
    return op(call, AxisIndex, {}, given({{"axis_name", names}}));
  };
  index = times(index, axes.after);
  if (!before.empty())
    index = op(call, Add, {index, times(index_over(before), call.size() * axes.after)});
  if (!after.empty())
    index = op(call, Add, {index, index_over(after)});
  return result(index, 0);
}

BatchOutcome axis_size(BatchCall& call) {
  return result(s32(call, size_of(call)).value, std::nullopt);
}

// The op does as many operations, and moves as many bytes, as the elements of the batch one by one.
BatchOutcome compute(BatchCall& call) {
  Attributes attributes = call.attributes();
  if (attributes.has("in_place_of") &&
      !call.operand(static_cast<size_t>(attributes.integer("in_place_of"))).dimension)
    return "\"in_place_of\" an operand that is not batched, and has no room for the result";
  attributes.set("flops", Flops(checked_multiply(attributes.flops("flops").count(), call.size())));
  attributes.set("bytes", attributes.bytes("bytes") * call.size());
  if (attributes.has("scratch"))
    attributes.set("scratch", attributes.bytes("scratch") * call.size());
  if (attributes.has("backward")) {
    const Work one = attributes.work("backward");
    attributes.set("backward", Work{one.flops * call.size(), one.bytes * call.size()});
  }
  if (!attributes.has("shape")) {
    std::vector<std::string> operands;
    for (size_t k = 0; k < call.operands(); ++k)
      operands.push_back(call.operand(k).value);
    call.op(Compute, std::move(operands), std::move(attributes), 0);
    return std::vector<Batched>();
  }
  attributes.set("shape", with_own(attributes.integers("shape"), 0, call.size()));
  return same_op(call, std::move(attributes), 0);
}

}  // namespace orrery::batching
