#pragma once

// Decides by bounds on roundings whether two values that should be the same are the same.
//
// differences() compares a result with that of its definition as follows.
//  - With the same order of operations, and where no order matters, both must be equal bit for bit.
//  - Sums of n floats x_i in two orders must have |a - b| <= 2 (n - 1) u sum |x_i|, where u is the
//    unit roundoff.
//  - For means of n floats in two orders, that bound is divided by n too, and each quotient a is
//    rounded once more, by at most u |a| + half_smallest.
// With Numerics::XlaCpu, sum_error() and mean_rounding() say what is rounded and flushed. A sum of
// n floats in any order has an error of at most (n - 1) u sum |x_i|, for every n (Jeannerod and
// Rump, "Improved error bounds for inner products in floating-point arithmetic", SIAM J. Matrix
// Anal. Appl. 34, 2013). Both folds have at most this error.
//
// Complex sums and means are compared part by part, since the parts are added separately.
//
// nearness() compares values whose ops round in other orders, by their error bounds. In both
// comparisons by_bound() says what a bound decides. An element has a bound of 0 if all its terms
// are 0. A sum has no bound if it can overflow in one order and not in another.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "models/array/tensor.h"
#include "verifier/definition/definitions.h"
#include "verifier/verdict.h"

namespace orrery {

/// This is an element that differs.
struct Mismatch {
  int64_t element = 0;  // row-major in the result
  std::string expected;
  std::string got;
  std::optional<double> bound;  // on the difference, where orders may differ
};

/// These describe two numbers: their distance, and the magnitude of the larger.
struct Apart {
  double distance;
  double larger;
};

/// Returns whether two numbers that are not the same are as near as a bound on their distance
/// allows. Returns Undecided if the bound is infinite. Also returns Undecided if the distance is
/// within a bound that is as large as the larger number, since a zero would then be within it too.
Verdict by_bound(Apart numbers, double bound);

/// Returns the bound in words, after "roundings allow": "a difference of 0.5, as large as the
/// values".
std::string allowed_text(Verdict verdict, double bound);

/// Returns the first of `count` elements of one dtype that differs in bits, counted from 0.
std::optional<int64_t> first_different(Dtype dtype, const std::byte* a, const std::byte* b,
                                       int64_t count);

/// These are the first elements that differ, row-major.
struct Differences {
  std::optional<Mismatch> wrong;      // bit for bit, or by more than the bound
  std::optional<Mismatch> undecided;  // within a bound that decides nothing
};

/// Compares a result with the definition's, whose folds run in rank order. `operands` are as for
/// apply(), `expected` is its result, and `got` has its dtype and shape. Bounds are used where the
/// definition depends on the order. Then, if a sum is not finite, both must be the same infinity or
/// both NaN. If its finite terms alone could overflow in some order, it is undecided.
Differences differences(const Definition& definition, std::span<const Tensor* const> operands,
                        const Tensor& expected, const Tensor& got,
                        Numerics numerics = Numerics::Ieee);

/// This says how near two tensors of one dtype and shape are, element by element. Each has its
/// error bounds (bounds.h). Equal elements agree. For other floats and complex numbers, by_bound()
/// says what the sum of their bounds decides. Other integers and preds are wrong where both are
/// exact, else undecided.
struct Nearness {
  std::optional<int64_t> wrong;      // the first that differs by more than its bound
  std::optional<int64_t> undecided;  // the first whose bound decides nothing
  // The counts are of the elements up to the first wrong one:
  int64_t decided = 0;    // bound is 0, or less than the larger magnitude; equal elements count too
  int64_t loose = 0;      // differs by no more than a bound that is as large as it is
  int64_t unbounded = 0;  // differs, and has no bound
  /// This is the largest difference of any element, and the bound there (at the first of several).
  struct Difference {
    double found = 0;
    double allowed = 0;
  } largest;
};
Nearness nearness(const Tensor& a, const Tensor& bound_a, const Tensor& b, const Tensor& bound_b);

}  // namespace orrery
