#include "models/base/check.h"
#include "models/program/rules.h"
#include "simulator/values/host_executor.h"

namespace orrery {

Tensor evaluate_local(const Program& program, const Op& op, std::span<const Tensor* const> operands,
                      LogicalId device) {
  const EvaluateRule evaluate = rules(op.kind).evaluate;
  ORRERY_CHECK(evaluate != nullptr, "only local ops are evaluated on one device");
  return evaluate(
      {program.mesh, device, op.attributes, operands, program.value(op.results.front()).type});
}

}  // namespace orrery
