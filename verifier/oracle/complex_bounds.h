#pragma once

// As elementwise_bounds.h, of complex numbers. Sizes and errors are magnitudes, so a bound is on
// the distance in the plane, not on each part.
//
// With e the operand's bound, x its computed value and r the magnitude of the result:
//  - add, sub, neg, mul, div, exp: as of floats;
//  - log: e / (|x| - e); sqrt: e / r; rsqrt: r q / (2 (1 - q)) with q = e / |x|; each infinite
//  where
//    a number within e of x is on the branch cut, 0 and the negative real axis;
//  - logistic: exp(-x) is off by a factor of at most 1 + f with f = e / (1 - e), and so the result,
//    with g = f (1 + r), by r g / (1 - g);
//  - sin, cos: e exp(|im x| + e), since no cosine within e of x is larger than exp(|im x| + e).

#include "models/array/complex_functions.h"
#include "verifier/oracle/elementwise_bounds.h"

namespace orrery {

/// A computed value, and its distance from the exact one at most.
struct ApproximateComplex {
  arith::Wide value;
  double error;
};

double complex_carried_error(Unary op, ApproximateComplex x, double result);

/// The bound of the error of the result, of magnitude `result`, as a function of the computed
/// operands. A product is off by sqrt(5) u |x y| (Brent, Percival and Zimmermann, "Error bounds on
/// complex floating-point multiplication", Mathematics of Computation 76, 2007); of the others see
/// models/array/complex_functions.h.
double complex_own_rounding(Unary op, double result, Dtype dtype, RoundedBy rounded_by);
double complex_own_rounding(Binary op, double result, Dtype dtype, RoundedBy rounded_by);

}  // namespace orrery
