#pragma once

// How close a result must be to its definition's, by exactness class:
//  - integers, pred, moved elements, maximum and minimum (and their ranks), means of integers:
//    equal bit for bit;
//  - sums of n floats x_i: |a - b| <= 2 (n - 1) u sum |x_i|, where u is the unit roundoff;
//  - means of n floats: each sum's error is divided by n too, and each quotient a is rounded once
//    more, by at most u |a| + half_smallest.
// A sum of n floats in any order has an error of at most (n - 1) u sum |x_i|, for every n
// (Jeannerod and Rump, "Improved error bounds for inner products in floating-point arithmetic",
// SIAM J. Matrix Anal. Appl. 34, 2013). Both folds have at most this error.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "models/array/tensor.h"
#include "verifier/oracle/definitions.h"

namespace orrery {

/// Whether results for operands of a dtype must equal the definition's bit for bit.
enum class Exactness : uint8_t { Bitwise, FoldBound };
Exactness exactness(const Definition& definition, Dtype operand);

/// The first wrong element.
struct Mismatch {
  int64_t element = 0;  // row-major in the result
  std::string expected;
  std::string got;
  std::optional<double> bound;  // Exactness::FoldBound: on the difference
};

/// Compares a result with the definition's. `operands` are as for apply(), `expected` is its
/// result, and `got` has its dtype and shape. If a sum is not finite, both must be the same
/// infinity or both NaN, unless its finite terms alone could overflow in some order.
std::optional<Mismatch> first_mismatch(const Definition& definition,
                                       std::span<const Tensor* const> operands,
                                       const Tensor& expected, const Tensor& got);

}  // namespace orrery
