#include <functional>
#include <vector>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/base/check.h"
#include "simulator/values/host_executor.h"

namespace orrery {

namespace {

Tensor axis_index(const Program& program, const Op& op, LogicalId device) {
  std::vector<size_t> axes;
  for (const std::string& name : op.attributes.names("axis_name"))
    axes.push_back(program.mesh.axis(name).value());
  Tensor index(Dtype::S32, Shape());
  set_element_from_int64(index, 0, program.mesh.index(device, axes));
  return index;
}

Tensor slice(const Attributes& attributes, const Tensor& operand) {
  SliceBounds bounds{
      attributes.integers("start_indices"), attributes.integers("limit_indices"), {}};
  if (attributes.has("strides"))
    bounds.strides = attributes.integers("strides");
  return slice(operand, bounds);
}

Tensor concatenate(const Attributes& attributes, std::span<const Tensor* const> operands) {
  std::vector<std::reference_wrapper<const Tensor>> parts;
  for (const Tensor* operand : operands)
    parts.emplace_back(*operand);
  return concatenate(parts, static_cast<size_t>(attributes.integer("dimension")));
}

/// What stands for the result of an opaque computation: its first operand, so that numbers flow on
/// through a program, or zeros where that has another type.
Tensor stand_in(const ValueType& result, std::span<const Tensor* const> operands) {
  if (!operands.empty() && operands[0]->dtype() == result.dtype &&
      operands[0]->shape() == result.shape)
    return *operands[0];
  return Tensor(result.dtype, result.shape);
}

}  // namespace

Tensor evaluate_local(const Program& program, const Op& op, std::span<const Tensor* const> operands,
                      LogicalId device) {
  const Attributes& attributes = op.attributes;
  const ValueType& result = program.value(op.results.front()).type;
  const auto operand = [&](size_t i) -> const Tensor& { return *operands[i]; };
  switch (op.kind) {
    case OpKind::AxisIndex:
      return axis_index(program, op, device);
    case OpKind::Add:
      return elementwise(Elementwise::Add, operand(0), operand(1));
    case OpKind::Sub:
      return elementwise(Elementwise::Sub, operand(0), operand(1));
    case OpKind::Mul:
      return elementwise(Elementwise::Mul, operand(0), operand(1));
    case OpKind::ConvertElementType:
      return convert(operand(0), result.dtype);
    case OpKind::Reshape:
      return reshape(operand(0), result.shape);
    case OpKind::Transpose:
      return transpose(operand(0), attributes.integers("permutation"));
    case OpKind::Slice:
      return slice(attributes, operand(0));
    case OpKind::Concatenate:
      return concatenate(attributes, operands);
    case OpKind::Full:
      return full(result.dtype, result.shape, attributes.number("fill_value"));
    case OpKind::DotGeneral: {
      const auto& lists = attributes.lists("dimension_numbers");
      return dot_general(operand(0), operand(1), {lists[0], lists[1], lists[2], lists[3]},
                         result.dtype);
    }
    case OpKind::Compute:
      return stand_in(result, operands);
    default:
      fail_check("the op is local", "only local ops are evaluated on one device", __FILE__,
                 __LINE__);
  }
}

}  // namespace orrery
