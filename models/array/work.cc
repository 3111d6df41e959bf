#include "models/array/work.h"

#include <cstring>
#include <utility>

#include "models/array/dispatch.h"
#include "models/array/kernels.h"
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

/// A total order (NaN first), so that a reduction gives the same result in any order.
template <class E>
bool comes_first([[maybe_unused]] Combine combine, const Ranked<E>& a, const Ranked<E>& b) {
  if constexpr (arith::kIsOrdered<E>) {
    if (arith::is_nan(a.value) || arith::is_nan(b.value))
      return arith::is_nan(a.value);
    const E& x = combine == Combine::Max ? b.value : a.value;
    const E& y = combine == Combine::Max ? a.value : b.value;
    return arith::less(x, y) || (!arith::less(y, x) && a.rank < b.rank);
  } else {
    fail_check("the elements are ordered", "complex numbers have no extremum", __FILE__, __LINE__);
  }
}

template <class E>
Storage ranked(const Tensor& operand, Rank rank) {
  Storage work(static_cast<size_t>(operand.elements()) * Ranked<E>::kSize);
  std::byte* to = work.data();
  for (const E value : operand.as<E>()) {
    Ranked<E>{value, arith::is_nan(value) ? kNoRank : static_cast<int32_t>(rank.index())}.store(to);
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

/// Divides in doubles, since the number of ranks is not always one of the dtype, nor the quotient
/// of two f32 close enough: rounded again, a double is what the exact quotient would be.
/// Each part of a complex number.
template <class E>
E divided(E sum, int64_t ranks) {
  if constexpr (arith::kIsComplex<E>)
    return {divided(sum.re, ranks), divided(sum.im, ranks)};
  else
    return arith::round<E>(static_cast<double>(arith::widen(sum)) / static_cast<double>(ranks));
}

Tensor divided(Tensor sum, int64_t ranks) {
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

Bytes itemsize(WorkType type) {
  return itemsize(type.dtype) + Bytes(type.ranked ? int64_t{kRankSize} : 0);
}

Dtype summed_dtype(Dtype operand) {
  return operand == Dtype::Pred ? Dtype::S32 : operand;
}

WorkType work_type(Entering entering, Dtype operand) {
  return {entering == Entering::Counted ? summed_dtype(operand) : operand,
          entering == Entering::Ranked};
}

Storage enter(Entering entering, const Tensor& operand, Rank rank) {
  if (entering == Entering::Ranked)
    return dispatch(operand.dtype(),
                    [&](auto tag) { return ranked<typename decltype(tag)::type>(operand, rank); });
  return convert(operand, work_type(entering, operand.dtype()).dtype).take_bytes();
}

void combine_into(WorkType type, Combine combine, std::byte* target, const std::byte* left,
                  const std::byte* right, int64_t count) {
  if (!type.ranked)
    return combine_into(type.dtype, combine, target, left, right, count);
  ORRERY_CHECK(combine == Combine::Max || combine == Combine::Min,
               "ranked elements have an order and no sum");
  dispatch(type.dtype, [&](auto tag) {
    using E = typename decltype(tag)::type;
    constexpr auto kSize = static_cast<ptrdiff_t>(Ranked<E>::kSize);
    for (ptrdiff_t at = 0; at < count * kSize; at += kSize) {
      const auto a = Ranked<E>::load(left + at);
      const auto b = Ranked<E>::load(right + at);
      (comes_first(combine, a, b) ? a : b).store(target + at);
    }
  });
}

Tensor leave(Leaving leaving, WorkType type, Storage work, Dtype dtype, Shape shape,
             int64_t ranks) {
  if (leaving == Leaving::ItsRank)
    return ranks_of(type, work, std::move(shape));
  Tensor held(type.dtype, std::move(shape), std::move(work));
  if (type.dtype != dtype)
    held = convert(held, dtype);
  return leaving == Leaving::Mean ? divided(std::move(held), ranks) : held;
}

}  // namespace orrery
