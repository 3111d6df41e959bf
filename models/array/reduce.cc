// reduce of kernels.h: the reduced dimensions become the outermost, so that whole rows are combined
// into the result.

#include <algorithm>
#include <limits>
#include <utility>

#include "models/array/dispatch.h"
#include "models/array/kernels.h"
#include "models/base/check.h"

namespace orrery {

namespace {

/// The identity of the reduction.
template <class E>
E identity(Combine combine) {
  if (combine == Combine::Add)
    return arith::convert<E>(arith::S64{0});
  const bool low = combine == Combine::Max;
  if constexpr (arith::kIsComplex<E>) {
    fail_check("combine == Combine::Add", "complex numbers have no order", __FILE__, __LINE__);
  } else if constexpr (arith::kSame<E, arith::F8E4M3FN>) {  // nothing is infinite
    return arith::convert<E>(arith::F64{low ? -448.0 : 448.0});
  } else if constexpr (arith::kIsFloat<E>) {
    const double infinity = std::numeric_limits<double>::infinity();
    return arith::convert<E>(arith::F64{low ? -infinity : infinity});
  } else if constexpr (arith::kIsInteger<E>) {
    using Int = decltype(E::value);
    return {low ? arith::kSmallest<Int> : arith::kLargest<Int>};
  } else {
    return {static_cast<uint8_t>(low ? 0 : 1)};
  }
}

}  // namespace

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
    std::fill(result.as<E>().begin(), result.as<E>().end(), identity<E>(combine));
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
