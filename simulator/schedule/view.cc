#include "simulator/schedule/view.h"

#include "models/program/rules.h"

namespace orrery {

int64_t View::elements() const {
  int64_t product = 1;
  for (const int64_t dim : dims)
    product *= dim;
  return product;
}

int64_t View::inner_run() const {
  int64_t run = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    if (dims[d] != 1 && strides[d] != run)
      break;
    run *= dims[d];
  }
  return run == 0 ? 1 : run;
}

int64_t View::offset(int64_t canonical) const {
  int64_t offset = 0;
  for (size_t d = dims.size(); d-- > 0;) {
    offset += canonical % dims[d] * strides[d];
    canonical /= dims[d];
  }
  return offset;
}

bool View::contiguous() const {
  const int64_t all = elements();
  return all == 0 || inner_run() == all;
}

View view(const TensorParts& parts) {
  if (parts.blocks <= 1 || parts.elements == 0)
    return View::whole(parts.elements);
  const int64_t run = parts.elements / (parts.blocks * parts.parts);
  return {{parts.parts, parts.blocks, run}, {run, parts.parts * run, 1}};
}

CollectiveParts collective_parts(const Op& op, const Shape& operand, const Shape& result,
                                 int64_t group_size) {
  const CollectiveForm& form = rules(op.kind).form;
  // A tensor is tiled along its parts' dimension, or stacked along a dimension of extent
  // `group_size`. Both have the same elements in the same order.
  const auto parts_of = [&](PartsRule dimension, const Shape& shape) {
    // A group of one keeps the order of its elements, whichever dimensions it adds or removes. If
    // over_no_axes(), the result of a gather lacks the dimension that its `axis` may name.
    if (dimension == nullptr || group_size == 1)
      return TensorParts{shape.elements()};
    return TensorParts{shape.elements(), group_size,
                       shape.elements_before(dimension(op.attributes, operand))};
  };
  return {parts_of(form.operand_parts, operand), parts_of(form.result_parts, result)};
}

CollectiveViews collective_views(const Op& op, const Shape& operand, const Shape& result,
                                 int64_t group_size) {
  const CollectiveParts parts = collective_parts(op, operand, result, group_size);
  return {view(parts.operand), view(parts.result)};
}

}  // namespace orrery
