#include "verifier/definition/local_bounds.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <variant>

#include "models/array/functions.h"
#include "models/array/kernels.h"
#include "models/array/work.h"
#include "models/base/check.h"
#include "simulator/values/host_executor.h"
#include "verifier/definition/bound_tensor.h"

namespace orrery {

namespace {

/// Returns whether every value of `from`, or its real part, is a value of `to`, which is inexact.
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

/// Returns, per element of a conversion to floats, whether it is not rounded: it is the same when
/// it is converted back. An integer must also be one that the float's bits hold, since converting
/// back saturates.
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

/// Returns the bounds of a comparison of x and y. The comparison is exact where x and y are further
/// apart than their errors.
Tensor compared(const Tensor& x, const Tensor& x_error, const Tensor& y, const Tensor& y_error,
                Tensor bound) {
  const Tensor apart = distances(x, y);
  return each(std::move(bound), [&](double, size_t i) {
    const double error = element(x_error, i) + element(y_error, i);
    return error == 0 || error < element(apart, i) ? 0 : kNoBound;
  });
}

/// Returns the bounds of a conversion of x. The conversion is exact where all values within the
/// error convert to the same. A complex number counts by its real part, which is off by no more
/// than the number.
Tensor discretely_converted(const Tensor& x, const Tensor& x_error, Dtype to, Tensor bound) {
  const Tensor wide = convert(x, Dtype::F64);
  return each(std::move(bound), [&](double, size_t i) {
    const double error = element(x_error, i);
    const double least = element(wide, i) - error;
    const double most = element(wide, i) + error;
    const bool same =
        to == Dtype::Pred ? least > 0 || most < 0 : std::trunc(least) == std::trunc(most);
    return error == 0 || same ? 0 : kNoBound;
  });
}

Tensor exact(const Computed& of) {
  return Tensor(Dtype::F64, of.result.shape());
}

Tensor unknown(const Computed& of) {
  return each(exact(of), [](double, size_t) { return kNoBound; });
}

/// Returns a bound of 0 for each element whose operands' elements are all exact.
Tensor exact_by_element(const Computed& of) {
  return each(exact(of), [&](double, size_t i) {
    const bool known = std::all_of(of.errors.begin(), of.errors.end(),
                                   [&](const Tensor* e) { return element(*e, i) == 0; });
    return known ? 0 : kNoBound;
  });
}

Tensor kept(const Computed& of) {
  return *of.errors[0];
}

Tensor of_parts(const Computed& of) {
  return each(elementwise(Binary::Add, *of.errors[0], *of.errors[1]),
              [](double error, size_t) { return error; });
}

Tensor of_stand_in(const Computed& of) {
  const bool is_operand = !of.values.empty() && of.values[0]->dtype() == of.result.dtype() &&
                          of.values[0]->shape() == of.result.shape();
  return is_operand ? kept(of) : exact(of);
}

Tensor conversion(const Computed& of) {
  const Tensor& operand = *of.values[0];
  const Tensor& error = *of.errors[0];
  const Tensor& result = of.result;
  if (holds_every(result.dtype(), operand.dtype()))
    return error;
  // A real dtype takes the real part alone, which is off by no more than the complex number.
  const bool drops_part = is_complex(operand.dtype()) && !is_complex(result.dtype());
  const Tensor value = drops_part ? convert(operand, part_dtype(operand.dtype())) : operand;
  const Tensor same = converts_exactly(value, result);
  const FloatFormat format = of.format_of(result.dtype());
  const Tensor sizes = magnitudes(result);
  const Tensor rounded = each(error, [&](double carried, size_t i) {
    return carried + format.unit_roundoff * element(sizes, i) +
           parts_of(result.dtype()) * format.half_smallest;
  });
  const Tensor known = settled_sums(rounded, result, magnitudes(value), error);
  return each(error, [&](double carried, size_t i) {
    return same.as<arith::Pred>()[i].value != 0 ? carried : element(known, i);
  });
}

Tensor discrete_conversion(const Computed& of) {
  return discretely_converted(*of.values[0], *of.errors[0], of.result.dtype(), exact(of));
}

bool conversion_flushes_of(const Computed& of) {
  return conversion_flushes(of.values[0]->dtype(), of.result.dtype());
}

const Elementwise& function_of(const Computed& of) {
  return *rules(of.op.kind).elementwise;
}

Tensor complex_function(const Computed& of) {
  std::vector<Tensor> wide;
  std::vector<Tensor> sizes;
  for (const Tensor* value : of.values) {
    wide.push_back(convert(*value, Dtype::C128));
    sizes.push_back(magnitudes(*value));
  }
  const auto operand = [&](size_t k, size_t i) {
    return Approximate{element(sizes[k], i), element(*of.errors[k], i)};
  };
  const Dtype dtype = of.result.dtype();
  Tensor bound = each(magnitudes(of.result), [&](double r, size_t i) {
    if (const auto* unary = std::get_if<Unary>(&function_of(of))) {
      const arith::Wide x = arith::wide(wide[0].as<arith::C128>()[i]);
      return complex_carried_error(*unary, {x, element(*of.errors[0], i)}, r) +
             complex_own_rounding(*unary, r, dtype, of.rounded_by);
    }
    const Binary binary = std::get<Binary>(function_of(of));  // comparisons give pred
    return carried_error(binary, operand(0, i), operand(1, i), r) +
           complex_own_rounding(binary, r, dtype, of.rounded_by);
  });
  return settled(std::move(bound), of.result, [](size_t) { return false; });
}

Tensor real_function(const Computed& of) {
  const Elementwise& function = function_of(of);
  std::vector<Tensor> sizes;
  for (const Tensor* value : of.values)
    sizes.push_back(magnitudes(*value));
  const auto operand = [&](size_t k, size_t i) {
    return Approximate{element(sizes[k], i), element(*of.errors[k], i)};
  };
  const Dtype dtype = of.result.dtype();
  Tensor bound = each(magnitudes(of.result), [&](double r, size_t i) {
    if (const auto* unary = std::get_if<Unary>(&function))
      return carried_error(*unary, operand(0, i), r) +
             own_rounding(*unary, r, dtype, of.rounded_by);
    const Binary binary = std::get<Binary>(function);  // comparisons give pred
    return carried_error(binary, operand(0, i), operand(1, i), r) +
           own_rounding(binary, r, dtype, of.rounded_by);
  });
  const bool by_sign = function == Elementwise(Binary::Mul) || function == Elementwise(Binary::Div);
  return settled(std::move(bound), of.result, [&](size_t i) {
    bool finite = true;
    bool certain = true;
    for (size_t k = 0; k < sizes.size(); ++k) {
      const Approximate x = operand(k, i);
      finite = finite && std::isfinite(x.size);
      // The sign of the exact operand may decide whether the result is +infinity or -infinity, and
      // whether a factor is 0.
      const bool has_sign = x.error == 0 || x.error < x.size;
      certain = certain && std::isfinite(x.error) && (has_sign || !by_sign);
    }
    return !finite && certain;
  });
}

Tensor function(const Computed& of) {
  return is_complex(of.result.dtype()) ? complex_function(of) : real_function(of);
}

Tensor discrete_function(const Computed& of) {
  if (std::holds_alternative<Comparison>(function_of(of)))
    return compared(*of.values[0], *of.errors[0], *of.values[1], *of.errors[1], exact(of));
  return exact_by_element(of);
}

bool always(const Computed&) {
  return true;
}

/// Returns whether a result of 0 is exact, given operands of these magnitudes: a factor or the
/// numerator is 0, or two operands cancel.
bool is_exact_zero(const std::optional<Elementwise>& function, const std::vector<Tensor>& operands,
                   size_t i) {
  const auto size = [&](size_t k) { return element(operands[k], i); };
  const Binary* const binary = function ? std::get_if<Binary>(&*function) : nullptr;
  if (binary == nullptr || *binary == Binary::Div)
    return size(0) == 0;
  if (*binary == Binary::Mul)
    return size(0) == 0 || size(1) == 0;
  if (*binary == Binary::Add || *binary == Binary::Sub)
    return size(0) == size(1);
  return true;  // one of the operands
}

/// Adds the amounts that may have been flushed by a conversion, or by a function of elements.
Tensor flushed_by_element(const Computed& of, Tensor bound) {
  const double most = most_flushed(of.result.dtype());
  // One part of a complex number may be flushed, and so may each product that makes one.
  if (is_complex(of.result.dtype()))
    return each(std::move(bound), [&](double error, size_t) { return error + 3 * most; });
  const Tensor sizes = magnitudes(of.result);
  std::vector<Tensor> operands;
  for (const Tensor* value : of.values)
    operands.push_back(magnitudes(*value));
  const std::optional<Elementwise>& function = rules(of.op.kind).elementwise;
  return each(std::move(bound), [&](double error, size_t i) {
    const bool is_exact = element(sizes, i) != 0 || is_exact_zero(function, operands, i);
    return is_exact ? error : error + most;
  });
}

ErrorRule error_rule(Errors kind) {
  switch (kind) {
    case Errors::Free:
      return {exact, unknown};
    case Errors::Kept:
      return {kept, exact_by_element};
    case Errors::Parts:
      return {of_parts, unknown};
    case Errors::Function:
      return {function, discrete_function, always, flushed_by_element};
    case Errors::Conversion:
      return {conversion, discrete_conversion, conversion_flushes_of, flushed_by_element};
    case Errors::Sum:
      return rule_of_sum();
    case Errors::Extremum:
      return rule_of_extremum();
    case Errors::ScatteredSum:
      return rule_of_scattered_sum();
    case Errors::Products:
      return rule_of_products();
    case Errors::StandIn:
      return {of_stand_in, unknown};
    case Errors::Moved:
    case Errors::Selected:
    case Errors::Body:
      break;
  }
  fail_check("the op computes", "errors pass through other ops by these", __FILE__, __LINE__);
}

}  // namespace

LocalBounds::LocalBounds(const Program& program, RoundedBy rounded_by)
    : program_(program),
      rounded_by_(rounded_by),
      flushes_subnormals_(rounded_by == RoundedBy::Xla || program.numerics == Numerics::XlaCpu),
      made_by_(program.values.size()) {
  for (size_t i = 0; i < program.ops.size(); ++i)
    for (const ValueId result : program.ops[i].results)
      made_by_[result.index()] = OpId(i);
}

std::vector<Tensor> LocalBounds::of(const Op& op, LogicalId device,
                                    const LocalValues& values) const {
  const Errors errors = rules(op.kind).errors;
  if (errors == Errors::Moved || errors == Errors::Selected)
    return moved(op, device, values);
  if (errors == Errors::Body)
    return of_body(op, values);
  std::vector<Tensor> bounds;
  for (const Tensor* result : values.results)
    bounds.push_back(computed(op, values, *result));
  if (const auto axes = own_extremum_axes(op))
    bounds[0] =
        with_known_extrema(std::move(bounds[0]), *values.results[0], *values.errors[0], *axes);
  return bounds;
}

/// Moves errors with their elements. Elements that fill other places are exact. An element that an
/// inexact index selects is unknown.
std::vector<Tensor> LocalBounds::moved(const Op& op, LogicalId device,
                                       const LocalValues& values) const {
  std::vector<const Tensor*> operands;
  std::vector<const Tensor*> inexact;  // bounds of indices
  for (size_t k = 0; k < values.errors.size(); ++k) {
    const bool index = rules(op.kind).index_operands.contain(k);
    operands.push_back(index ? values.operands[k] : values.errors[k]);
    if (index && !all_zero(*values.errors[k]))
      inexact.push_back(values.errors[k]);
  }
  Op of_bounds = op;
  if (op.attributes.has("fill_value"))  // what fills a place is exact
    of_bounds.attributes.set("fill_value", 0.0);
  std::vector<Tensor> bounds = evaluate_local(program_, of_bounds, operands, device);
  for (Tensor& bound : bounds)
    for (double& error : bound.as<double>())
      error = std::isnan(error) ? 0 : error;  // take fills with NaN
  const bool by_element = rules(op.kind).errors == Errors::Selected;
  for (const Tensor* index : inexact)
    for (Tensor& bound : bounds)
      bound = each(std::move(bound), [&](double error, size_t i) {
        return by_element && element(*index, i) == 0 ? error : kNoBound;
      });
  return bounds;
}

std::vector<Tensor> LocalBounds::of_body(const Op& op, const LocalValues& values) const {
  const Program body = body_of(program_, op);
  const LocalBounds in_body(body, rounded_by_);
  const std::vector<std::optional<Tensor>> computed = body_values(body, values.operands);
  std::vector<std::optional<Tensor>> errors(computed.size());
  for (size_t k = 0; k < values.errors.size(); ++k)
    errors[body.arguments[k].value.index()] = *values.errors[k];
  for (const Op& each : body.ops) {
    LocalValues own;
    for (const ValueId operand : each.operands) {
      own.operands.push_back(&*computed[operand.index()]);
      own.errors.push_back(&*errors[operand.index()]);
    }
    for (const ValueId result : each.results)
      own.results.push_back(&*computed[result.index()]);
    std::vector<Tensor> bounds = in_body.of(each, LogicalId(0), own);
    for (size_t k = 0; k < bounds.size(); ++k)
      errors[each.results[k].index()] = std::move(bounds[k]);
  }
  std::vector<Tensor> bounds;
  for (const ValueId output : body.outputs)
    bounds.push_back(std::move(*errors[output.index()]));
  return bounds;
}

Tensor LocalBounds::computed(const Op& op, const LocalValues& values, const Tensor& result) const {
  Computed of{program_,      op,    rounded_by_, flushes_subnormals_, values.operands,
              values.errors, result};
  const ErrorRule rule = error_rule(rules(op.kind).errors);
  const bool flushes =
      flushes_subnormals_ && !of.values.empty() && rule.flushes != nullptr && rule.flushes(of);
  std::vector<Flushed> taken;
  if (flushes) {
    for (size_t k = 0; k < of.values.size(); ++k)
      taken.push_back(taken_with_error(*of.values[k], *of.errors[k]));
    for (size_t k = 0; k < of.values.size(); ++k) {
      of.values[k] = &taken[k].value;
      of.errors[k] = &taken[k].error;
    }
  }
  if (!is_inexact(result.dtype())) {
    const bool inputs_are_exact = std::all_of(of.errors.begin(), of.errors.end(),
                                              [](const Tensor* e) { return all_zero(*e); });
    return inputs_are_exact ? exact(of) : rule.discrete(of);
  }
  Tensor bound = rule.inexact(of);
  return flushes && rule.flushed != nullptr && most_flushed(result.dtype()) != 0
             ? rule.flushed(of, std::move(bound))
             : bound;
}

}  // namespace orrery
