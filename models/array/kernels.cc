#include "models/array/kernels.h"

#include <utility>

#include "models/array/dispatch.h"
#include "models/base/check.h"

namespace orrery {

namespace {

// Each iteration reads and writes only index i, even where pointers are equal, so iterations are
// independent, as `simd` asserts.
template <class E, class Op>
void map_pairs(E* target, const E* left, const E* right, int64_t count, Op op) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i)
    target[i] = op(left[i], right[i]);
}

template <class To, class From>
void convert_all(To* target, const From* source, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i)
    target[i] = arith::convert<To>(source[i]);
}

}  // namespace

void combine_into(Dtype dtype, Combine combine, std::byte* target, const std::byte* left,
                  const std::byte* right, int64_t count) {
  const auto map = [&](auto tag, auto op) {
    using E = typename decltype(tag)::type;
    map_pairs(reinterpret_cast<E*>(target), reinterpret_cast<const E*>(left),
              reinterpret_cast<const E*>(right), count, op);
  };
  switch (combine) {
    case Combine::None:
      break;
    case Combine::Add:
      return dispatch(dtype, [&](auto tag) {
        if constexpr (arith::kIsNumber<typename decltype(tag)::type>)
          map(tag, [](auto x, auto y) { return arith::add(x, y); });
        else
          ORRERY_CHECK(false, "pred does not add");
      });
    case Combine::Max:
      return dispatch(dtype, [&](auto tag) {
        if constexpr (arith::kIsOrdered<typename decltype(tag)::type>)
          map(tag, [](auto x, auto y) { return arith::maximum(x, y); });
        else
          ORRERY_CHECK(false, "complex numbers have no maximum");
      });
    case Combine::Min:
      return dispatch(dtype, [&](auto tag) {
        if constexpr (arith::kIsOrdered<typename decltype(tag)::type>)
          map(tag, [](auto x, auto y) { return arith::minimum(x, y); });
        else
          ORRERY_CHECK(false, "complex numbers have no minimum");
      });
  }
  ORRERY_CHECK(false, "only a reduction combines");
}

Tensor convert(const Tensor& operand, Dtype dtype) {
  Tensor result(dtype, operand.shape());
  dispatch(operand.dtype(), [&](auto from) {
    using From = typename decltype(from)::type;
    dispatch(dtype, [&](auto to) {
      using To = typename decltype(to)::type;
      convert_all(result.as<To>().data(), operand.as<From>().data(), operand.elements());
    });
  });
  return result;
}

}  // namespace orrery
