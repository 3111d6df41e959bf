#include "simulator/values/host_executor.h"

#include <utility>

#include "models/base/check.h"
#include "models/program/rules.h"
#include "simulator/values/host_visitor.h"

namespace orrery {

HostRun execute(const Program& program, const Lowered& lowered, DeviceValues arguments,
                VisitEndedRun ended, Orders* shared, HostKernels kernels) {
  HostVisitor visitor(program, lowered, std::move(arguments), std::move(ended), kernels);
  Stop stop = walk(program, lowered, visitor, shared);
  const WalkDigest digest = visitor.digest();
  return {std::move(visitor).finish(), digest, std::move(stop)};
}

std::vector<std::optional<Tensor>> body_values(const Program& body,
                                               std::span<const Tensor* const> operands,
                                               EvaluateLocal local) {
  std::vector<std::optional<Tensor>> values(body.values.size());
  for (size_t k = 0; k < operands.size(); ++k)
    values[body.arguments[k].value.index()] = *operands[k];
  std::vector<const Tensor*> own;
  for (const Op& op : body.ops) {
    own.clear();
    for (const ValueId operand : op.operands)
      own.push_back(&*values[operand.index()]);
    std::vector<Tensor> results = local(body, op, own, LogicalId(0));
    for (size_t k = 0; k < results.size(); ++k)
      values[op.results[k].index()] = std::move(results[k]);
  }
  return values;
}

std::vector<Tensor> run_body(const Program& body, std::span<const Tensor* const> operands,
                             EvaluateLocal local) {
  std::vector<std::optional<Tensor>> values = body_values(body, operands, local);
  std::vector<Tensor> results;
  for (const ValueId output : body.outputs)
    results.push_back(std::move(*values[output.index()]));
  return results;
}

std::vector<Tensor> evaluate_local(const Program& program, const Op& op,
                                   std::span<const Tensor* const> operands, LogicalId device) {
  if (rules(op.kind).body != nullptr)
    return run_body(body_of(program, op), operands);
  const EvaluateRule evaluate = rules(op.kind).evaluate;
  ORRERY_CHECK(evaluate != nullptr, "only local ops are evaluated on one device");
  std::vector<ValueType> types;  // of several results, in a row
  if (op.results.size() > 1)
    for (const ValueId result : op.results)
      types.push_back(program.value(result).type);
  const std::span<const ValueType> result_types =
      op.results.size() == 1 ? std::span(&program.value(op.results.front()).type, 1)
                             : std::span<const ValueType>(types);
  std::vector<Tensor> results =
      evaluate({program.mesh, device, op.attributes, operands, result_types, program.numerics});
  ORRERY_CHECK(results.size() == op.results.size(), "each result has a value");
  return results;
}

}  // namespace orrery
