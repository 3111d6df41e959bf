#pragma once

// What error bounds (bounds.h) decide of two values that should be the same.

#include <cstdint>
#include <optional>

#include "models/array/tensor.h"

namespace orrery {

/// How near two tensors of one dtype and shape are, element by element. They agree on equal values.
/// Of other floats and complex numbers, by_bound() (compare.h) says what the sum of their bounds
/// decides; other integers and preds are wrong where both are exact, else undecided.
struct Nearness {
  std::optional<int64_t> wrong;      // the first that differs by more than its bound
  std::optional<int64_t> undecided;  // the first of which its bound decides nothing
  // Of the elements before a wrong one:
  int64_t decided = 0;    // whose bound is less than they are; those that are equal too
  int64_t loose = 0;      // that differ by no more than a bound that is as large as they are
  int64_t unbounded = 0;  // that differ, and of which no bound is known
  /// The largest difference of any element, and the bound there (at the first of several).
  struct Difference {
    double found = 0;
    double allowed = 0;
  } largest;
};
Nearness nearness(const Tensor& a, const Tensor& bound_a, const Tensor& b, const Tensor& bound_b);

}  // namespace orrery
