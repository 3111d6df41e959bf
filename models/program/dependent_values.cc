#include "models/program/dependent_values.h"

#include <optional>
#include <vector>

#include "models/program/rules.h"

namespace orrery {

std::map<ValueId, OpId> dependent_values(const Program& program, std::span<const OpId> ops) {
  std::map<ValueId, OpId> dependent;
  for (const OpId op : ops)
    for (const ValueId result : program.op(op).results)
      dependent.emplace(result, op);
  // Every result of ops that belong together depends on every operand of them.
  const auto grows = [&](std::span<const OpId> together) {
    std::optional<OpId> on;
    for (const OpId op : together)
      for (const ValueId operand : program.op(op).operands)
        if (const auto at = dependent.find(operand); at != dependent.end() && !on)
          on = at->second;
    bool grew = false;
    for (const OpId op : together)
      for (const ValueId result : program.op(op).results)
        grew = (on && dependent.emplace(result, *on).second) || grew;
    return grew;
  };
  for (bool grew = !dependent.empty(); grew;) {
    grew = false;
    for (size_t i = 0; i < program.ops.size(); ++i) {
      const OpId op(i);
      const std::optional<SiteId> site = program.ops[i].site;
      if (!site)
        grew = grows({&op, 1}) || grew;
      else if (program.site(*site).ops.front() == op)  // for all of them
        grew = grows(program.site(*site).ops) || grew;
    }
  }
  return dependent;
}

std::map<ValueId, OpId> opaque_values(const Program& program) {
  std::vector<OpId> opaque;
  for (size_t i = 0; i < program.ops.size(); ++i)
    if (rules(program.ops[i].kind).opaque)
      opaque.emplace_back(i);
  return dependent_values(program, opaque);
}

}  // namespace orrery
