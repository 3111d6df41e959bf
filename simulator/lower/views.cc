#include "simulator/lower/views.h"

#include "models/base/check.h"

namespace orrery {
namespace {

/// One part for each rank, side by side along a dimension: `blocks` times (the product of the
/// extents before that dimension), a run of each part follows the run of the part before.
View parts_side_by_side(int64_t parts, int64_t blocks, int64_t run) {
  if (blocks <= 1 || run == 0)
    return View::whole(parts * blocks * run);
  return {{parts, blocks, run}, {run, parts * run, 1}};
}

/// A tensor made of `parts` tensors of shape `part` along `dimension`, tiled or stacked: both have
/// the same elements in the same order.
View gathered(int64_t parts, const Shape& part, size_t dimension) {
  return parts_side_by_side(parts, part.elements_before(dimension), part.elements_from(dimension));
}

/// `whole`, cut in `parts` along `dimension`.
View scattered(int64_t parts, const Shape& whole, size_t dimension) {
  return parts_side_by_side(parts, whole.elements_before(dimension),
                            whole.elements_from(dimension) / parts);
}

/// The dimension that all_gather's `axis` names: of the result, from its end where negative.
size_t gather_dimension(const Op& op, const Shape& operand) {
  const int64_t axis = op.attributes.integer("axis");
  const int64_t rank =
      static_cast<int64_t>(operand.rank()) + (op.attributes.boolean("tiled") ? 0 : 1);
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

}  // namespace

CollectiveViews collective_views(const Op& op, const Shape& operand, int64_t group_size) {
  const View whole = View::whole(operand.elements());
  // A group of one keeps its elements in their order, whatever dimensions come and go; over no
  // axes, the parameters need not even name any.
  if (group_size == 1)
    return {whole, whole};
  switch (op.kind) {
    case OpKind::Psum:
    case OpKind::Pmax:
    case OpKind::Ppermute:
      return {whole, whole};
    case OpKind::AllGather:
      return {whole, gathered(group_size, operand, gather_dimension(op, operand))};
    case OpKind::PsumScatter: {
      const auto dimension = static_cast<size_t>(op.attributes.integer("scatter_dimension"));
      return {scattered(group_size, operand, dimension),
              View::whole(operand.elements() / group_size)};
    }
    case OpKind::AllToAll: {
      const auto split = static_cast<size_t>(op.attributes.integer("split_axis"));
      const auto concat = static_cast<size_t>(op.attributes.integer("concat_axis"));
      const Shape part = op.attributes.boolean("tiled")
                             ? operand.with(split, operand[split] / group_size)
                             : operand.without(split);
      return {scattered(group_size, operand, split), gathered(group_size, part, concat)};
    }
    default:
      fail_check("op.kind is a collective", "only collectives have views", __FILE__, __LINE__);
  }
}

}  // namespace orrery
