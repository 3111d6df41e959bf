#include "verifier/definition/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "models/array/text.h"
#include "verifier/definition/bound_tensor.h"
#include "verifier/definition/rounding.h"

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

/// Returns the bound on the difference of two folds.
double fold_bound(const Definition& definition, const Part& part, const Terms& terms, Dtype dtype,
                  Numerics numerics) {
  if (definition.combine != Combine::Add)
    return 0;  // +0 and -0 are equal
  return 2 * sum_error(dtype, part.ranks, terms.magnitude, numerics) * kBoundSlack;
}

/// Returns the bound on the difference of two quotients of sums that are off by `sums`.
template <class E>
double mean_bound(const Part& part, E a, E b, double sums, Dtype dtype, Numerics numerics) {
  const double sizes = std::fabs(static_cast<double>(arith::widen(a))) +
                       std::fabs(static_cast<double>(arith::widen(b)));
  return (sums / part.ranks + mean_rounding(dtype, sizes, numerics) +
          mean_rounding(dtype, 0, numerics)) *
         kBoundSlack;
}

template <class E>
std::optional<int64_t> first_different(const E* a, const E* b, int64_t count) {
  if (count == 0 || std::memcmp(a, b, static_cast<size_t>(count) * sizeof(E)) == 0)
    return std::nullopt;
  for (int64_t i = 0; i < count; ++i)
    if (!arith::same_bits(a[i], b[i]))
      return i;
  return std::nullopt;
}

/// Keeps the mismatch of the lower element.
void note(std::optional<Mismatch>& lowest, int64_t element, const Tensor& expected,
          const Tensor& got, std::optional<double> bound) {
  if (!lowest || element < lowest->element)
    lowest = Mismatch{element, element_text(expected, element), element_text(got, element), bound};
}

/// The sums of a type add these numbers: floats, or the parts of complex numbers.
template <class E>
struct Summands {
  using Float = E;
  static constexpr int64_t kCount = 1;
};
template <class Component>
struct Summands<arith::Complex<Component>> {
  using Float = Component;
  static constexpr int64_t kCount = 2;
};

/// Compares sums that may run in two orders. E is the float that they add.
template <class E>
class SumComparison {
 public:
  SumComparison(const Definition& definition, std::span<const Tensor* const> operands,
                const Tensor& expected, const Tensor& got, Numerics numerics)
      : definition_(definition),
        operands_(operands),
        expected_(expected),
        got_(got),
        summed_(part_dtype(expected.dtype())),
        format_(float_format(summed_)),
        numerics_(numerics) {}

  /// Compares number `at` of the results with the expected one. The expected number is the sum of
  /// number `source` of the operands. Each element has `count` such numbers: 2 if it is complex,
  /// else 1.
  void summand(const Part& part, int64_t at, int64_t source, int64_t count,
               Differences& found) const {
    const E want = expected_.as<E>()[static_cast<size_t>(at)];
    const E have = got_.as<E>()[static_cast<size_t>(at)];
    const Terms terms = terms_of<E>(part, operands_, source);
    const double sums = fold_bound(definition_, part, terms, summed_, numerics_);
    const auto x = static_cast<double>(arith::widen(want));
    const auto y = static_cast<double>(arith::widen(have));
    if (std::isnan(x) && std::isnan(y))
      return;  // with other bits
    const bool finite = std::isfinite(x) && std::isfinite(y) && terms.finite;
    double bound = definition_.leaving == Leaving::Mean
                       ? mean_bound(part, want, have, sums, summed_, numerics_)
                       : sums;
    if (!finite && terms.magnitude + sums >= format_.largest)
      bound = std::numeric_limits<double>::infinity();  // it can overflow
    const Verdict verdict =
        by_bound({std::fabs(x - y), std::max(std::fabs(x), std::fabs(y))}, bound);
    if (verdict == Verdict::Fails)
      note(found.wrong, at / count, expected_, got_, bound);
    else if (verdict == Verdict::Undecided)
      note(found.undecided, at / count, expected_, got_, bound);
  }

 private:
  const Definition& definition_;
  std::span<const Tensor* const> operands_;
  const Tensor& expected_;
  const Tensor& got_;
  const Dtype summed_;
  const FloatFormat format_;
  const Numerics numerics_;
};

template <class E>
Differences differences_of(const Definition& definition, std::span<const Tensor* const> operands,
                           const Tensor& expected, const Tensor& got, Numerics numerics) {
  Differences found;
  const E* const want = expected.as<E>().data();
  const E* const have = got.as<E>().data();
  using Added = Summands<E>;
  // The comparison is made at the first difference.
  [[maybe_unused]] std::optional<SumComparison<typename Added::Float>> sums;
  for (const Part& part : definition.parts) {
    part.for_each_run([&](int64_t first, int64_t source, int64_t count) {
      if (found.wrong && found.wrong->element <= first)
        return;
      for (int64_t at = 0; at < count;) {
        const std::optional<int64_t> next =
            first_different(want + first + at, have + first + at, count - at);
        if (!next)
          return;
        at += *next;
        if constexpr (arith::kIsFloat<typename Added::Float>) {
          if (depends_on_order(definition, operands[0]->dtype(), numerics)) {
            if (!sums)
              sums.emplace(definition, operands, expected, got, numerics);
            for (int64_t k = 0; k < Added::kCount; ++k)
              sums->summand(part, Added::kCount * (first + at) + k,
                            Added::kCount * (source + at) + k, Added::kCount, found);
            ++at;
            continue;
          }
        }
        return note(found.wrong, first + at, expected, got, std::nullopt);
      }
    });
  }
  return found;
}

template <class E>
Nearness nearness_of_inexact(const Tensor& a, const Tensor& bound_a, const Tensor& b,
                             const Tensor& bound_b) {
  const Tensor sizes_a = magnitudes(a);
  const Tensor sizes_b = magnitudes(b);
  const Tensor apart = distances(a, b);
  Nearness nearness;
  for (size_t i = 0; i < static_cast<size_t>(a.elements()); ++i) {
    const E x = a.as<E>()[i];
    const E y = b.as<E>()[i];
    const double allowed = bound_a.as<double>()[i] + bound_b.as<double>()[i];
    const double larger = std::max(sizes_a.as<double>()[i], sizes_b.as<double>()[i]);
    const bool decides = by_bound({0, larger}, allowed) == Verdict::Holds;
    nearness.decided += decides ? 1 : 0;
    if (arith::same_value(x, y))
      continue;
    const auto element = static_cast<int64_t>(i);
    const double found = apart.as<double>()[i];
    const Verdict verdict = by_bound({found, larger}, allowed);
    if (verdict == Verdict::Fails) {
      nearness.wrong = element;
      return nearness;
    }
    if (verdict == Verdict::Undecided && !nearness.undecided)
      nearness.undecided = element;
    if (!decides)
      ++(std::isinf(allowed) ? nearness.unbounded : nearness.loose);
    if (found > nearness.largest.found)
      nearness.largest = {found, allowed};
  }
  return nearness;
}

}  // namespace

Verdict by_bound(Apart numbers, double bound) {
  if (std::isinf(bound))
    return Verdict::Undecided;
  if (!(numbers.distance <= bound))
    return Verdict::Fails;
  const bool decides = bound == 0 || bound < numbers.larger;
  return decides ? Verdict::Holds : Verdict::Undecided;
}

std::string allowed_text(Verdict verdict, double bound) {
  if (std::isinf(bound))
    return "any difference";
  return fmt::format("a difference of {:.3g}{}", bound,
                     verdict == Verdict::Undecided ? ", as large as the values" : "");
}

std::optional<int64_t> first_different(Dtype dtype, const std::byte* a, const std::byte* b,
                                       int64_t count) {
  return dispatch(dtype, [&](auto tag) {
    using E = typename decltype(tag)::type;
    return first_different(reinterpret_cast<const E*>(a), reinterpret_cast<const E*>(b), count);
  });
}

Differences differences(const Definition& definition, std::span<const Tensor* const> operands,
                        const Tensor& expected, const Tensor& got, Numerics numerics) {
  return dispatch(expected.dtype(), [&](auto tag) {
    return differences_of<typename decltype(tag)::type>(definition, operands, expected, got,
                                                        numerics);
  });
}

Nearness nearness(const Tensor& a, const Tensor& bound_a, const Tensor& b, const Tensor& bound_b) {
  return dispatch(a.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    if constexpr (arith::kIsFloat<E> || arith::kIsComplex<E>) {
      return nearness_of_inexact<E>(a, bound_a, b, bound_b);
    } else {
      Nearness nearness;
      for (size_t i = 0; i < static_cast<size_t>(a.elements()) && !nearness.wrong; ++i) {
        const bool exact = bound_a.as<double>()[i] == 0 && bound_b.as<double>()[i] == 0;
        nearness.decided += exact ? 1 : 0;
        if (arith::same_value(a.as<E>()[i], b.as<E>()[i]))
          continue;
        if (exact) {
          nearness.wrong = static_cast<int64_t>(i);
          break;
        }
        if (!nearness.undecided)
          nearness.undecided = static_cast<int64_t>(i);
        ++nearness.unbounded;
      }
      return nearness;
    }
  });
}

}  // namespace orrery
