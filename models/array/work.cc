#include "models/array/work.h"

#include <cstring>
#include <utility>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "models/array/folds.h"
#include "models/array/kernels.h"
#include "models/base/check.h"

namespace orrery {

namespace {

constexpr size_t kRankSize = sizeof(int32_t);
template <class E>
constexpr size_t kRankedSize = sizeof(E) + kRankSize;  // adjacent in memory

template <class E>
arith::Ranked<E> load(const std::byte* from) {
  arith::Ranked<E> loaded;
  std::memcpy(&loaded.value, from, sizeof(E));
  std::memcpy(&loaded.rank, from + sizeof(E), kRankSize);
  return loaded;
}
template <class E>
void store(const arith::Ranked<E>& element, std::byte* to) {
  std::memcpy(to, &element.value, sizeof(E));
  std::memcpy(to + sizeof(E), &element.rank, kRankSize);
}

template <class E>
Storage ranked(const Folding& folding, const Tensor& operand, Rank rank) {
  Storage work(static_cast<size_t>(operand.elements()) * kRankedSize<E>);
  std::byte* to = work.data();
  for (const E element : operand.as<E>()) {
    store(arith::ranked(folding.combine, folding.numerics, element,
                        static_cast<int32_t>(rank.index())),
          to);
    to += kRankedSize<E>;
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

/// Returns the dtype in which XLA on the CPU keeps sums of `dtype`.
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

/// Folds the start of the fold into the elements that need it. An extremum needs it on every rank,
/// since a NaN then becomes the start. A sum needs it on rank 0 only.
Tensor started(const Folding& folding, Tensor operand, Rank rank) {
  if (folding.combine == Combine::Add && rank != Rank(0))
    return operand;
  dispatch(operand.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    for (E& element : operand.as<E>())
      element = arith::started(folding.combine, element);
  });
  return operand;
}

template <class E>
void combine_ranked(const Folding& folding, Combine combine, std::byte* target,
                    const std::byte* left, const std::byte* right, int64_t count) {
  if constexpr (arith::kIsOrdered<E>) {
    constexpr auto kSize = static_cast<ptrdiff_t>(kRankedSize<E>);
    for (ptrdiff_t at = 0; at < count * kSize; at += kSize) {
      const auto a = load<E>(left + at);
      const auto b = load<E>(right + at);
      store(arith::comes_first(combine, folding.numerics, a, b) ? a : b, target + at);
    }
  } else {
    ORRERY_CHECK(false, "complex numbers have no extremum");
  }
}

}  // namespace

Tensor mean_of(Tensor sums, int64_t ranks, Numerics numerics) {
  dispatch(sums.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    if constexpr (arith::kIsFloat<E> || arith::kIsComplex<E>) {
      for (E& element : sums.as<E>())
        element = arith::mean(element, ranks, numerics);
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
  if (entering == Entering::Ranked)
    return dispatch(operand.dtype(), [&](auto tag) {
      return ranked<typename decltype(tag)::type>(folding, operand, rank);
    });
  Tensor values = convert(operand, folding.held.dtype);
  if (folding.numerics == Numerics::XlaCpu)
    values = started(folding, std::move(values), rank);
  return std::move(values).take_bytes();
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
    const bool folds = arith::with_step<E>(combine, Numerics::XlaCpu, [&](auto step) {
      const auto* const accs = reinterpret_cast<const E*>(left);
      const auto* const xs = reinterpret_cast<const E*>(right);
      for (int64_t i = 0; i < count; ++i)
        reinterpret_cast<E*>(target)[i] = step(accs[i], xs[i]);
    });
    ORRERY_CHECK(folds, "complex numbers have no extremum");
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
