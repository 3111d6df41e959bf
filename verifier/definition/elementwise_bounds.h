#pragma once

// This file says how far one element of an elementwise op can be from the value that exact
// arithmetic gives, for bounds.h. The distance is the operands' errors, as the op carries them on,
// plus the op's own rounding.
//
// Let x and y be the operands, e their bounds and r the result (all of them computed, as
// magnitudes). For a function f and exact operands within e of x and y, |f(x, y) - f(exact)| is at
// most
//  - add, sub: e_x + e_y; neg: e; max, min: the larger of e_x and e_y;
//  - mul: |x| e_y + |y| e_x + e_x e_y;
//  - div: (e_x + r e_y) / (|y| - e_y);
//  - exp: r (exp(e) - 1), and so r e / (1 - e) for e < 1;
//  - logistic: that too, or e / 4, which is its steepest slope;
//  - log: e / (|x| - e);
//  - sqrt: e / r, and sqrt(e);
//  - rsqrt: r q / (2 (1 - q)) with q = e / |x|;
//  - sin, cos: e, and 2.
// The bound is infinite where the denominator is not positive: then the exact result may be
// anything.
//
// The error of a complex number is a distance in the plane, not one of each part. (The functions of
// complex numbers are in complex_bounds.cc.) Let x be the operand's computed value, e its bound,
// and r the magnitude of the computed result. The operand's error is carried on as follows.
//  - add, sub, neg, mul, div, exp: the formulas of floats, with magnitudes for absolute values.
//  - log: e / (|x| - e).
//  - sqrt: e / r.
//  - rsqrt: r q / (2 (1 - q)) with q = e / |x|.
//  - log, sqrt and rsqrt jump at their branch cut, the negative real axis with 0. Where x is within
//    e of the cut, the exact operand may be on its other side: the bound is infinite.
//  - logistic, 1 / (1 + exp(-x)): the exact exp(-x) is the computed one times 1 + d with |d| <= f =
//    e / (1 - e). That moves the result by r g / (1 - g) at most, with g = f (1 + r).
//  - sin, cos: e exp(|im x| + e). Their slopes are cos and -sin, which within e of x are at most
//    exp(|im x| + e) in magnitude.

#include "models/array/functions.h"
#include "models/array/kernels.h"
#include "verifier/definition/rounding.h"

namespace orrery {

struct Approximate {
  double size;   // the magnitude of the computed value
  double error;  // its distance from the exact value at most
};

/// Returns infinity where `denominator` is not positive, but 0 where `numerator` is 0.
double quotient(double numerator, double denominator);

double carried_error(Unary op, Approximate x, double result);
double carried_error(Binary op, Approximate x, Approximate y, double result);

/// Returns the bound of the rounding error of the result, of magnitude `result`, as a function of
/// the computed operands.
double own_rounding(Unary op, double result, Dtype dtype, RoundedBy rounded_by);
double own_rounding(Binary op, double result, Dtype dtype, RoundedBy rounded_by);

/// This is a computed value, and how far it is from the exact one at most.
struct ApproximateComplex {
  arith::Wide value;
  double error;
};

/// Returns the part of the result's error that comes from the operand's; `result` is its magnitude.
double complex_carried_error(Unary op, ApproximateComplex x, double result);

/// Returns the part of the error that the op's own roundings add, from the magnitude of the result.
/// The roundings of a product are at most sqrt(5) u |x y| (Brent, Percival and Zimmermann, "Error
/// bounds on complex floating-point multiplication", Mathematics of Computation 76, 2007). The
/// roundings of the other ops are stated in models/array/functions.h, or for XLA in
/// complex_bounds.cc.
double complex_own_rounding(Unary op, double result, Dtype dtype, RoundedBy rounded_by);
double complex_own_rounding(Binary op, double result, Dtype dtype, RoundedBy rounded_by);

}  // namespace orrery
