#include "simulator/lower/views.h"

#include "models/program/rules.h"

namespace orrery {
namespace {

/// A tensor that has a part for each rank along `dimension`: tiled, or stacked along a dimension of
/// extent `parts`; both have the same elements in the same order. A run of each part follows the
/// run of the part before, once for each setting of the dimensions before.
View in_parts(int64_t parts, const Shape& shape, size_t dimension) {
  const int64_t blocks = shape.elements_before(dimension);
  const int64_t run = shape.elements_from(dimension) / parts;
  if (blocks <= 1 || run == 0)
    return View::whole(parts * blocks * run);
  return {{parts, blocks, run}, {run, parts * run, 1}};
}

}  // namespace

CollectiveViews collective_views(const Op& op, const Shape& operand, const Shape& result,
                                 int64_t group_size) {
  const CollectiveForm& form = rules(op.kind).form;
  const auto view = [&](PartsRule parts, const Shape& shape) {
    // A group of one keeps its elements in their order, whatever dimensions come and go; over no
    // axes, the parameters need not even name any.
    return parts == nullptr || group_size == 1
               ? View::whole(shape.elements())
               : in_parts(group_size, shape, parts(op.attributes, operand));
  };
  return {view(form.operand_parts, operand), view(form.result_parts, result)};
}

}  // namespace orrery
