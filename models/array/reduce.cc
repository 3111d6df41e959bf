// This file has reduce of kernels.h. The reduced dimensions become the outermost, so that whole
// rows are combined into the result.

#include <algorithm>
#include <utility>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "models/array/folds.h"
#include "models/array/kernels.h"

namespace orrery {

Dtype reduced_sum_dtype(Dtype dtype) {
  return is_float(dtype) && itemsize(dtype) < itemsize(Dtype::F32) ? Dtype::F32 : dtype;
}

Tensor reduce(const Tensor& operand, Combine combine, std::span<const int64_t> axes,
              Numerics numerics) {
  const Shape& from = operand.shape();
  std::vector<int64_t> order(axes.begin(), axes.end());
  std::sort(order.begin(), order.end());
  std::vector<int64_t> kept;
  for (size_t d = 0; d < from.rank(); ++d) {
    const auto dimension = static_cast<int64_t>(d);
    if (std::find(axes.begin(), axes.end(), dimension) != axes.end())
      continue;
    order.push_back(dimension);
    kept.push_back(from[d]);
  }
  const Dtype wide = combine == Combine::Add ? reduced_sum_dtype(operand.dtype()) : operand.dtype();
  const Tensor rows = convert(taken(transpose(operand, order), numerics), wide);

  Tensor result(wide, Shape(std::move(kept)));
  dispatch(wide, [&](auto tag) {
    using E = typename decltype(tag)::type;
    std::fill(result.as<E>().begin(), result.as<E>().end(), arith::identity<E>(combine));
  });
  const size_t size = result.bytes().size();
  for (size_t at = 0; at < rows.bytes().size(); at += size) {
    std::byte* const folded = result.bytes().data();
    combine_into(wide, combine, folded, folded, rows.bytes().data() + at, result.elements());
    result = taken(std::move(result), numerics);
  }
  return convert(result, operand.dtype());
}

}  // namespace orrery
