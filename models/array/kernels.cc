#include "models/array/kernels.h"

#include <utility>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "models/array/folds.h"
#include "models/array/xla_cpu.h"
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

template <class To, class From, class Op>
void map_all(To* target, const From* source, int64_t count, Op op) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i)
    target[i] = op(source[i]);
}

}  // namespace

void combine_into(Dtype dtype, Combine combine, std::byte* target, const std::byte* left,
                  const std::byte* right, int64_t count) {
  dispatch(dtype, [&](auto tag) {
    using E = typename decltype(tag)::type;
    const bool folds = arith::with_step<E>(combine, Numerics::Ieee, [&](auto step) {
      map_pairs(reinterpret_cast<E*>(target), reinterpret_cast<const E*>(left),
                reinterpret_cast<const E*>(right), count, step);
    });
    ORRERY_CHECK(
        folds,
        "only a reduction combines, pred does not add, and complex numbers have no extremum");
  });
}

Tensor convert(const Tensor& operand, Dtype dtype, Numerics numerics) {
  // There are three passes over the elements. One pass would need a further loop for each pair of
  // dtypes, and conversions would take twice the time to compile.
  if (numerics == Numerics::XlaCpu && conversion_flushes(operand.dtype(), dtype))
    return taken(convert(taken(operand, numerics), dtype), numerics);
  Tensor result(dtype, operand.shape());
  dispatch(operand.dtype(), [&](auto from) {
    using From = typename decltype(from)::type;
    dispatch(dtype, [&](auto to) {
      using To = typename decltype(to)::type;
      map_all(result.as<To>().data(), operand.as<From>().data(), operand.elements(),
              [](From x) { return arith::convert<To>(x); });
    });
  });
  return result;
}

bool conversion_flushes(Dtype from, Dtype to) {
  return from != to && !(from == Dtype::BF16 && (to == Dtype::F32 || to == Dtype::Pred));
}

Tensor taken(Tensor operand, Numerics numerics) {
  if (numerics == Numerics::XlaCpu)
    dispatch(operand.dtype(), [&](auto tag) {
      using E = typename decltype(tag)::type;
      E* const elements = operand.as<E>().data();
      map_all(elements, elements, operand.elements(),
              [](E x) { return arith::xla_cpu::flushed(x); });
    });
  return operand;
}

}  // namespace orrery
