#include "verifier/oracle/compare.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "models/array/arith.h"
#include "models/array/dispatch.h"
#include "models/array/text.h"
#include "verifier/oracle/float_format.h"

namespace orrery {

namespace {

struct Terms {
  double magnitude = 0;  // the sum of |x_i| over the finite terms
  bool finite = true;    // all of them
};

template <class E>
Terms terms_of(const Part& part, std::span<const Tensor* const> operands, int64_t source) {
  Terms terms;
  for (uint32_t r = 0; r < part.ranks; ++r) {
    const E x = operands[part.rank.index() + r]->as<E>()[static_cast<size_t>(source)];
    const auto value = static_cast<double>(arith::widen(x));
    if (std::isfinite(value))
      terms.magnitude += std::fabs(value);
    else
      terms.finite = false;
  }
  return terms;
}

double fold_bound(const Part& part, const Terms& terms, double unit_roundoff) {
  return part.ranks < 2 ? 0
                        : 2.0 * (part.ranks - 1) * unit_roundoff * terms.magnitude * kBoundSlack;
}

/// The bound on the difference of two quotients of sums that are off by `sums`.
template <class E>
double mean_bound(const Part& part, E a, E b, double sums, const FloatFormat& format) {
  const double sizes = std::fabs(static_cast<double>(arith::widen(a))) +
                       std::fabs(static_cast<double>(arith::widen(b)));
  return (sums / part.ranks + format.unit_roundoff * sizes + 2 * format.half_smallest) *
         kBoundSlack;
}

/// Whether sums, or values made of sums, differ by at most `bound`. If they are not finite, whether
/// the sums may have overflowed.
template <class E>
bool same_sum(E a, E b, const Terms& terms, double sums, double bound, const FloatFormat& format) {
  const auto x = static_cast<double>(arith::widen(a));
  const auto y = static_cast<double>(arith::widen(b));
  if (std::isfinite(x) && std::isfinite(y) && terms.finite)
    return std::fabs(x - y) <= bound;
  return terms.magnitude + sums >= format.largest;
}

/// Elements [first, first + count) of both results, which `part` makes of the operand elements from
/// `source` on.
template <class E>
std::optional<Mismatch> compare_run(const Definition& definition, const Part& part, int64_t first,
                                    int64_t source, int64_t count,
                                    std::span<const Tensor* const> operands, const Tensor& expected,
                                    const Tensor& got) {
  const E* const want = expected.as<E>().data() + first;
  const E* const have = got.as<E>().data() + first;
  if (std::memcmp(want, have, static_cast<size_t>(count) * sizeof(E)) == 0)
    return std::nullopt;
  for (int64_t i = 0; i < count; ++i) {
    if (arith::same_value(want[i], have[i]))
      continue;
    Mismatch mismatch{first + i, element_text(expected, first + i), element_text(got, first + i),
                      std::nullopt};
    if constexpr (arith::kIsFloat<E>) {
      if (exactness(definition, operands[0]->dtype()) == Exactness::FoldBound) {
        const FloatFormat format = float_format(expected.dtype());
        const Terms terms = terms_of<E>(part, operands, source + i);
        const double sums = fold_bound(part, terms, format.unit_roundoff);
        const double bound = definition.gives == Gives::Mean
                                 ? mean_bound(part, want[i], have[i], sums, format)
                                 : sums;
        if (same_sum(want[i], have[i], terms, sums, bound, format))
          continue;
        mismatch.bound = bound;
      }
    }
    return mismatch;
  }
  return std::nullopt;
}

}  // namespace

Exactness exactness(const Definition& definition, Dtype operand) {
  return definition.combine == Combine::Add && is_float(operand) ? Exactness::FoldBound
                                                                 : Exactness::Bitwise;
}

std::optional<Mismatch> first_mismatch(const Definition& definition,
                                       std::span<const Tensor* const> operands,
                                       const Tensor& expected, const Tensor& got) {
  return dispatch(expected.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    std::optional<Mismatch> lowest;
    for (const Part& part : definition.parts) {
      part.for_each_run([&](int64_t first, int64_t source, int64_t count) {
        if (lowest && lowest->element <= first)
          return;
        auto found =
            compare_run<E>(definition, part, first, source, count, operands, expected, got);
        if (found && (!lowest || found->element < lowest->element))
          lowest = std::move(found);
      });
    }
    return lowest;
  });
}

}  // namespace orrery
