#pragma once

// Decides by bounds on roundings whether two values that should be the same are so.
//
// A result is compared with its definition's as follows (differences).
//  - In the same order of operations, and where no order matters: equal bit for bit.
//  - Sums of n floats x_i in two orders: |a - b| <= 2 (n - 1) u sum |x_i|, where u is the unit
//    roundoff.
//  - Means of n floats in two orders: each sum's error is divided by n too, and each quotient a is
//    rounded once more, by at most u |a| + half_smallest.
// By Numerics::XlaCpu, sum_error() and mean_rounding() say what is rounded and flushed.
// A sum of n floats in any order has an error of at most (n - 1) u sum |x_i|, for every n
// (Jeannerod and Rump, "Improved error bounds for inner products in floating-point arithmetic",
// SIAM J. Matrix Anal. Appl. 34, 2013). Both folds have at most this error.
//
// Complex sums and means are compared part by part, since these add apart.
//
// Values whose ops round in other orders are compared by their error bounds (nearness). In both
// comparisons by_bound() says what a bound decides. An element none of whose terms is other than 0
// has a bound of 0. Nothing bounds a sum that can overflow in one order and not in another.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "models/array/tensor.h"
#include "verifier/oracle/definitions.h"
#include "verifier/verdict.h"

namespace orrery {

/// An element that differs.
struct Mismatch {
  int64_t element = 0;  // row-major in the result
  std::string expected;
  std::string got;
  std::optional<double> bound;  // on the difference, where orders may differ
};

/// Two numbers: their distance, and the magnitude of the larger.
struct Apart {
  double distance;
  double larger;
};

/// Whether two numbers that are not the same are as near as a bound on their distance allows. It
/// decides nothing if it is as large as the larger of both, since a zero would then be within it;
/// nor if it is infinite.
Verdict by_bound(Apart numbers, double bound);

/// That bound in words, after "roundings allow": "a difference of 0.5, as large as the values".
std::string allowed_text(Verdict verdict, double bound);

/// The first element, counted from the first, in which `count` elements of one dtype differ in
/// bits.
std::optional<int64_t> first_different(Dtype dtype, const std::byte* a, const std::byte* b,
                                       int64_t count);

/// The first elements that differ, row-major.
struct Differences {
  std::optional<Mismatch> wrong;      // bit for bit, or by more than the bound
  std::optional<Mismatch> undecided;  // within a bound that decides nothing
};

/// Compares a result with the definition's, whose folds run in rank order. `operands` are as for
/// apply(), `expected` is its result, and `got` has its dtype and shape. Bounds are used where the
/// definition depends on the order. Then, if a sum is not finite, both must be the same infinity or
/// both NaN, unless its finite terms alone could overflow in some order, which leaves it undecided.
Differences differences(const Definition& definition, std::span<const Tensor* const> operands,
                        const Tensor& expected, const Tensor& got,
                        Numerics numerics = Numerics::Ieee);

/// How near two tensors of one dtype and shape are, each with its error bounds (bounds.h), element
/// by element. They agree on equal values. For other floats and complex numbers, by_bound() says
/// what the sum of their bounds decides; other integers and preds are wrong where both are exact,
/// else undecided.
struct Nearness {
  std::optional<int64_t> wrong;      // the first that differs by more than its bound
  std::optional<int64_t> undecided;  // the first of which its bound decides nothing
  // Counts of the elements before a wrong one:
  int64_t decided = 0;    // whose bound is less than they are; those that are equal too
  int64_t loose = 0;      // that differ by no more than a bound that is as large as they are
  int64_t unbounded = 0;  // that differ, and have no bound
  /// The largest difference of any element, and the bound there (at the first of several).
  struct Difference {
    double found = 0;
    double allowed = 0;
  } largest;
};
Nearness nearness(const Tensor& a, const Tensor& bound_a, const Tensor& b, const Tensor& bound_b);

}  // namespace orrery
