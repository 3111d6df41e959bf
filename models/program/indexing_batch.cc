// This file has the batch rules of ops whose integer operands say where elements lie. If these
// integers are batched, each element of the batch has an op of its own.

#include <algorithm>

#include "models/program/batch_ops.h"
#include "models/program/families.h"

namespace orrery::batching {

namespace {

/// Returns the operands of an op that takes `arrays` arrays and then start indices, one per
/// dimension. The arrays get the batch along `batch`, which gets a start index of 0.
std::vector<std::string> with_start(BatchCall& call, size_t arrays, size_t batch) {
  std::vector<std::string> operands;
  for (size_t k = 0; k < arrays; ++k)
    operands.push_back(batched_at(call, k, batch).value);
  for (size_t k = arrays; k < call.operands(); ++k)
    operands.push_back(call.operand(k).value);
  operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(arrays + batch),
                  op(call, OpKind::Full, {},
                     given({{"shape", Integers()}, {"fill_value", 0.0}, {"dtype", Dtype::S32}})));
  return operands;
}

bool has_batched_starts(const BatchCall& call, size_t arrays) {
  for (size_t k = arrays; k < call.operands(); ++k)
    if (call.operand(k).dimension)
      return true;
  return false;
}

}  // namespace

BatchOutcome dynamic_slice(BatchCall& call) {
  if (has_batched_starts(call, 1))
    return one_by_one(call);
  const size_t batch = *call.operand(0).dimension;
  Integers sizes = with_own(call.attributes().integers("slice_sizes"), batch, call.size());
  return result(op(call, OpKind::DynamicSlice, with_start(call, 1, batch),
                   given({{"slice_sizes", std::move(sizes)}})),
                batch);
}

BatchOutcome dynamic_update_slice(BatchCall& call) {
  if (has_batched_starts(call, 2))
    return one_by_one(call);
  const size_t batch = *(call.operand(0).dimension ? call.operand(0) : call.operand(1)).dimension;
  return result(op(call, OpKind::DynamicUpdateSlice, with_start(call, 2, batch)), batch);
}

BatchOutcome take(BatchCall& call) {
  const std::optional<size_t> rows = call.operand(0).dimension;
  const std::optional<size_t> indices = call.operand(1).dimension;
  if (rows && indices)
    return one_by_one(call);
  const auto axis = static_cast<size_t>(call.attributes().integer("axis"));
  if (indices)
    return same_op(call, call.attributes(), axis + *indices);
  Attributes attributes = call.attributes();
  attributes.set("axis", shifted(static_cast<int64_t>(axis), *rows));
  // The dimensions of the indices replace the axis.
  const size_t rank = call.operand_type(1).shape.rank();
  return same_op(call, std::move(attributes), *rows <= axis ? *rows : *rows + rank - 1);
}

BatchOutcome scatter_add(BatchCall& call) {
  if (call.operand(2).dimension)
    return one_by_one(call);
  Attributes attributes = call.attributes();
  attributes.set("axis", attributes.integer("axis") + 1);
  return result(
      op(call, OpKind::ScatterAdd,
         {batched_at(call, 0, 0).value, batched_at(call, 1, 0).value, call.operand(2).value},
         std::move(attributes)),
      0);
}

}  // namespace orrery::batching
