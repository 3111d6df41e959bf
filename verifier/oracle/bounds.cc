#include "verifier/oracle/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "models/array/complex_functions.h"
#include "models/array/dispatch.h"
#include "models/array/kernels.h"
#include "models/program/futures.h"
#include "models/program/op_folding.h"
#include "models/program/rules.h"
#include "models/program/sides.h"
#include "simulator/algorithm/concrete.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/program_walk.h"
#include "simulator/values/exchanged_operand.h"
#include "simulator/values/host_executor.h"
#include "verifier/oracle/bound_tensor.h"
#include "verifier/oracle/compare.h"
#include "verifier/oracle/complex_bounds.h"
#include "verifier/oracle/definitions.h"
#include "verifier/oracle/discrete_bounds.h"
#include "verifier/oracle/elementwise_bounds.h"
#include "verifier/oracle/float_format.h"
#include "verifier/oracle/folds.h"
#include "verifier/oracle/scatter_sums.h"
#include "verifier/oracle/sum_error.h"

namespace orrery {

namespace {

/// What is known of results that are not finite: nothing, as where a sum overflowed that another
/// order may not. But where made_exactly(i), exact arithmetic gives the same infinity or NaN.
template <class MadeExactly>
Tensor settled(Tensor bound, const Tensor& result, MadeExactly made_exactly) {
  const Tensor sizes = magnitudes(result);
  const bool has_parts = is_complex(result.dtype());  // one may be finite, and rounded
  const std::span<double> bounds = bound.as<double>();
  for (size_t i = 0; i < bounds.size(); ++i)
    if (!std::isfinite(sizes.as<double>()[i]))
      bounds[i] = !has_parts && made_exactly(i) ? 0 : kNoBound;
  return bound;
}

/// Of sums of terms with these magnitudes, together, whose errors together are `carried`. A term
/// that is not finite makes no finite sum.
Tensor settled_sums(Tensor bound, const Tensor& result, const Tensor& terms,
                    const Tensor& carried) {
  return settled(std::move(bound), result, [&](size_t i) {
    return !std::isfinite(terms.as<double>()[i]) && std::isfinite(carried.as<double>()[i]);
  });
}

Tensor sum(const Tensor& a, const Tensor& b) {
  return elementwise(Binary::Add, a, b);
}

/// Whether every value of `from`, or its real part, is one of `to`, which is inexact.
bool holds_every(Dtype to, Dtype from) {
  if (is_complex(from))
    return holds_every(to, part_dtype(from));
  if (from == part_dtype(to) || from == Dtype::Pred)
    return true;
  const FloatFormat wide = float_format(to);
  if (is_float(from)) {
    const FloatFormat narrow = float_format(from);
    return wide.unit_roundoff <= narrow.unit_roundoff &&
           wide.half_smallest <= narrow.half_smallest && wide.largest >= narrow.largest;
  }
  // A float holds all integers up to 1 / unit_roundoff.
  const auto bits = static_cast<int>(8 * itemsize(from).count()) - (is_signed(from) ? 1 : 0);
  return std::ldexp(wide.unit_roundoff, bits) <= 1;
}

/// Of each element of a conversion to floats, whether it is not rounded: it is the same when it is
/// converted back. An integer must also be one that the float's bits hold, as converting back
/// saturates.
Tensor converts_exactly(const Tensor& value, const Tensor& result) {
  Tensor exact = elementwise(Comparison::Eq, convert(result, value.dtype()), value);
  if (is_inexact(value.dtype()))
    return exact;
  const Tensor wide = convert(result, Dtype::F64);
  const double most = 1 / float_format(result.dtype()).unit_roundoff;
  const std::span<arith::Pred> elements = exact.as<arith::Pred>();
  for (size_t i = 0; i < elements.size(); ++i)
    if (std::fabs(wide.as<double>()[i]) > most)
      elements[i] = {0};
  return exact;
}

/// An operand as an op that flushes takes it, and how far that is from the exact one.
struct Flushed {
  Tensor value;
  Tensor error;
};

Flushed taken_with_error(const Tensor& value, const Tensor& error) {
  Tensor flushed = taken(value, Numerics::XlaCpu);
  if (!is_inexact(value.dtype()))
    return {std::move(flushed), error};
  const Tensor same = elementwise(Comparison::Eq, value, flushed);
  const Tensor apart = distances(value, flushed);
  Tensor further = each(error, [&](double e, size_t i) {
    return same.as<arith::Pred>()[i].value != 0 ? e : e + element(apart, i);
  });
  return {std::move(flushed), std::move(further)};
}

/// Whether an op flushes by XlaCpu: all but those that move bits, and dot_general, which is
/// computed as by Ieee.
bool flushes(const Op& op, const Tensor& operand, const Tensor& result) {
  switch (op.kind) {
    case OpKind::Neg:
    case OpKind::DotGeneral:
      return false;
    case OpKind::ConvertElementType:
      return conversion_flushes(operand.dtype(), result.dtype());
    case OpKind::ReduceSum:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
    case OpKind::ScatterAdd:
      return true;
    default:
      return rules(op.kind).elementwise.has_value();
  }
}

/// Whether a result of 0 is exact, of operands of these magnitudes: a factor or the numerator is 0,
/// or two cancel.
bool is_exact_zero(const Op& op, const std::vector<Tensor>& operands, size_t i) {
  const auto size = [&](size_t k) { return element(operands[k], i); };
  switch (op.kind) {
    case OpKind::Add:
    case OpKind::Sub:
      return size(0) == size(1);
    case OpKind::Mul:
      return size(0) == 0 || size(1) == 0;
    case OpKind::Max:
    case OpKind::Min:
      return true;
    default:
      return size(0) == 0;
  }
}

/// How far a result may be from what it was before it was flushed.
double most_flushed(Dtype dtype) {
  return parts_of(dtype) * flushed_below(dtype, Numerics::XlaCpu);
}

class Bounds {
 public:
  Bounds(const Program& program, const Lowered& lowered, const DeviceValues& values,
         RoundedBy rounded_by)
      : program_(program),
        lowered_(lowered),
        lists_(program, lowered),
        values_(values),
        rounded_by_(rounded_by),
        futures_(program),
        bounds_(program) {
    for (const Argument& argument : program.arguments)
      for (uint32_t d = 0; d < program.mesh.devices(); ++d)
        if (const std::optional<Tensor>& value = values.at(argument.value, LogicalId(d)))
          bounds_.at(argument.value, LogicalId(d)) = Tensor(Dtype::F64, value->shape());
  }

  DeviceValues take() { return std::move(bounds_); }

  void local(OpId id, LogicalId device) {
    const Op& op = program_.op(id);
    std::vector<Tensor> moved;
    if (rules(op.kind).moves)
      moved = moved_bounds(op, device);
    for (size_t r = 0; r < op.results.size(); ++r) {
      const Tensor& result = *values_.at(op.results[r], device);
      bounds_.at(op.results[r], device) =
          moved.empty() ? computed_bound(op, result, device) : std::move(moved[r]);
    }
  }

  void enter(CollectiveId, Node, OpId) {}
  void receive(CollectiveId, StepRef, const Step&) {}
  void send(CollectiveId, StepRef, const Step&) {}

  void exit(CollectiveId id, Node node, OpId op_id) {
    const Collective& collective = lowered_.collective(id);
    const LogicalId device = collective.members[node.index()];
    const Op& op = program_.op(op_id);
    const ValueType& type = program_.value(op.results.front()).type;
    std::vector<ExchangedOperand> owned;
    std::vector<const Tensor*> errors;
    if (!takes_result(op))
      return set(op, device, Tensor(Dtype::F64, type.shape));
    const Shape given_shape = exchanged_types(program_, op).operand.shape;
    // Of members without one, also where a wrong schedule ended before a member had its operand.
    std::vector<Tensor> none;
    owned.reserve(collective.members.size());
    none.reserve(collective.members.size() * rules(op.kind).form.exchanged_operands);
    bool exact_tables = true;
    for (size_t r = 0; r < collective.members.size(); ++r) {
      const Op& own = program_.op(lists_.op(id, Node(r)));
      std::vector<const Tensor*> parts;
      for (const ValueId operand : given_by(own)) {
        const std::optional<Tensor>& known = bounds_.at(operand, collective.members[r]);
        parts.push_back(known ? &*known
                              : &none.emplace_back(Dtype::F64, program_.value(operand).type.shape));
      }
      for (size_t k = given_by(own).size(); k < own.operands.size(); ++k) {
        const std::optional<Tensor>& known = bounds_.at(own.operands[k], collective.members[r]);
        exact_tables = exact_tables && (!known || all_zero(*known));
      }
      if (parts.empty())
        parts.push_back(&none.emplace_back(Dtype::F64, given_shape));
      errors.push_back(&owned.emplace_back(parts).tensor());
    }
    if (!exact_tables) {  // the slices might be others
      Tensor unknown(Dtype::F64, type.shape);
      std::ranges::fill(unknown.as<double>(), kNoBound);
      return set(op, device, std::move(unknown));
    }
    const Numerics numerics = rounded_by_ == RoundedBy::Xla
                                  ? Numerics::XlaCpu
                                  : op_folding(program_, op, collective.work).numerics;
    std::vector<Tensor> of_taken;
    if (numerics == Numerics::XlaCpu) {
      of_taken.reserve(errors.size());
      for (size_t r = 0; r < errors.size(); ++r)
        if (const auto value = given(id, Node(r)))
          errors[r] = &of_taken.emplace_back(taken_with_error(value->tensor(), *errors[r]).error);
    }
    const auto count = static_cast<uint32_t>(collective.members.size());
    const Definition definition =
        define(op, given_shape, count, Rank(node.index()), tables_of(program_, collective));
    if (!is_inexact(type.dtype)) {
      Definition of_errors = definition;
      of_errors.gives = Gives::Fold;
      if (definition.combine != Combine::None)
        of_errors.combine = Combine::Max;
      set(op, device, exact_or_unknown(apply(of_errors, errors, Dtype::F64, type.shape)));
      return;
    }
    Definition of_errors = definition;
    // The extremum of values that are off is off by the largest of their errors, also the least.
    if (definition.combine == Combine::Min)
      of_errors.combine = Combine::Max;
    Tensor bound = apply(of_errors, errors, Dtype::F64, type.shape);
    if (definition.combine == Combine::Add) {
      // A sum of integers is exact, and is rounded once to become a mean's float.
      const bool mean = definition.gives == Gives::Mean;
      const bool exact = !is_inexact(program_.value(op.operands.front()).type.dtype);
      const FloatFormat format = float_format(type.dtype);
      // Of a mean, these are divided by the number already.
      const Tensor terms = apply(definition, sizes(id), Dtype::F64, type.shape);
      const Tensor carried = bound;
      bound = each(std::move(bound), [&](double error, size_t i) {
        const double size = terms.as<double>()[i];
        const double sum =
            exact ? format.unit_roundoff * size : sum_error(type.dtype, count, size, numerics);
        return error + sum + (mean ? mean_rounding(type.dtype, size, numerics) : 0);
      });
      const std::optional<ValueId> result = futures_.result(op);
      if (result && values_.at(*result, device))
        bound = settled_sums(std::move(bound), *values_.at(*result, device), terms, carried);
    }
    set(op, device, std::move(bound));
  }

 private:
  bool flushes_subnormals() const {
    return rounded_by_ == RoundedBy::Xla || program_.numerics == Numerics::XlaCpu;
  }
  FloatFormat format_of(Dtype dtype) const { return float_format(dtype, rounded_by_); }

  /// What a member gives; empty where it gives nothing, or a wrong schedule ended before it had it.
  std::optional<ExchangedOperand> given(CollectiveId id, Node node) const {
    const LogicalId device = lowered_.collective(id).members[node.index()];
    return given_operand(program_.op(lists_.op(id, node)), values_, device);
  }

  /// Sets the bound of a collective's result.
  void set(const Op& op, LogicalId device, Tensor bound) {
    for (const ValueId value : futures_.results(op))
      bounds_.at(value, device) = bound;
    bounds_.at(op.results.front(), device) = std::move(bound);
  }

  /// The magnitudes of the operands of a group, in rank order; made once.
  std::vector<const Tensor*> sizes(CollectiveId id) {
    const Collective& collective = lowered_.collective(id);
    std::vector<Tensor>& known = sizes_[id];
    if (known.empty())
      for (size_t r = 0; r < collective.members.size(); ++r)
        known.push_back(magnitudes(given(id, Node(r))->tensor()));
    std::vector<const Tensor*> result;
    for (const Tensor& tensor : known)
      result.push_back(&tensor);
    return result;
  }

  Tensor computed_bound(const Op& op, const Tensor& result, LogicalId device) const {
    std::vector<const Tensor*> values;
    std::vector<const Tensor*> errors;
    for (const ValueId operand : op.operands) {
      values.push_back(&*values_.at(operand, device));
      errors.push_back(&*bounds_.at(operand, device));
    }
    // An op that flushes is one of the operands that it takes, which are further from exact ones.
    std::vector<Flushed> flushed;
    if (flushes_subnormals() && !values.empty() && flushes(op, *values[0], result)) {
      for (size_t k = 0; k < values.size(); ++k)
        flushed.push_back(taken_with_error(*values[k], *errors[k]));
      for (size_t k = 0; k < values.size(); ++k) {
        values[k] = &flushed[k].value;
        errors[k] = &flushed[k].error;
      }
    }
    if (!is_inexact(result.dtype()))
      return discrete_bound(op, values, errors, result);
    Tensor bound = float_bound(op, values, errors, result);
    return flushed.empty() ? bound : with_flushed_result(op, values, result, std::move(bound));
  }

  /// Of a result before it may be flushed.
  Tensor float_bound(const Op& op, const std::vector<const Tensor*>& values,
                     const std::vector<const Tensor*>& errors, const Tensor& result) const {
    const FloatFormat format = format_of(result.dtype());
    if (const std::optional<Elementwise>& computed = rules(op.kind).elementwise)
      return is_complex(result.dtype()) ? complex_bound(*computed, values, errors, result)
                                        : elementwise_bound(*computed, values, errors, result);
    const Tensor sizes = magnitudes(result);
    const std::span<const double> r = sizes.as<double>();
    switch (op.kind) {
      case OpKind::ConvertElementType:
        if (holds_every(result.dtype(), values[0]->dtype()))
          return *errors[0];
        return settled_sums(
            each(*errors[0],
                 [&, exact = converts_exactly(*values[0], result)](double error, size_t i) {
                   return exact.as<arith::Pred>()[i].value != 0
                              ? error
                              : error + format.unit_roundoff * r[i] +
                                    parts_of(result.dtype()) * format.half_smallest;
                 }),
            result, magnitudes(*values[0]), *errors[0]);
      case OpKind::Real:
      case OpKind::Imag:
      case OpKind::Conj:
        return *errors[0];
      case OpKind::Complex:
        return each(sum(*errors[0], *errors[1]), [](double error, size_t) { return error; });
      case OpKind::ReduceSum:
        return sum_bound(op, *values[0], *errors[0], result);
      case OpKind::ReduceMax:
      case OpKind::ReduceMin:
        return each(reduce(*errors[0], Combine::Max, op.attributes.integers("axes")),
                    [](double error, size_t) { return std::max(error, 0.0); });
      case OpKind::ScatterAdd: {
        const ScatterSums sums = scatter_sums(op, values, errors);
        const double flushed = flushes_subnormals() ? most_flushed(result.dtype()) : 0;
        return settled_sums(each(sums.carried,
                                 [&](double error, size_t i) {
                                   const double rounding =
                                       format.unit_roundoff * element(sums.terms, i);
                                   return error + element(sums.added, i) * (rounding + flushed);
                                 }),
                            result, sums.terms, sums.carried);
      }
      case OpKind::DotGeneral:
        return dot_bound(op, values, errors, result);
      default:
        return Tensor(Dtype::F64, result.shape());
    }
  }

  /// With what is lost where a result that is not 0 becomes 0.
  Tensor with_flushed_result(const Op& op, const std::vector<const Tensor*>& values,
                             const Tensor& result, Tensor bound) const {
    const bool has_parts = is_complex(result.dtype());
    const double most = most_flushed(result.dtype());
    if (most == 0 || op.kind == OpKind::ReduceMax || op.kind == OpKind::ReduceMin ||
        op.kind == OpKind::ScatterAdd)  // whose bound has it
      return bound;
    if (op.kind == OpKind::ReduceSum) {
      const double partial_sums = static_cast<double>(terms(program_, op)) * most;
      const Tensor sums =
          reduce(magnitudes(*values[0]), Combine::Add, op.attributes.integers("axes"));
      return each(std::move(bound), [&](double error, size_t i) {
        return element(sums, i) == 0 ? error : error + partial_sums;
      });
    }
    // One part of a complex number may be flushed, and each product that makes one.
    if (has_parts)
      return each(std::move(bound), [&](double error, size_t) { return error + 3 * most; });
    const Tensor sizes = magnitudes(result);
    std::vector<Tensor> operands;
    for (const Tensor* value : values)
      operands.push_back(magnitudes(*value));
    return each(std::move(bound), [&](double error, size_t i) {
      const bool exact = element(sizes, i) != 0 || is_exact_zero(op, operands, i);
      return exact ? error : error + most;
    });
  }

  Tensor sum_bound(const Op& op, const Tensor& value, const Tensor& error,
                   const Tensor& result) const {
    const std::vector<int64_t>& axes = op.attributes.integers("axes");
    const Tensor sums = reduce(magnitudes(value), Combine::Add, axes);
    const Dtype accumulator =
        rounded_by_ == RoundedBy::Xla ? result.dtype() : reduced_sum_dtype(result.dtype());
    const bool widened = accumulator != result.dtype();
    const FloatFormat accumulated = format_of(accumulator);
    const FloatFormat format = format_of(result.dtype());
    const auto count = static_cast<double>(terms(program_, op));
    const double roundings = count > 1 ? (count - 1) * accumulated.unit_roundoff : 0;
    const Tensor sizes = magnitudes(result);
    const Tensor carried = reduce(error, Combine::Add, axes);
    return settled_sums(each(carried,
                             [&](double errors, size_t i) {
                               const double bound = errors + roundings * sums.as<double>()[i];
                               return widened
                                          ? bound + format.unit_roundoff * sizes.as<double>()[i] +
                                                format.half_smallest
                                          : bound;
                             }),
                        result, sums, carried);
  }

  /// Of each result: the errors go where their elements go; what fills other places is exact.
  /// Nothing is known of an element that an inexact index brings.
  std::vector<Tensor> moved_bounds(const Op& op, LogicalId device) const {
    std::vector<const Tensor*> operands;
    std::vector<const Tensor*> inexact;  // bounds of indices
    for (size_t k = 0; k < op.operands.size(); ++k) {
      const Tensor& bound = *bounds_.at(op.operands[k], device);
      const bool index = rules(op.kind).index_operands.contain(k);
      operands.push_back(index ? &*values_.at(op.operands[k], device) : &bound);
      if (index && !all_zero(bound))
        inexact.push_back(&bound);
    }
    Op of_bounds = op;
    if (op.attributes.has("fill_value"))  // what fills a place is exact
      of_bounds.attributes.set("fill_value", 0.0);
    std::vector<Tensor> bounds = evaluate_local(program_, of_bounds, operands, device);
    for (Tensor& bound : bounds)
      for (double& error : bound.as<double>())
        error = std::isnan(error) ? 0 : error;  // take fills with NaN
    for (const Tensor* index : inexact)
      for (Tensor& bound : bounds)
        bound = each(std::move(bound), [&](double error, size_t i) {
          return op.kind == OpKind::SelectN && element(*index, i) == 0 ? error : kNoBound;
        });
    return bounds;
  }

  Tensor complex_bound(const Elementwise& op, const std::vector<const Tensor*>& values,
                       const std::vector<const Tensor*>& errors, const Tensor& result) const {
    std::vector<Tensor> wide;
    std::vector<Tensor> sizes;
    for (const Tensor* value : values) {
      wide.push_back(convert(*value, Dtype::C128));
      sizes.push_back(magnitudes(*value));
    }
    const auto operand = [&](size_t k, size_t i) {
      return Approximate{element(sizes[k], i), element(*errors[k], i)};
    };
    Tensor bound = each(magnitudes(result), [&](double r, size_t i) {
      if (const auto* unary = std::get_if<Unary>(&op)) {
        const arith::Wide x = arith::wide(wide[0].as<arith::C128>()[i]);
        return complex_carried_error(*unary, {x, element(*errors[0], i)}, r) +
               complex_own_rounding(*unary, r, result.dtype(), rounded_by_);
      }
      const Binary binary = std::get<Binary>(op);  // comparisons give pred
      return carried_error(binary, operand(0, i), operand(1, i), r) +
             complex_own_rounding(binary, r, result.dtype(), rounded_by_);
    });
    return settled(std::move(bound), result, [](size_t) { return false; });
  }

  Tensor elementwise_bound(const Elementwise& op, const std::vector<const Tensor*>& values,
                           const std::vector<const Tensor*>& errors, const Tensor& result) const {
    std::vector<Tensor> sizes;
    for (const Tensor* value : values)
      sizes.push_back(magnitudes(*value));
    const auto operand = [&](size_t k, size_t i) {
      return Approximate{element(sizes[k], i), element(*errors[k], i)};
    };
    Tensor bound = each(magnitudes(result), [&](double r, size_t i) {
      if (const auto* unary = std::get_if<Unary>(&op))
        return carried_error(*unary, operand(0, i), r) +
               own_rounding(*unary, r, result.dtype(), rounded_by_);
      const Binary binary = std::get<Binary>(op);  // comparisons give pred
      return carried_error(binary, operand(0, i), operand(1, i), r) +
             own_rounding(binary, r, result.dtype(), rounded_by_);
    });
    const bool by_sign = op == Elementwise(Binary::Mul) || op == Elementwise(Binary::Div);
    return settled(std::move(bound), result, [&](size_t i) {
      bool finite = true;
      bool certain = true;
      for (size_t k = 0; k < sizes.size(); ++k) {
        const Approximate x = operand(k, i);
        finite = finite && std::isfinite(x.size);
        // The sign of the exact operand may decide between infinities, and whether it is 0.
        const bool has_sign = x.error == 0 || x.error < x.size;
        certain = certain && std::isfinite(x.error) && (has_sign || !by_sign);
      }
      return !finite && certain;
    });
  }

  Tensor dot_bound(const Op& op, const std::vector<const Tensor*>& values,
                   const std::vector<const Tensor*>& errors, const Tensor& result) const {
    const auto& lists = op.attributes.lists("dimension_numbers");
    const DotDimensions dimensions{lists[0], lists[1], lists[2], lists[3]};
    const auto dot = [&](const Tensor& lhs, const Tensor& rhs) {
      return dot_general(lhs, rhs, dimensions, Dtype::F64);
    };
    const Tensor x = magnitudes(*values[0]);
    const Tensor y = magnitudes(*values[1]);
    const Tensor y_most = sum(y, *errors[1]);
    const Tensor carried = sum(dot(x, *errors[1]), dot(*errors[0], y_most));
    const Tensor products = dot(x, y);

    const auto count = static_cast<double>(terms(program_, op));
    const FloatFormat accumulated =
        format_of(dot_sum_dtype(values[0]->dtype(), values[1]->dtype(), result.dtype()));
    const FloatFormat format = format_of(result.dtype());
    const bool has_parts = is_complex(result.dtype());
    const double roundings = (count + (has_parts ? 3 : 1)) * accumulated.unit_roundoff;
    const double smallest = (has_parts ? 3 : 1) * count * accumulated.half_smallest;
    const Tensor sizes = magnitudes(result);
    Tensor bound = each(carried, [&](double error, size_t i) {
      return error + roundings * products.as<double>()[i] + smallest +
             format.unit_roundoff * sizes.as<double>()[i] +
             parts_of(result.dtype()) * format.half_smallest;
    });
    return settled(std::move(bound), result, [](size_t) { return false; });
  }

  const Program& program_;
  const Lowered& lowered_;
  const ProgramLists lists_;
  const DeviceValues& values_;
  const RoundedBy rounded_by_;
  const Futures futures_;
  std::map<CollectiveId, std::vector<Tensor>> sizes_;
  DeviceValues bounds_;
};

}  // namespace

DeviceValues error_bounds(const Program& program, const Lowered& lowered,
                          const DeviceValues& values, RoundedBy rounded_by) {
  Bounds bounds(program, lowered, values, rounded_by);
  walk(program, lowered, bounds, with_concrete);
  return bounds.take();
}

namespace {

template <class E>
Nearness nearness_of_inexact(const Tensor& a, const Tensor& bound_a, const Tensor& b,
                             const Tensor& bound_b) {
  const Tensor sizes_a = magnitudes(a);
  const Tensor sizes_b = magnitudes(b);
  const Tensor apart = distances(a, b);
  Nearness nearness;
  for (size_t i = 0; i < static_cast<size_t>(a.elements()); ++i) {
    const E x = a.as<E>()[i];
    const E y = b.as<E>()[i];
    if (arith::same_value(x, y))
      continue;
    const auto element = static_cast<int64_t>(i);
    const double allowed = bound_a.as<double>()[i] + bound_b.as<double>()[i];
    const double found = apart.as<double>()[i];
    const double larger = std::max(sizes_a.as<double>()[i], sizes_b.as<double>()[i]);
    const Verdict verdict = by_bound({found, larger}, allowed);
    if (verdict == Verdict::Fails) {
      nearness.wrong = element;
      return nearness;
    }
    if (verdict == Verdict::Undecided && !nearness.undecided)
      nearness.undecided = element;
    if (found > nearness.largest.found)
      nearness.largest = {found, allowed};
  }
  return nearness;
}

}  // namespace

Nearness nearness(const Tensor& a, const Tensor& bound_a, const Tensor& b, const Tensor& bound_b) {
  return dispatch(a.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    if constexpr (arith::kIsFloat<E> || arith::kIsComplex<E>) {
      return nearness_of_inexact<E>(a, bound_a, b, bound_b);
    } else {
      Nearness nearness;
      for (size_t i = 0; i < static_cast<size_t>(a.elements()) && !nearness.wrong; ++i) {
        if (arith::same_value(a.as<E>()[i], b.as<E>()[i]))
          continue;
        const bool exact = bound_a.as<double>()[i] == 0 && bound_b.as<double>()[i] == 0;
        if (exact)
          nearness.wrong = static_cast<int64_t>(i);
        else if (!nearness.undecided)
          nearness.undecided = static_cast<int64_t>(i);
      }
      return nearness;
    }
  });
}

}  // namespace orrery
