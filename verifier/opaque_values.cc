#include "verifier/opaque_values.h"

#include <span>

#include "models/program/rules.h"

namespace orrery {

std::map<ValueId, std::string> opaque_values(const Program& program) {
  std::map<ValueId, std::string> opaque;
  for (const Op& op : program.ops)
    if (rules(op.kind).opaque)
      for (const ValueId result : op.results)
        opaque.emplace(result, op.name);
  // What ops that belong together read makes all that they give opaque.
  const auto grows = [&](std::span<const OpId> ops) {
    const std::string* name = nullptr;
    for (const OpId op : ops)
      for (const ValueId operand : program.op(op).operands)
        if (const auto at = opaque.find(operand); at != opaque.end() && name == nullptr)
          name = &at->second;
    bool grew = false;
    for (const OpId op : ops)
      for (const ValueId result : program.op(op).results)
        grew = (name != nullptr && opaque.emplace(result, *name).second) || grew;
    return grew;
  };
  for (bool grew = !opaque.empty(); grew;) {
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
  return opaque;
}

}  // namespace orrery
