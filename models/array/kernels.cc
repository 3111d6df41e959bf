#include "models/array/kernels.h"

#include <utility>

#include "models/array/dispatch.h"
#include "models/base/check.h"

namespace orrery {

namespace {

// An iteration reads at i and writes at i, whichever of the pointers are equal, so that iterations
// are independent: that is what `simd` asserts.
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

/// Calls `use` with a tag of the element type, which must not be pred.
template <class Use>
void dispatch_number(Dtype dtype, Use use) {
  dispatch(dtype, [&](auto tag) {
    if constexpr (arith::kIsNumber<typename decltype(tag)::type>)
      use(tag);
    else
      ORRERY_CHECK(false, "pred does not add, subtract or multiply");
  });
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
      return dispatch_number(
          dtype, [&](auto tag) { map(tag, [](auto x, auto y) { return arith::add(x, y); }); });
    case Combine::Max:
      return dispatch(
          dtype, [&](auto tag) { map(tag, [](auto x, auto y) { return arith::maximum(x, y); }); });
    case Combine::Min:
      return dispatch(
          dtype, [&](auto tag) { map(tag, [](auto x, auto y) { return arith::minimum(x, y); }); });
  }
  ORRERY_CHECK(false, "only a reduction combines");
}

Tensor elementwise(Elementwise op, const Tensor& left, const Tensor& right) {
  ORRERY_CHECK(left.dtype() == right.dtype(), "operands have one dtype");
  ORRERY_CHECK(left.shape() == right.shape(), "operands have one shape");
  Tensor result(left.dtype(), left.shape());
  dispatch_number(left.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    const auto map = [&](auto function) {
      map_pairs(result.as<E>().data(), left.as<E>().data(), right.as<E>().data(), result.elements(),
                function);
    };
    switch (op) {
      case Elementwise::Add:
        return map([](E x, E y) { return arith::add(x, y); });
      case Elementwise::Sub:
        return map([](E x, E y) { return arith::subtract(x, y); });
      case Elementwise::Mul:
        return map([](E x, E y) { return arith::multiply(x, y); });
    }
  });
  return result;
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
