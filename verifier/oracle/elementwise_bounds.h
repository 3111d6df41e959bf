#pragma once

// How far one element of an elementwise op can be from the value that exact arithmetic gives, for
// bounds.h: the operands' errors as the op carries them on, and the op's own rounding.
//
// With x and y the operands, e their bounds and r the result (all of them computed, as magnitudes),
// the function f and the exact operands within e of x and y, |f(x, y) - f(exact)| is at most
//  - add, sub: e_x + e_y; neg: e; max, min: the larger of e_x and e_y;
//  - mul: |x| e_y + |y| e_x + e_x e_y;
//  - div: (e_x + r e_y) / (|y| - e_y);
//  - exp: r (exp(e) - 1), and so r e / (1 - e) for e < 1; logistic: that too, or e / 4, which is
//  its
//    steepest slope;
//  - log: e / (|x| - e);
//  - sqrt: e / r, and sqrt(e);
//  - rsqrt: r q / (2 (1 - q)) with q = e / |x|;
//  - sin, cos: e, and 2.
// Infinite where the denominator is not positive: then the exact result may be anything.

#include "models/array/kernels.h"
#include "verifier/oracle/float_format.h"

namespace orrery {

struct Approximate {
  double size;   // the magnitude of the computed value
  double error;  // its distance from the exact value at most
};

/// Infinite where `denominator` is not positive, but 0 where `numerator` is.
double quotient(double numerator, double denominator);

double carried_error(Unary op, Approximate x, double result);
double carried_error(Binary op, Approximate x, Approximate y, double result);

/// The bound of the error of the result, of magnitude `result`, as a function of the computed
/// operands.
double own_rounding(Unary op, double result, Dtype dtype, RoundedBy rounded_by);
double own_rounding(Binary op, double result, Dtype dtype, RoundedBy rounded_by);

}  // namespace orrery
