// This file has the batch rule of ops that work element by element. All arrays get the batch along
// one dimension. A scalar operand goes with an array of any shape, so it stays as it is unless it
// is batched.

#include "models/program/batch_ops.h"
#include "models/program/families.h"

namespace orrery::batching {

namespace {

/// Returns a batched scalar as an array. Each element of the batch has `shape`.
ShapedValue spread(BatchCall& call, const std::string& value, const Shape& shape, size_t batch) {
  Shape wide = shape.inserted(batch, call.size());
  std::string made = op(call, OpKind::BroadcastInDim, {value},
                        given({{"shape", dims_of(wide)},
                               {"broadcast_dimensions", Integers{static_cast<int64_t>(batch)}}}));
  return {std::move(made), std::move(wide)};
}

}  // namespace

BatchOutcome elementwise(BatchCall& call) {
  const Shape& shape = call.result_type().shape;
  size_t batch = 0;
  for (size_t k = call.operands(); k-- > 0;)
    if (call.operand(k).dimension && call.operand_type(k).shape.rank() > 0)
      batch = *call.operand(k).dimension;
  std::vector<std::string> operands;
  for (size_t k = 0; k < call.operands(); ++k) {
    const Batched& operand = call.operand(k);
    const bool scalar = call.operand_type(k).shape.rank() == 0;
    if (scalar && (!operand.dimension || shape.rank() == 0))
      operands.push_back(operand.value);
    else if (scalar)
      operands.push_back(spread(call, operand.value, shape, batch).value);
    else
      operands.push_back(batched_at(call, k, batch).value);
  }
  return result(op(call, call.kind(), std::move(operands), call.attributes()), batch);
}

}  // namespace orrery::batching
