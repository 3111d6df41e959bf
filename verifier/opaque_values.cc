#include "verifier/opaque_values.h"

#include <vector>

#include "models/program/dependent_values.h"
#include "models/program/rules.h"

namespace orrery {

std::map<ValueId, std::string> opaque_values(const Program& program) {
  std::vector<OpId> ops;
  for (size_t i = 0; i < program.ops.size(); ++i)
    if (rules(program.ops[i].kind).opaque)
      ops.emplace_back(i);
  std::map<ValueId, std::string> opaque;
  for (const auto& [value, op] : dependent_values(program, ops))
    opaque.emplace(value, program.op(op).name);
  return opaque;
}

}  // namespace orrery
