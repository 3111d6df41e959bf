// This part of host_executor.h makes the bodies of ops.

#include <vector>

#include "models/program/rules.h"
#include "simulator/values/host_executor.h"

namespace orrery {

Program body_of(const Program& program, const Op& op) {
  std::vector<ValueType> operands;
  for (const ValueId operand : op.operands)
    operands.push_back(program.value(operand).type);
  Program body = rules(op.kind).body(op.attributes, operands);
  body.numerics = program.numerics;
  return body;
}

const Program& Bodies::of(const Op& op) {
  const auto known = made_.find(&op);
  return known != made_.end() ? known->second
                              : made_.emplace(&op, body_of(program_, op)).first->second;
}

}  // namespace orrery
