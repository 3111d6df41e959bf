#pragma once

// This file says how errors pass through local ops, for bounds.h. README.md has the formulas.
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

#include "models/array/tensor.h"
#include "models/base/id.h"
#include "models/program/program.h"
#include "models/program/rules.h"
#include "verifier/definition/rounding.h"

namespace orrery {

/// The operands and results of an op on a device, and the bounds of its operands.
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

}  // namespace orrery
