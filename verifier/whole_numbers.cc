#include "verifier/whole_numbers.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "models/array/kernels.h"
#include "models/program/rules.h"
#include "verifier/oracle/float_format.h"
#include "verifier/oracle/folds.h"

namespace orrery {

namespace {

/// The largest magnitude of the value on any device; empty where an element is not a whole number.
std::optional<double> largest_whole(const Program& program, const DeviceValues& computed,
                                    ValueId value) {
  double largest = 0;
  for (uint32_t d = 0; d < program.mesh.devices(); ++d) {
    const std::optional<Tensor>& tensor = computed.at(value, LogicalId(d));
    if (!tensor)
      continue;
    const Tensor wide = convert(*tensor, Dtype::F64);
    for (const double element : wide.as<double>()) {
      if (!std::isfinite(element) || element != std::trunc(element))
        return std::nullopt;
      largest = std::max(largest, std::fabs(element));
    }
  }
  return largest;
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

/// Requires an op that sums floats.
bool sums_exactly(const Program& program, const DeviceValues& computed, const Op& op) {
  auto sum = static_cast<double>(terms(program, op));
  for (const ValueId operand : op.operands) {
    const std::optional<double> largest = largest_whole(program, computed, operand);
    if (!largest)
      return false;
    sum *= *largest;
  }
  return sum * float_format(accumulator(program, op)).unit_roundoff <= 1;
}

}  // namespace

bool sums_whole_numbers(const Program& program, const DeviceValues& computed,
                        std::span<const ValueId> values) {
  std::set<OpId> sums;
  for (const ValueId value : values)
    for (const OpId id : ops_behind(program, value))
      if (terms(program, program.op(id)) > 1)
        sums.insert(id);
  return !sums.empty() && std::all_of(sums.begin(), sums.end(), [&](OpId id) {
    return sums_exactly(program, computed, program.op(id));
  });
}

}  // namespace orrery
