#include "models/array/work.h"

#include <cstring>
#include <limits>
#include <utility>

#include "models/array/dispatch.h"
#include "models/array/kernels.h"
#include "models/array/xla_cpu.h"
#include "models/base/check.h"

namespace orrery {

namespace {

constexpr size_t kRankSize = sizeof(int32_t);

/// An element and its rank, adjacent in memory.
template <class E>
struct Ranked {
  static constexpr size_t kSize = sizeof(E) + kRankSize;

  static Ranked load(const std::byte* from) {
    Ranked loaded;
    std::memcpy(&loaded.value, from, sizeof(E));
    std::memcpy(&loaded.rank, from + sizeof(E), kRankSize);
    return loaded;
  }
  void store(std::byte* to) const {
    std::memcpy(to, &value, sizeof(E));
    std::memcpy(to + sizeof(E), &rank, kRankSize);
  }

  E value;
  int32_t rank;
};

/// A total order (NaN first; by XlaCpu last), so that a reduction gives the same result in any
/// order.
template <class E>
bool comes_first([[maybe_unused]] Combine combine, [[maybe_unused]] Numerics numerics,
                 const Ranked<E>& a, const Ranked<E>& b) {
  if constexpr (arith::kIsOrdered<E>) {
    if (arith::is_nan(a.value) || arith::is_nan(b.value))
      return arith::is_nan(numerics == Numerics::XlaCpu ? b.value : a.value);
    const E& x = combine == Combine::Max ? b.value : a.value;
    const E& y = combine == Combine::Max ? a.value : b.value;
    return arith::less(x, y) || (!arith::less(y, x) && a.rank < b.rank);
  } else {
    fail_check("the elements are ordered", "complex numbers have no extremum", __FILE__, __LINE__);
  }
}

/// `values` are the operand's, as they are held.
template <class E>
Storage ranked(const Tensor& operand, const Tensor& values, Rank rank) {
  Storage work(static_cast<size_t>(operand.elements()) * Ranked<E>::kSize);
  std::byte* to = work.data();
  for (size_t i = 0; i < operand.as<E>().size(); ++i) {
    const bool none = arith::is_nan(operand.as<E>()[i]);
    Ranked<E>{values.as<E>()[i], none ? kNoRank : static_cast<int32_t>(rank.index())}.store(to);
    to += Ranked<E>::kSize;
  }
  return work;
}

Tensor ranks_of(WorkType type, const Storage& work, Shape shape) {
  Tensor result(Dtype::S32, std::move(shape));
  const auto item = static_cast<size_t>(itemsize(type).count());
  const std::byte* from = work.data();  // null where there are no elements
  for (int32_t& rank : result.as<int32_t>()) {
    std::memcpy(&rank, from + item - kRankSize, kRankSize);
    from += item;
  }
  return result;
}

/// The dtype in which XLA on the CPU keeps sums of floats narrower than f32.
Dtype xla_sum_dtype(Dtype dtype) {
  switch (dtype) {
    case Dtype::BF16:
      return Dtype::F32;
    case Dtype::F8E4M3FN:
    case Dtype::F8E5M2:
      return Dtype::F16;
    default:
      return dtype;
  }
}

/// What a sum or an extremum of XLA on the CPU starts from, folded with the first element.
template <class E>
E started(Combine combine, E x) {
  if constexpr (arith::kIsComplex<E>) {
    return {started(combine, x.re), started(combine, x.im)};
  } else if constexpr (arith::kIsFloat<E>) {
    if (combine == Combine::Add)
      return arith::xla_cpu::add(arith::convert<E>(arith::S64{0}), x);
    const double least = combine == Combine::Max ? -std::numeric_limits<double>::infinity()
                                                 : std::numeric_limits<double>::infinity();
    const E start = arith::convert<E>(arith::F64{least});
    return combine == Combine::Max ? arith::xla_cpu::later_if_larger(start, x)
                                   : arith::xla_cpu::later_if_smaller(start, x);
  } else {
    return x;
  }
}

/// A NaN that an extremum passes over counts as what the fold starts from, on any rank; a sum
/// starts on the first.
Tensor started(const Folding& folding, Tensor operand, Rank rank) {
  if (folding.combine == Combine::Add && rank != Rank(0))
    return operand;
  dispatch(operand.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    for (E& element : operand.as<E>())
      element = started(folding.combine, element);
  });
  return operand;
}

template <class E>
void combine_ranked(const Folding& folding, Combine combine, std::byte* target,
                    const std::byte* left, const std::byte* right, int64_t count) {
  constexpr auto kSize = static_cast<ptrdiff_t>(Ranked<E>::kSize);
  for (ptrdiff_t at = 0; at < count * kSize; at += kSize) {
    const auto a = Ranked<E>::load(left + at);
    const auto b = Ranked<E>::load(right + at);
    (comes_first(combine, folding.numerics, a, b) ? a : b).store(target + at);
  }
}

/// A step of a fold by XLA on the CPU.
template <class E>
E combined(Combine combine, E acc, E x) {
  if (combine == Combine::Add)
    return arith::xla_cpu::add(acc, x);
  if constexpr (arith::kIsOrdered<E>)
    return combine == Combine::Max ? arith::xla_cpu::later_if_larger(acc, x)
                                   : arith::xla_cpu::later_if_smaller(acc, x);
  fail_check("the elements are ordered", "complex numbers have no extremum", __FILE__, __LINE__);
}

/// Multiplies by 1 / ranks, or divides, as XLA on the CPU does. It divides complex numbers by
/// Smith's formula (Communications of the ACM 5, 1962), also where the divisor's imaginary part is
/// 0.
template <class E>
E xla_mean(E sum, int64_t ranks) {
  namespace xla = arith::xla_cpu;
  if constexpr (arith::kIsComplex<E>) {
    if (ranks == 1)
      return sum;
    constexpr typename E::Part kZero = {0};
    return {xla_mean(xla::add(sum.re, xla::multiply(sum.im, kZero)), ranks),
            xla_mean(xla::subtract(sum.im, xla::multiply(sum.re, kZero)), ranks)};
  } else {
    const E count = arith::convert<E>(arith::S64{ranks});
    const bool multiplies =
        arith::kSame<E, arith::F16> || arith::kSame<E, arith::F32> || arith::kSame<E, arith::F64>;
    if (!multiplies)
      return xla::divide(sum, count);
    return xla::multiply(sum, arith::divide(arith::convert<E>(arith::S64{1}), count));
  }
}

/// Divides in doubles, since the number of ranks is not always one of the dtype, nor the quotient
/// of two f32 close enough: rounded again, a double is what the exact quotient would be. Of a
/// complex number, each part.
template <class E>
E divided(E sum, int64_t ranks) {
  if constexpr (arith::kIsComplex<E>)
    return {divided(sum.re, ranks), divided(sum.im, ranks)};
  else
    return arith::round<E>(static_cast<double>(arith::widen(sum)) / static_cast<double>(ranks));
}

Tensor divided(Tensor sum, int64_t ranks) {
  if (ranks == 1)
    return sum;  // with the bits of its NaNs
  dispatch(sum.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    if constexpr (arith::kIsFloat<E> || arith::kIsComplex<E>) {
      for (E& element : sum.as<E>())
        element = divided(element, ranks);
    } else {
      ORRERY_CHECK(false, "a mean is a float or complex");
    }
  });
  return sum;
}

}  // namespace

Tensor mean_of(Tensor sums, int64_t ranks, Numerics numerics) {
  if (numerics == Numerics::Ieee)
    return divided(std::move(sums), ranks);
  dispatch(sums.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    if constexpr (arith::kIsFloat<E> || arith::kIsComplex<E>) {
      for (E& element : sums.as<E>())
        element = xla_mean(element, ranks);
    } else {
      ORRERY_CHECK(false, "a mean is a float or complex");
    }
  });
  return sums;
}

Bytes itemsize(WorkType type) {
  return itemsize(type.dtype) + Bytes(type.ranked ? int64_t{kRankSize} : 0);
}

Dtype summed_dtype(Dtype operand) {
  return operand == Dtype::Pred ? Dtype::S32 : operand;
}

Dtype dividing_dtype(Dtype dtype, int64_t ranks) {
  if (has_exactly(dtype, static_cast<double>(ranks)))
    return dtype;
  return is_complex(dtype) ? Dtype::C128 : Dtype::F64;
}

WorkType work_type(Entering entering, Dtype operand) {
  return {entering == Entering::Counted ? summed_dtype(operand) : operand,
          entering == Entering::Ranked};
}

Folding folding(WorkType type, Combine combine, Numerics numerics) {
  if (combine == Combine::None)
    numerics = Numerics::Ieee;
  if (numerics == Numerics::XlaCpu && combine == Combine::Add)
    type.dtype = xla_sum_dtype(type.dtype);
  return {type, numerics, combine};
}

Storage enter(Entering entering, const Folding& folding, const Tensor& operand, Rank rank) {
  Tensor values = convert(operand, folding.held.dtype);
  if (folding.numerics == Numerics::XlaCpu)
    values = started(folding, std::move(values), rank);
  if (entering != Entering::Ranked)
    return std::move(values).take_bytes();
  return dispatch(operand.dtype(), [&](auto tag) {
    return ranked<typename decltype(tag)::type>(operand, values, rank);
  });
}

void combine_into(const Folding& folding, Combine combine, std::byte* target, const std::byte* left,
                  const std::byte* right, int64_t count) {
  const WorkType type = folding.held;
  if (type.ranked) {
    ORRERY_CHECK(combine == Combine::Max || combine == Combine::Min,
                 "ranked elements have an order and no sum");
    return dispatch(type.dtype, [&](auto tag) {
      combine_ranked<typename decltype(tag)::type>(folding, combine, target, left, right, count);
    });
  }
  if (folding.numerics == Numerics::Ieee || !is_inexact(type.dtype))
    return combine_into(type.dtype, combine, target, left, right, count);
  dispatch(type.dtype, [&](auto tag) {
    using E = typename decltype(tag)::type;
    if constexpr (arith::kIsFloat<E> || arith::kIsComplex<E>) {
      const auto* const accs = reinterpret_cast<const E*>(left);
      const auto* const xs = reinterpret_cast<const E*>(right);
      for (int64_t i = 0; i < count; ++i)
        reinterpret_cast<E*>(target)[i] = combined(combine, accs[i], xs[i]);
    } else {
      ORRERY_CHECK(false, "only folds of floats and complex numbers differ by numerics");
    }
  });
}

Tensor leave(Leaving leaving, const Folding& folding, Storage held, Dtype dtype, Shape shape,
             int64_t ranks) {
  if (leaving == Leaving::ItsRank)
    return ranks_of(folding.held, held, std::move(shape));
  Tensor result(folding.held.dtype, std::move(shape), std::move(held));
  if (folding.held.dtype != dtype)
    result = convert(result, dtype);
  return leaving == Leaving::Mean ? mean_of(std::move(result), ranks, folding.numerics) : result;
}

}  // namespace orrery
