#include "verifier/oracle/nearness.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "verifier/oracle/bound_tensor.h"
#include "verifier/oracle/compare.h"

namespace orrery {

namespace {

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
