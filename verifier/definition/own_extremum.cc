// This file finds which elements of an array are its extremum, as the backward passes of reduce_max
// and reduce_min ask: eq(x, broadcast_in_dim(reduce_max(x))). A comparison with a rounded float
// that is equal decides nothing. But if only one element of a slice may be the extremum, that
// element is it, whatever its error.

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/array/arith.h"
#include "models/array/kernels.h"
#include "verifier/definition/bound_tensor.h"
#include "verifier/definition/local_bounds.h"

namespace orrery {

namespace {

/// Returns the dimensions of an array of this rank without `axes`.
std::vector<int64_t> dimensions_without(size_t rank, const std::vector<int64_t>& axes) {
  std::vector<int64_t> dimensions;
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d)
    if (std::ranges::find(axes, d) == axes.end())
      dimensions.push_back(d);
  return dimensions;
}

}  // namespace

const Op* LocalBounds::maker(ValueId value, OpKind kind) const {
  const std::optional<OpId> id = made_by_[value.index()];
  return id && program_.op(*id).kind == kind ? &program_.op(*id) : nullptr;
}

std::optional<std::vector<int64_t>> LocalBounds::own_extremum_axes(const Op& op) const {
  if (op.kind != OpKind::Eq)
    return std::nullopt;
  const Op* const spread = maker(op.operands[1], OpKind::BroadcastInDim);
  if (spread == nullptr)
    return std::nullopt;
  for (const OpKind kind : {OpKind::ReduceMax, OpKind::ReduceMin}) {
    const Op* const reduced = maker(spread->operands[0], kind);
    if (reduced == nullptr || reduced->operands[0] != op.operands[0])
      continue;
    const Shape& shape = program_.value(op.operands[0]).type.shape;
    const std::vector<int64_t>& axes = reduced->attributes.integers("axes");
    const bool in_place = program_.value(op.operands[1]).type.shape == shape &&
                          spread->attributes.integers("broadcast_dimensions") ==
                              dimensions_without(shape.rank(), axes);
    return in_place ? std::optional(axes) : std::nullopt;
  }
  return std::nullopt;
}

Tensor with_known_extrema(Tensor bound, const Tensor& is_extremum, const Tensor& error,
                          const std::vector<int64_t>& axes) {
  const Shape shape = bound.shape();
  const Tensor open = each(bound, [](double b, size_t) { return b == 0 ? 0 : 1; });
  const Tensor open_in_slice = broadcast_in_dim(reduce(open, Combine::Add, axes), shape,
                                                dimensions_without(shape.rank(), axes));
  return each(std::move(bound), [&](double b, size_t i) {
    // Each count is a little more than a whole number, as all bounds are enlarged.
    const bool alone = open_in_slice.as<double>()[i] < 1.5;
    const bool equal = is_extremum.as<arith::Pred>()[i].value != 0;
    return alone && equal && std::isfinite(element(error, i)) ? 0 : b;
  });
}

}  // namespace orrery
