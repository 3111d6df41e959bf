// This file has the backward rules of the reductions along dimensions, and of products.

#include <algorithm>
#include <numeric>

#include "models/program/backward_ops.h"
#include "models/program/families.h"

namespace orrery::backward {

namespace {

using enum OpKind;
using Dims = std::vector<int64_t>;

/// Repeats a reduced value for each element from which it was reduced.
std::string spread(BackwardCall& call, const std::string& reduced) {
  const Shape& shape = call.operand_type(0).shape;
  const Dims& axes = call.attributes().integers("axes");
  Dims kept;
  for (size_t d = 0; d < shape.rank(); ++d)
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) == axes.end())
      kept.push_back(static_cast<int64_t>(d));
  return call.ops().op(BroadcastInDim, {reduced},
                       with({{"shape", dims_of(shape)}, {"broadcast_dimensions", kept}}));
}

/// Returns the dimensions of an operand of this rank that are neither contracted nor of the batch.
Dims free_dims(size_t rank, const Dims& contracted, const Dims& batch) {
  Dims free;
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d)
    if (std::find(contracted.begin(), contracted.end(), d) == contracted.end() &&
        std::find(batch.begin(), batch.end(), d) == batch.end())
      free.push_back(d);
  return free;
}

/// Returns `count` numbers from `first` on.
Dims numbers(size_t first, size_t count) {
  Dims all(count);
  std::iota(all.begin(), all.end(), static_cast<int64_t>(first));
  return all;
}

/// Returns the cotangent of one side of a product. It is the result's cotangent times the other
/// side, summed over the other side's free dimensions.
std::string of_side(BackwardCall& call, size_t side) {
  const std::vector<Dims>& lists = call.attributes().lists("dimension_numbers");
  const Dims& mine = lists[side];
  const Dims& theirs = lists[1 - side];
  const Dims& my_batch = lists[2 + side];
  const Dims& their_batch = lists[3 - side];
  const size_t my_rank = call.operand_type(side).shape.rank();
  const size_t their_rank = call.operand_type(1 - side).shape.rank();
  const Dims my_free = free_dims(my_rank, mine, my_batch);
  const Dims their_free = free_dims(their_rank, theirs, their_batch);
  // The result has the batch dimensions, then the free ones of the first operand, then of the
  // second.
  const size_t batch = my_batch.size();
  const Dims in_result = numbers(side == 0 ? batch + my_free.size() : batch, their_free.size());
  const std::vector<Dims> product = {in_result, their_free, numbers(0, batch), their_batch};
  const Dtype dtype = call.operand_type(side).dtype;
  const Dtype wide = call.result_type().dtype;  // f32 for sums of bf16
  const std::string other = converted(call, call.operand(1 - side), dtype, wide);
  const std::string made = converted(
      call,
      call.ops().op(DotGeneral, {call.cotangent(), other}, with({{"dimension_numbers", product}})),
      wide, dtype);
  // The product has the batch dimensions, my free ones, and the contracted ones, in the order in
  // which the other side has them.
  Dims by_theirs(theirs.size());
  std::iota(by_theirs.begin(), by_theirs.end(), 0);
  std::sort(by_theirs.begin(), by_theirs.end(), [&](int64_t a, int64_t b) {
    return theirs[static_cast<size_t>(a)] < theirs[static_cast<size_t>(b)];
  });
  Dims order(my_batch);
  order.insert(order.end(), my_free.begin(), my_free.end());
  for (const int64_t k : by_theirs)
    order.push_back(mine[static_cast<size_t>(k)]);
  Dims permutation(order.size());
  for (size_t at = 0; at < order.size(); ++at)
    permutation[static_cast<size_t>(order[at])] = static_cast<int64_t>(at);
  if (std::is_sorted(permutation.begin(), permutation.end()))
    return made;
  return call.ops().op(Transpose, {made}, with({{"permutation", permutation}}));
}

}  // namespace

Cotangents reduce_sum(BackwardCall& call) {
  return one(call, [&] { return spread(call, call.cotangent()); });
}

/// Elements that are equal to the extremum share its cotangent.
Cotangents reduce_extremum(BackwardCall& call) {
  return one(call, [&] {
    const Dtype dtype = call.result_type().dtype;
    const std::string is_extremum = op(call, Eq, {call.operand(0), spread(call, call.result())});
    const std::string ones = converted(call, is_extremum, Dtype::Pred, dtype);
    const std::string count =
        call.ops().op(ReduceSum, {ones}, with({{"axes", call.attributes().integers("axes")}}));
    const std::string shared = quotient(call, call.cotangent(), count);
    return op(call, Mul, {spread(call, shared), ones});
  });
}

Cotangents dot_general(BackwardCall& call) {
  Cotangents cotangents(2);
  for (size_t side = 0; side < 2; ++side)
    if (call.wants(side))
      cotangents[side] = of_side(call, side);
  return cotangents;
}

Cotangents dot_product_attention(BackwardCall& call) {
  Cotangents cotangents;
  if (is_unreduced(call, call.cotangent())) {
    call.refuse("attention has no gradient of reduced operands");
    return Cotangents(call.operands());
  }
  for (std::string& cotangent :
       call.ops().add_op(OpKind::DotProductAttentionVjp,
                         {call.operand(0), call.operand(1), call.operand(2), call.cotangent()},
                         call.attributes(), {}, 3))
    cotangents.emplace_back(std::move(cotangent));
  return cotangents;
}

}  // namespace orrery::backward
