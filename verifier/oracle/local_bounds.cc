#include "verifier/oracle/local_bounds.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "models/array/functions.h"
#include "models/array/kernels.h"
#include "models/program/rules.h"
#include "simulator/values/host_executor.h"
#include "verifier/oracle/bound_tensor.h"
#include "verifier/oracle/complex_bounds.h"
#include "verifier/oracle/discrete_bounds.h"
#include "verifier/oracle/elementwise_bounds.h"
#include "verifier/oracle/flushed_bounds.h"
#include "verifier/oracle/folds.h"
#include "verifier/oracle/scatter_sums.h"
#include "verifier/oracle/settled.h"

namespace orrery {

namespace {

/// How many times (K + 1) v sum |x y| a sum of K products may be off.
///
/// Tensor cores multiply f16 and bf16 exactly. They add at least 4 products to a sum at once: each
/// addend is cut off below the last bit of f32 of the largest one, and so is the new sum (Fasi,
/// Higham, Mikaitis, Pranesh: Numerical behavior of NVIDIA tensor cores, PeerJ Comput. Sci. 7:e330,
/// 2021). Each cut is up to 2 v sum |x y|. There are K cuts of products, and two of sums for each
/// of at most (K + 3) / 4 additions: 2 (K + (K + 3) / 2) <= 3 (K + 1).
/// Others are multiplied and added with one rounding to nearest, or two.
double tensor_core_factor(Dtype operands, RoundedBy rounded_by) {
  const bool narrow = operands == Dtype::F16 || operands == Dtype::BF16;
  return rounded_by == RoundedBy::CublasLt && narrow ? 3 : 1;
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

/// Of one op on one device.
class LocalBounds {
 public:
  LocalBounds(const Program& program, const Op& op, LogicalId device, RoundedBy rounded_by)
      : program_(program), op_(op), device_(device), rounded_by_(rounded_by) {}

  /// Of each result: the errors go where their elements go; what fills other places is exact.
  /// Nothing is known of an element that an inexact index brings.
  std::vector<Tensor> moved(const std::vector<const Tensor*>& values,
                            const std::vector<const Tensor*>& errors) const {
    std::vector<const Tensor*> operands;
    std::vector<const Tensor*> inexact;  // bounds of indices
    for (size_t k = 0; k < errors.size(); ++k) {
      const bool index = rules(op_.kind).index_operands.contain(k);
      operands.push_back(index ? values[k] : errors[k]);
      if (index && !all_zero(*errors[k]))
        inexact.push_back(errors[k]);
    }
    Op of_bounds = op_;
    if (op_.attributes.has("fill_value"))  // what fills a place is exact
      of_bounds.attributes.set("fill_value", 0.0);
    std::vector<Tensor> bounds = evaluate_local(program_, of_bounds, operands, device_);
    for (Tensor& bound : bounds)
      for (double& error : bound.as<double>())
        error = std::isnan(error) ? 0 : error;  // take fills with NaN
    for (const Tensor* index : inexact)
      for (Tensor& bound : bounds)
        bound = each(std::move(bound), [&](double error, size_t i) {
          return op_.kind == OpKind::SelectN && element(*index, i) == 0 ? error : kNoBound;
        });
    return bounds;
  }

  /// Of a result that is computed.
  Tensor computed(std::vector<const Tensor*> values, std::vector<const Tensor*> errors,
                  const Tensor& result) const {
    // An op that flushes is one of the operands that it takes, which are further from exact ones.
    std::vector<Flushed> flushed;
    if (flushes_subnormals() && !values.empty() && flushes(op_, *values[0], result)) {
      for (size_t k = 0; k < values.size(); ++k)
        flushed.push_back(taken_with_error(*values[k], *errors[k]));
      for (size_t k = 0; k < values.size(); ++k) {
        values[k] = &flushed[k].value;
        errors[k] = &flushed[k].error;
      }
    }
    if (!is_inexact(result.dtype()))
      return discrete_bound(op_, values, errors, result);
    Tensor bound = float_bound(values, errors, result);
    return flushed.empty() ? bound
                           : with_flushed_result(program_, op_, values, result, std::move(bound));
  }

 private:
  bool flushes_subnormals() const {
    return rounded_by_ == RoundedBy::Xla || program_.numerics == Numerics::XlaCpu;
  }
  FloatFormat format_of(Dtype dtype) const { return float_format(dtype, rounded_by_); }

  /// Of a result before it may be flushed.
  Tensor float_bound(const std::vector<const Tensor*>& values,
                     const std::vector<const Tensor*>& errors, const Tensor& result) const {
    const std::optional<Elementwise>& computed = rules(op_.kind).elementwise;
    if (computed && op_.kind != OpKind::Neg)
      return is_complex(result.dtype()) ? complex_bound(*computed, values, errors, result)
                                        : elementwise_bound(*computed, values, errors, result);
    switch (op_.kind) {
      case OpKind::ConvertElementType:
        return conversion_bound(*values[0], *errors[0], result);
      case OpKind::Neg:  // only signs, also of infinite parts
      case OpKind::Real:
      case OpKind::Imag:
      case OpKind::Conj:
        return *errors[0];
      case OpKind::Complex:
        return each(sum(*errors[0], *errors[1]), [](double error, size_t) { return error; });
      case OpKind::ReduceSum:
        return sum_bound(*values[0], *errors[0], result);
      case OpKind::ReduceMax:
      case OpKind::ReduceMin:
        return each(reduce(*errors[0], Combine::Max, op_.attributes.integers("axes")),
                    [](double error, size_t) { return std::max(error, 0.0); });
      case OpKind::ScatterAdd: {
        const ScatterSums sums = scatter_sums(op_, values, errors);
        const double flushed = flushes_subnormals() ? most_flushed(result.dtype()) : 0;
        const double roundoff = format_of(result.dtype()).unit_roundoff;
        return settled_sums(each(sums.carried,
                                 [&](double error, size_t i) {
                                   const double rounding = roundoff * element(sums.terms, i);
                                   return error + element(sums.added, i) * (rounding + flushed);
                                 }),
                            result, sums.terms, sums.carried);
      }
      case OpKind::DotGeneral:
        return dot_bound(values, errors, result);
      case OpKind::Compute:  // its stand-in is its first operand, or zeros
        return !values.empty() && values[0]->dtype() == result.dtype() &&
                       values[0]->shape() == result.shape()
                   ? *errors[0]
                   : Tensor(Dtype::F64, result.shape());
      default:
        return Tensor(Dtype::F64, result.shape());
    }
  }

  Tensor conversion_bound(const Tensor& operand, const Tensor& error, const Tensor& result) const {
    if (holds_every(result.dtype(), operand.dtype()))
      return error;
    // A real dtype takes the real part alone, which is off by no more than the number.
    const bool drops_part = is_complex(operand.dtype()) && !is_complex(result.dtype());
    const Tensor value = drops_part ? convert(operand, part_dtype(operand.dtype())) : operand;
    const Tensor exact = converts_exactly(value, result);
    const FloatFormat format = format_of(result.dtype());
    const Tensor sizes = magnitudes(result);
    const Tensor rounded = each(error, [&](double carried, size_t i) {
      return carried + format.unit_roundoff * element(sizes, i) +
             parts_of(result.dtype()) * format.half_smallest;
    });
    const Tensor known = settled_sums(rounded, result, magnitudes(value), error);
    return each(error, [&](double carried, size_t i) {
      return exact.as<arith::Pred>()[i].value != 0 ? carried : element(known, i);
    });
  }

  Tensor sum_bound(const Tensor& value, const Tensor& error, const Tensor& result) const {
    const std::vector<int64_t>& axes = op_.attributes.integers("axes");
    const Tensor sums = reduce(magnitudes(value), Combine::Add, axes);
    const Dtype accumulator =
        rounded_by_ == RoundedBy::Xla ? result.dtype() : reduced_sum_dtype(result.dtype());
    const bool widened = accumulator != result.dtype();
    const FloatFormat accumulated = format_of(accumulator);
    const FloatFormat format = format_of(result.dtype());
    const auto count = static_cast<double>(terms(program_, op_));
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

  Tensor dot_bound(const std::vector<const Tensor*>& values,
                   const std::vector<const Tensor*>& errors, const Tensor& result) const {
    const auto& lists = op_.attributes.lists("dimension_numbers");
    const DotDimensions dimensions{lists[0], lists[1], lists[2], lists[3]};
    const auto dot = [&](const Tensor& lhs, const Tensor& rhs) {
      return dot_general(lhs, rhs, dimensions, Dtype::F64);
    };
    const Tensor x = magnitudes(*values[0]);
    const Tensor y = magnitudes(*values[1]);
    const Tensor y_most = sum(y, *errors[1]);
    const Tensor carried = sum(dot(x, *errors[1]), dot(*errors[0], y_most));
    const Tensor products = dot(x, y);

    const auto count = static_cast<double>(terms(program_, op_));
    const FloatFormat accumulated =
        format_of(dot_sum_dtype(values[0]->dtype(), values[1]->dtype(), result.dtype()));
    const FloatFormat format = format_of(result.dtype());
    const bool has_parts = is_complex(result.dtype());
    const double cuts = tensor_core_factor(values[0]->dtype(), rounded_by_);
    const double roundings = cuts * (count + (has_parts ? 3 : 1)) * accumulated.unit_roundoff;
    const double smallest = cuts * (has_parts ? 3 : 1) * count * accumulated.half_smallest;
    const Tensor sizes = magnitudes(result);
    Tensor bound = each(carried, [&](double error, size_t i) {
      return error + roundings * products.as<double>()[i] + smallest +
             format.unit_roundoff * sizes.as<double>()[i] +
             parts_of(result.dtype()) * format.half_smallest;
    });
    return settled(std::move(bound), result, [](size_t) { return false; });
  }

  const Program& program_;
  const Op& op_;
  const LogicalId device_;
  const RoundedBy rounded_by_;
};

}  // namespace

std::vector<Tensor> local_bounds(const Program& program, const Op& op, LogicalId device,
                                 const LocalValues& of, RoundedBy rounded_by) {
  const LocalBounds bounds(program, op, device, rounded_by);
  if (rules(op.kind).moves)
    return bounds.moved(of.operands, of.errors);
  std::vector<Tensor> computed;
  for (const Tensor* result : of.results)
    computed.push_back(bounds.computed(of.operands, of.errors, *result));
  return computed;
}

}  // namespace orrery
