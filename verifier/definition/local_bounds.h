#pragma once

// This file says how errors pass through local ops, for bounds.h. README.md has the formulas, and
// the second half of this file has those of elementwise ops.
//
// The entry of an op (models/program/rules.h) names the kind of its rule, Errors. Ops that move
// elements move their errors by their own evaluate rule. Each other kind has one ErrorRule here. So
// an op of a kind that exists needs nothing in this folder. An op is done in three steps:
//  1. Where subnormals are flushed, its operands become the flushed ones. Their errors grow by the
//     amount that was lost.
//  2. The rule gives the bound of each result. Floats and complex numbers have a distance; integers
//     and preds are exact, or unknown where an error may have changed them.
//  3. Where the result may have been flushed, the rule adds the amount that was lost.

#include <optional>
#include <vector>

#include "models/array/functions.h"
#include "models/array/kernels.h"
#include "models/array/tensor.h"
#include "models/base/id.h"
#include "models/program/program.h"
#include "models/program/rules.h"
#include "verifier/definition/rounding.h"

namespace orrery {

/// LocalValues are the operands and results of an op on a device, and the bounds of its operands.
struct LocalValues {
  std::vector<const Tensor*> operands;
  std::vector<const Tensor*> errors;  // f64, one for each operand
  std::vector<const Tensor*> results;
};

class LocalBounds {
 public:
  /// The program must outlive it.
  LocalBounds(const Program& program, RoundedBy rounded_by);

  /// Returns the bounds of the op's results on the device, in their order.
  std::vector<Tensor> of(const Op& op, LogicalId device, const LocalValues& values) const;

 private:
  std::vector<Tensor> moved(const Op& op, LogicalId device, const LocalValues& values) const;
  std::vector<Tensor> of_body(const Op& op, const LocalValues& values) const;
  Tensor computed(const Op& op, const LocalValues& values, const Tensor& result) const;

  // In own_extremum.cc:

  /// If `op` compares its first operand with that operand's own extremum, returns the dimensions
  /// along which the extremum was taken.
  std::optional<std::vector<int64_t>> own_extremum_axes(const Op& op) const;
  /// Returns the op of this kind that makes the value, if there is one.
  const Op* maker(ValueId value, OpKind kind) const;

  const Program& program_;
  const RoundedBy rounded_by_;
  const bool flushes_subnormals_;
  std::vector<std::optional<OpId>> made_by_;  // by value
};

/// This is one result of an op, as an ErrorRule takes it.
struct Computed {
  const Program& program;
  const Op& op;
  RoundedBy rounded_by;
  bool flushes_subnormals;            // in general; whether this op does is its rule's to say
  std::vector<const Tensor*> values;  // the operands, as the op takes them
  std::vector<const Tensor*> errors;  // one for each of these
  const Tensor& result;

  FloatFormat format_of(Dtype dtype) const { return float_format(dtype, rounded_by); }
};

struct ErrorRule {
  /// Returns the bound of floats and complex numbers, before they may be flushed.
  Tensor (*inexact)(const Computed&);
  /// Returns the bound of integers and preds, where an operand has an error.
  Tensor (*discrete)(const Computed&);
  /// Returns whether the op flushes its operands and results. If it is null, the op does not flush.
  bool (*flushes)(const Computed&) = nullptr;
  /// Adds to `bound` the amount that is lost where a result other than 0 is flushed to 0. If it is
  /// null, the bound has that already.
  Tensor (*flushed)(const Computed&, Tensor bound) = nullptr;
};

/// Returns `bound`, that of a comparison of an array with its own extremum along `axes`, with one
/// more kind of exact element. If only one element of a slice may be the extremum, and it is
/// computed to be equal (`is_extremum`) with a finite error, that element becomes exact. `error` is
/// the bound of the array.
Tensor with_known_extrema(Tensor bound, const Tensor& is_extremum, const Tensor& error,
                          const std::vector<int64_t>& axes);

// local_sums.cc has the rules of ops that fold, by Errors of the same name.
ErrorRule rule_of_sum();
ErrorRule rule_of_extremum();
ErrorRule rule_of_scattered_sum();
ErrorRule rule_of_products();

// elementwise_bounds.cc says how far one element of an elementwise op can be from the value that
// exact arithmetic gives. The distance is the operands' errors, as the op carries them on, plus the
// op's own rounding.
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
