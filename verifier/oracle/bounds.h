#pragma once

// Running error bounds: how far each computed element can be from the value that exact arithmetic
// on the same arguments gives, to first order. `close` goes by them.
//
// A walk over the program's lists computes the bounds of each op's results from those of its
// operands. Local ops have the rules of local_bounds.h; for collectives, their definition is
// applied to the errors. Sums are the one place where a collective rounds (rounding.h).
//
// With u the unit roundoff, e the bound of an operand's element and r the computed result:
//  - arguments, full, axis_index, opaque results: 0; movement carries e, and zeros have 0;
//  - a sum of n elements x_i over a group: (n - 1) u sum |x_i| + sum e_i; max, min: the
//    largest e_i;
//  - a mean of n elements: (n u sum |x_i| + sum e_i) / n + half_smallest, where integers, which add
//    exactly and are converted once, have 2 in place of n;
//  - reduce_sum of n elements, accumulated with roundoff v: sum e_i + (n - 1) v sum |x_i|, and
//    where that is wider than the result, + u |r| + half_smallest; XLA's lax.reduce_sum on the CPU
//    rounds each sum to the result's dtype; reduce_max, reduce_min: the largest e_i;
//  - scatter_add, of k updates to an element: k u sum |x_i| + sum e_i over it and these;
//  - elementwise ops of floats: elementwise_bounds.h; select_n: that of the case it takes;
//  - convert: e, where the float holds every value of the operand's dtype, or this one; else
//    e + u |r| + half_smallest;
//  - dot_general with K terms, accumulated with roundoff v:
//    sum (|x| e_y + |y| e_x + e_x e_y) + (K + 1) v sum |x y| + u |r| + half_smallest;
//    by cuBLASLt, of f16 and bf16, 3 (K + 1) v sum |x y|: see tensor_core_factor(),
//    local_sums.cc;
//  - a result that is not finite: infinite, since in another order nothing may overflow; but 0
//    where it follows from exact infinities and NaNs;
//  - integers and pred: 0, so that they are compared bit for bit; but infinite where the errors of
//    operands may change them, as of a comparison of two floats that are nearer than their errors
//    (but own_extremum.cc);
//  - an element that such an integer or pred brings (select_n, dynamic_slice): infinite.
// The bound of a complex element is on the distance in the plane, |a - b|, and |x| and |r| are
// magnitudes. The formulas are those of floats, except for these:
//  - elementwise ops: elementwise_bounds.h; real, imag, conj, neg: e; complex: e_x + e_y;
//  - half_smallest, of two parts: twice that;
//  - convert to a real dtype: that of the real part;
//  - dot_general: (K + 3) v sum |x y| + 3 K half_smallest; a product is off by sqrt(5) v |x y|;
//  - a result that is not finite: infinite, since one part may be infinite and the other rounded;
//    but e of ops that round nothing (neg, conj, exact conversions).
// By Numerics::XlaCpu, and by XLA itself, an op first takes its operands: one that is flushed is
// further from the exact one by what it was. Sums and means over a group: rounding.h. A result
// that may have been flushed to 0: + the smallest normal number. Every bound is enlarged by 2^-20
// of itself, which covers the roundings of the bounds' own arithmetic in doubles.

#include <vector>

#include "models/program/program.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/values.h"
#include "verifier/oracle/rounding.h"

namespace orrery {

/// Another run of the same program, with which values are compared.
struct OtherRun {
  const DeviceValues& values;
  const std::vector<bool>& same_bits;  // per value: whether both runs have the same, bit for bit
};

/// Per value and device, an f64 tensor of the value's shape; empty for values without a tensor.
/// `values` is the host executor's result for a program that ends. By RoundedBy::Xla they bound
/// what XLA computes of the same arguments.
///
/// With `other`, exact arithmetic takes what both runs have alike: the values of same_bits, and
/// each integer and pred that is the same in both. These have a bound of 0.
DeviceValues error_bounds(const Program& program, const Lowered& lowered,
                          const DeviceValues& values, RoundedBy rounded_by = RoundedBy::Orrery,
                          const OtherRun* other = nullptr);

}  // namespace orrery
