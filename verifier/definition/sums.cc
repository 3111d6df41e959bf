#include "verifier/definition/sums.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/program/rules.h"
#include "verifier/definition/rounding.h"

namespace orrery {

namespace {

int64_t extents(const Shape& shape, const std::vector<int64_t>& dimensions) {
  int64_t product = 1;
  for (const int64_t d : dimensions)
    product *= shape[static_cast<size_t>(d)];
  return product;
}

}  // namespace

int64_t terms(const Program& program, const Op& op) {
  if (op.results.empty() || !is_inexact(program.value(op.results.front()).type.dtype))
    return 1;
  if (op.site) {
    size_t largest = 1;
    if (rules(op.kind).form.combine == Combine::Add)
      for (const Group& group : program.site(*op.site).groups)
        largest = std::max(largest, group.size());
    return static_cast<int64_t>(largest);
  }
  const Errors errors = rules(op.kind).errors;
  if (errors == Errors::Products)
    return extents(program.value(op.operands.front()).type.shape,
                   op.attributes.lists("dimension_numbers").front());
  if (errors == Errors::Sum)
    return extents(program.value(op.operands.front()).type.shape, op.attributes.integers("axes"));
  return 1;
}

std::set<OpId> ops_behind(const Program& program, ValueId value) {
  std::vector<std::optional<OpId>> made_by(program.values.size());
  for (size_t i = 0; i < program.ops.size(); ++i)
    for (const ValueId result : program.ops[i].results)
      made_by[result.index()] = OpId(i);
  std::set<OpId> seen;
  std::vector<OpId> open;
  const auto visit = [&](OpId id) {
    if (seen.insert(id).second)
      open.push_back(id);
  };
  if (made_by[value.index()])
    visit(*made_by[value.index()]);
  while (!open.empty()) {
    const Op& op = program.op(open.back());
    open.pop_back();
    for (const ValueId operand : op.operands)
      if (made_by[operand.index()])
        visit(*made_by[operand.index()]);
    if (op.site)
      for (const OpId other : program.site(*op.site).ops)
        visit(other);
  }
  return seen;
}

std::string different_sums(const Program& program, ValueId a, ValueId b) {
  using Length = std::pair<OpKind, int64_t>;
  const std::set<OpId> sides[] = {ops_behind(program, a), ops_behind(program, b)};
  std::set<Length> lengths[2];
  for (size_t side = 0; side < 2; ++side)
    for (const OpId id : sides[side])
      lengths[side].emplace(program.op(id).kind, terms(program, program.op(id)));
  std::set<OpId> either = sides[0];
  either.insert(sides[1].begin(), sides[1].end());
  std::string text;
  for (const OpId id : either) {
    const Op& op = program.op(id);
    const Length length(op.kind, terms(program, op));
    if (length.second < 2 || (lengths[0].count(length) != 0 && lengths[1].count(length) != 0))
      continue;
    text += fmt::format("{}\"{}\" ({} of {} terms)", text.empty() ? "" : ", ", op.name,
                        rules(op.kind).name, length.second);
  }
  return text;
}

namespace {

constexpr int kSignificant = 53;  // bits of a double

/// All elements of a value on all devices, or the parts of complex ones, are whole multiples of
/// `unit`, a power of two. `largest` is the largest magnitude.
struct Digits {
  double unit = std::numeric_limits<double>::infinity();  // infinite if all are zeros
  double largest = 0;
};

/// Returns the largest power of two of which x is a whole multiple. Requires a finite x other than
/// 0.
double unit_of(double x) {
  int exponent = 0;
  const auto digits =
      static_cast<uint64_t>(std::ldexp(std::fabs(std::frexp(x, &exponent)), kSignificant));
  return std::ldexp(1.0, exponent - kSignificant + std::countr_zero(digits));
}

/// Returns the elements of a tensor, or the parts of complex ones, as doubles.
Tensor numbers(const Tensor& tensor) {
  return convert(is_complex(tensor.dtype()) ? parts(tensor) : tensor, Dtype::F64);
}

/// Returns nothing if an element is not finite.
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

/// Returns the dtype in which an op that sums floats keeps its sums.
Dtype accumulator(const Program& program, const Op& op) {
  const Dtype result = program.value(op.results.front()).type.dtype;
  const auto operand = [&](size_t k) { return program.value(op.operands[k]).type.dtype; };
  const Errors errors = rules(op.kind).errors;
  if (errors == Errors::Products)
    return dot_sum_dtype(operand(0), operand(1), result);
  return errors == Errors::Sum ? reduced_sum_dtype(result) : result;
}

/// Returns how many floats or complex numbers an op sums for one element; 1 for ops that do not
/// sum.
int64_t summed(const Program& program, const Op& op) {
  const std::optional<Elementwise>& computed = rules(op.kind).elementwise;
  const bool adds = computed == Elementwise(Binary::Add) || computed == Elementwise(Binary::Sub);
  return adds && is_inexact(program.value(op.results.front()).type.dtype) ? 2 : terms(program, op);
}

/// Returns whether every sum of the op is exact. Requires an op that sums floats or complex
/// numbers.
bool sums_exactly(const Program& program, const DeviceValues& computed, const Op& op) {
  const bool multiplies = rules(op.kind).errors == Errors::Products;
  Digits term;
  for (size_t k = 0; k < op.operands.size(); ++k) {
    const std::optional<Digits> operand = digits_of(program, computed, op.operands[k]);
    if (!operand)
      return false;
    if (k == 0)
      term = *operand;
    else if (multiplies)
      term = {term.unit * operand->unit, term.largest * operand->largest};
    else
      term = {std::min(term.unit, operand->unit), std::max(term.largest, operand->largest)};
  }
  const Dtype summed_in = accumulator(program, op);
  const FloatFormat format = float_format(summed_in);
  // Each part of a complex product is a sum of two.
  const bool adds_two = multiplies && is_complex(summed_in);
  const double largest_sum =
      (adds_two ? 2 : 1) * static_cast<double>(summed(program, op)) * term.largest;
  const double smallest =
      std::max(2 * format.half_smallest, flushed_below(summed_in, program.numerics));
  return std::isinf(term.unit) ||
         (term.unit >= smallest && largest_sum / term.unit * format.unit_roundoff <= 1);
}

}  // namespace

bool sums_are_exact(const Program& program, const DeviceValues& computed,
                    std::span<const ValueId> values) {
  std::set<OpId> sums;
  for (const ValueId value : values)
    for (const OpId id : ops_behind(program, value))
      if (summed(program, program.op(id)) > 1)
        sums.insert(id);
  return !sums.empty() && std::all_of(sums.begin(), sums.end(), [&](OpId id) {
    return sums_exactly(program, computed, program.op(id));
  });
}

}  // namespace orrery
