// Sums of numbers of few bits are exact in any order, so that values which would differ on other
// data are equal.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/program/rules.h"
#include "verifier/expect/expect.h"
#include "verifier/oracle/float_format.h"
#include "verifier/oracle/folds.h"

namespace orrery {

namespace {

constexpr int kSignificant = 53;  // bits of a double

/// What all elements of a value on all devices, or the parts of complex ones, are whole multiples
/// of, a power of two, and the largest magnitude.
struct Digits {
  double unit = std::numeric_limits<double>::infinity();  // of zeros alone
  double largest = 0;
};

/// The largest power of two of which x is a whole multiple. Requires a finite x other than 0.
double unit_of(double x) {
  int exponent = 0;
  const auto digits =
      static_cast<uint64_t>(std::ldexp(std::fabs(std::frexp(x, &exponent)), kSignificant));
  return std::ldexp(1.0, exponent - kSignificant + std::countr_zero(digits));
}

/// The elements of a tensor, or the parts of complex ones, as doubles.
Tensor numbers(const Tensor& tensor) {
  return convert(is_complex(tensor.dtype()) ? parts(tensor) : tensor, Dtype::F64);
}

/// Empty where an element is not finite.
std::optional<Digits> digits_of(const Program& program, const DeviceValues& computed,
                                ValueId value) {
  Digits digits;
  for (uint32_t d = 0; d < program.mesh.devices(); ++d) {
    const std::optional<Tensor>& tensor = computed.at(value, LogicalId(d));
    if (!tensor)
      continue;
    const Tensor wide = numbers(*tensor);
    for (const double element : wide.as<double>()) {
      if (!std::isfinite(element))
        return std::nullopt;
      if (element == 0)
        continue;
      digits.unit = std::min(digits.unit, unit_of(element));
      digits.largest = std::max(digits.largest, std::fabs(element));
    }
  }
  return digits;
}

/// The dtype in which an op that sums floats keeps its sums.
Dtype accumulator(const Program& program, const Op& op) {
  const Dtype result = program.value(op.results.front()).type.dtype;
  const auto operand = [&](size_t k) { return program.value(op.operands[k]).type.dtype; };
  switch (op.kind) {
    case OpKind::DotGeneral:
      return dot_sum_dtype(operand(0), operand(1), result);
    case OpKind::ReduceSum:
      return reduced_sum_dtype(result);
    default:
      return result;
  }
}

/// How many floats or complex numbers an op sums for one element; 1 for ops that do not sum.
int64_t summed(const Program& program, const Op& op) {
  const std::optional<Elementwise>& computed = rules(op.kind).elementwise;
  const bool adds = computed == Elementwise(Binary::Add) || computed == Elementwise(Binary::Sub);
  return adds && is_inexact(program.value(op.results.front()).type.dtype) ? 2 : terms(program, op);
}

/// Requires an op that sums floats or complex numbers.
bool sums_exactly(const Program& program, const DeviceValues& computed, const Op& op) {
  Digits term;
  for (size_t k = 0; k < op.operands.size(); ++k) {
    const std::optional<Digits> operand = digits_of(program, computed, op.operands[k]);
    if (!operand)
      return false;
    if (k == 0)
      term = *operand;
    else if (op.kind == OpKind::DotGeneral)
      term = {term.unit * operand->unit, term.largest * operand->largest};
    else
      term = {std::min(term.unit, operand->unit), std::max(term.largest, operand->largest)};
  }
  const Dtype summed_in = accumulator(program, op);
  const FloatFormat format = float_format(summed_in);
  // Each part of a complex product is a sum of two.
  const bool adds_two = op.kind == OpKind::DotGeneral && is_complex(summed_in);
  const double largest_sum =
      (adds_two ? 2 : 1) * static_cast<double>(summed(program, op)) * term.largest;
  const double smallest =
      std::max(2 * format.half_smallest, flushed_below(summed_in, program.numerics));
  return std::isinf(term.unit) ||
         (term.unit >= smallest && largest_sum / term.unit * format.unit_roundoff <= 1);
}

}  // namespace

bool Expectations::sums_are_exact(std::span<const ValueId> values) const {
  const Program& program = evidence_.scenario.program;
  std::set<OpId> sums;
  for (const ValueId value : values)
    for (const OpId id : ops_behind(program, value))
      if (summed(program, program.op(id)) > 1)
        sums.insert(id);
  return !sums.empty() && std::all_of(sums.begin(), sums.end(), [&](OpId id) {
    return sums_exactly(program, *evidence_.values, program.op(id));
  });
}

}  // namespace orrery
