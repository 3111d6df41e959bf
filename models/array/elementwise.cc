#include <algorithm>
#include <array>
#include <cstring>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "models/array/kernels.h"
#include "models/base/check.h"

namespace orrery {

namespace {

// Each iteration reads and writes only index i, so iterations are independent, as `simd` asserts.

template <class To, class From, class Op>
void map_each(Tensor& result, const Tensor& operand, Op op) {
  To* const target = result.as<To>().data();
  const From* const source = operand.as<From>().data();
#pragma omp simd
  for (int64_t i = 0; i < result.elements(); ++i)
    target[i] = op(source[i]);
}

constexpr int64_t kBlock = 256;

/// Blocks is an operand in blocks of elements. A scalar operand is broadcast: its block holds
/// copies of it. So pairs of operands need one compiled loop, not three, for every op and dtype.
template <class From>
class Blocks {
 public:
  Blocks(const Tensor& operand, const Tensor& result)
      : data_(operand.as<From>().data()), is_same_(operand.shape() != result.shape()) {
    if (is_same_)
      std::fill_n(same_.begin(), std::min(kBlock, result.elements()), data_[0]);
  }

  bool is_same() const { return is_same_; }
  const From* at(int64_t begin) const { return is_same_ ? same_.data() : data_ + begin; }

 private:
  const From* data_;
  bool is_same_;
  std::array<From, kBlock> same_;
};

template <class To, class From, class Op>
void map_pairs(Tensor& result, const Tensor& left, const Tensor& right, Op op) {
  To* const target = result.as<To>().data();
  const Blocks<From> xs(left, result);
  const Blocks<From> ys(right, result);
  const int64_t elements = result.elements();
  const int64_t block = xs.is_same() || ys.is_same() ? kBlock : elements;
  for (int64_t begin = 0; begin < elements; begin += block) {
    const From* const x = xs.at(begin);
    const From* const y = ys.at(begin);
    To* const to = target + begin;
    const int64_t length = std::min(block, elements - begin);
#pragma omp simd
    for (int64_t i = 0; i < length; ++i)
      to[i] = op(x[i], y[i]);
  }
}

/// Returns the shape of the result for operands of one dtype. They have one shape, or are scalars.
const Shape& common_shape(std::span<const Tensor* const> operands) {
  const Tensor* shaped = operands.front();
  for (const Tensor* operand : operands)
    if (shaped->shape().rank() == 0)
      shaped = operand;
  for (const Tensor* operand : operands) {
    ORRERY_CHECK(operand->dtype() == shaped->dtype(), "operands have one dtype");
    ORRERY_CHECK(operand->shape().rank() == 0 || operand->shape() == shaped->shape(),
                 "operands have one shape, or are scalars");
  }
  return shaped->shape();
}

template <class Use>
void with_complex(Dtype dtype, Use use) {
  dispatch(dtype, [&](auto tag) {
    if constexpr (arith::kIsComplex<typename decltype(tag)::type>)
      use(tag);
    else
      ORRERY_CHECK(false, "the dtype is complex");
  });
}

}  // namespace

Tensor elementwise(Unary op, const Tensor& operand) {
  Tensor result(operand.dtype(), operand.shape());
  dispatch(operand.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    const bool exists = arith::with_function<E>(
        op, [&](auto function) { map_each<E, E>(result, operand, function); });
    ORRERY_CHECK(exists, "of integers there is neg only, and of pred nothing");
  });
  return result;
}

namespace {

Tensor of_pairs(Binary op, const Tensor& left, const Tensor& right, Numerics numerics) {
  Tensor result(left.dtype(), common_shape(std::array{&left, &right}));
  dispatch(left.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    const bool exists = arith::with_function<E>(
        op, numerics, [&](auto function) { map_pairs<E, E>(result, left, right, function); });
    ORRERY_CHECK(exists, "pred is no number, and complex numbers have no order");
  });
  return result;
}

}  // namespace

Tensor elementwise(Binary op, const Tensor& left, const Tensor& right) {
  return of_pairs(op, left, right, Numerics::Ieee);
}

Tensor elementwise(Comparison op, const Tensor& left, const Tensor& right) {
  Tensor result(Dtype::Pred, common_shape(std::array{&left, &right}));
  dispatch(left.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    const bool exists = arith::with_function<E>(op, [&](auto holds) {
      map_pairs<arith::Pred, E>(result, left, right, [&](E x, E y) {
        return arith::Pred{static_cast<uint8_t>(holds(x, y) ? 1 : 0)};
      });
    });
    ORRERY_CHECK(exists, "complex numbers have no order");
  });
  return result;
}

Tensor real(const Tensor& operand) {
  return convert(operand, part_dtype(operand.dtype()));
}

Tensor imag(const Tensor& operand) {
  Tensor result(part_dtype(operand.dtype()), operand.shape());
  with_complex(operand.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    map_each<typename E::Component, E>(result, operand, [](E x) { return x.im; });
  });
  return result;
}

Tensor complex(const Tensor& real, const Tensor& imag) {
  const std::optional<Dtype> dtype = complex_of(real.dtype());
  ORRERY_CHECK(dtype.has_value(), "parts are of f32 or f64");
  Tensor result(*dtype, common_shape(std::array{&real, &imag}));
  with_complex(*dtype, [&](auto tag) {
    using E = typename decltype(tag)::type;
    using Component = typename E::Component;
    map_pairs<E, Component>(result, real, imag, [](Component x, Component y) { return E{x, y}; });
  });
  return result;
}

Tensor conj(const Tensor& operand) {
  if (const std::optional<Dtype> dtype = complex_of(operand.dtype()))
    return convert(operand, *dtype);
  Tensor result(operand.dtype(), operand.shape());
  with_complex(operand.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    map_each<E, E>(result, operand, [](E x) { return arith::conjugate(x); });
  });
  return result;
}

namespace {

Tensor elementwise_flushing(const Elementwise& op, std::span<const Tensor* const> operands) {
  constexpr Numerics kXla = Numerics::XlaCpu;
  const auto operand = [&](size_t k) { return taken(*operands[k], kXla); };
  if (const auto* unary = std::get_if<Unary>(&op))
    return taken(elementwise(*unary, operand(0)), kXla);
  if (const auto* comparison = std::get_if<Comparison>(&op))
    return elementwise(*comparison, operand(0), operand(1));
  return of_pairs(std::get<Binary>(op), *operands[0], *operands[1], kXla);
}

}  // namespace

Tensor elementwise(const Elementwise& op, std::span<const Tensor* const> operands,
                   Numerics numerics) {
  if (numerics == Numerics::XlaCpu && op != Elementwise(Unary::Neg))
    return elementwise_flushing(op, operands);
  if (const auto* unary = std::get_if<Unary>(&op))
    return elementwise(*unary, *operands[0]);
  if (const auto* binary = std::get_if<Binary>(&op))
    return elementwise(*binary, *operands[0], *operands[1]);
  return elementwise(std::get<Comparison>(op), *operands[0], *operands[1]);
}

Tensor select_n(const Tensor& which, std::span<const Tensor* const> cases) {
  ORRERY_CHECK(!cases.empty(), "there is a case to select");
  ORRERY_CHECK(which.dtype() == Dtype::Pred || which.dtype() == Dtype::S32,
               "cases are selected by pred or s32");
  const Shape& of_cases = common_shape(cases);
  Tensor result(cases[0]->dtype(), of_cases.rank() == 0 ? which.shape() : of_cases);
  ORRERY_CHECK(which.shape().rank() == 0 || which.shape() == result.shape(),
               "cases are selected by a scalar or element by element");
  const auto last = static_cast<int64_t>(cases.size()) - 1;
  const auto chosen = [&](int64_t i) {
    const auto at = static_cast<size_t>(which.shape().rank() == 0 ? 0 : i);
    const int64_t asked = which.dtype() == Dtype::Pred ? int64_t{which.as<uint8_t>()[at]}
                                                       : int64_t{which.as<int32_t>()[at]};
    return cases[static_cast<size_t>(std::clamp<int64_t>(asked, 0, last))];
  };
  const auto size = static_cast<size_t>(itemsize(result.dtype()).count());
  for (int64_t i = 0; i < result.elements(); ++i) {
    const Tensor& from = *chosen(i);
    const size_t offset = static_cast<size_t>(i) * size;
    std::memcpy(result.bytes().data() + offset,
                from.bytes().data() + (from.shape().rank() == 0 ? 0 : offset), size);
  }
  return result;
}

}  // namespace orrery
