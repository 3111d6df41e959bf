// This file has the batch rules of ops that fold dimensions. For each element of the batch, the
// same elements are folded in the same order as without the batch.

#include <algorithm>

#include "models/program/batch_ops.h"
#include "models/program/families.h"

namespace orrery::batching {

BatchOutcome reduction(BatchCall& call) {
  const size_t batch = *call.operand(0).dimension;
  size_t before = 0;  // how many folded axes come before the batch
  Integers axes;
  for (const int64_t axis : call.attributes().integers("axes")) {
    axes.push_back(shifted(axis, batch));
    before += axes.back() < static_cast<int64_t>(batch) ? 1 : 0;
  }
  return same_op(call, given({{"axes", std::move(axes)}}), batch - before);
}

namespace {

/// Returns how many dimensions before `end` are in neither list.
size_t free_before(size_t end, const Integers& contracting, const Integers& batch) {
  size_t count = 0;
  for (size_t d = 0; d < end; ++d) {
    const auto is = [&](int64_t other) { return other == static_cast<int64_t>(d); };
    if (std::none_of(contracting.begin(), contracting.end(), is) &&
        std::none_of(batch.begin(), batch.end(), is))
      ++count;
  }
  return count;
}

}  // namespace

BatchOutcome dot_general(BatchCall& call) {
  const std::optional<size_t> lhs = call.operand(0).dimension;
  const std::optional<size_t> rhs = call.operand(1).dimension;
  std::vector<Integers> lists = call.attributes().lists("dimension_numbers");
  for (const size_t side : {size_t{0}, size_t{1}})
    if (const std::optional<size_t> batch = call.operand(side).dimension)
      for (const size_t list : {side, side + 2})
        for (int64_t& dimension : lists[list])
          dimension = shifted(dimension, *batch);
  // The result has the batch dimensions, then the free ones of the first and of the second operand.
  size_t dimension = 0;
  if (lhs && rhs) {
    lists[2].insert(lists[2].begin(), static_cast<int64_t>(*lhs));
    lists[3].insert(lists[3].begin(), static_cast<int64_t>(*rhs));
  } else if (lhs) {
    dimension = lists[2].size() + free_before(*lhs, lists[0], lists[2]);
  } else {
    dimension = lists[2].size() +
                free_before(call.operand_type(0).shape.rank(), lists[0], lists[2]) +
                free_before(*rhs, lists[1], lists[3]);
  }
  Attributes attributes = call.attributes();
  attributes.set("dimension_numbers", std::move(lists));
  return same_op(call, std::move(attributes), dimension);
}

BatchOutcome attention(BatchCall& call) {
  std::vector<std::string> operands;
  for (size_t k = 0; k < call.operands(); ++k)
    operands.push_back(batched_at(call, k, 0).value);
  std::vector<Batched> results;
  for (std::string& result : call.op(call.kind(), std::move(operands), call.attributes(),
                                     rules(call.kind()).most_results))
    results.push_back({std::move(result), 0});
  return results;
}

}  // namespace orrery::batching
