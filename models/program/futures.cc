#include "models/program/futures.h"

namespace orrery {

Futures::Futures(const Program& program) : program_(program) {
  for (const Thread& thread : program.threads)
    for (const OpId id : thread.issue_order)
      if (program.op(id).kind == OpKind::Done)
        dones_[program.op(id).operands.front()].push_back(id);
}

std::span<const OpId> Futures::dones(ValueId future) const {
  const auto found = dones_.find(future);
  return found == dones_.end() ? std::span<const OpId>() : found->second;
}

std::vector<ValueId> Futures::results(const Op& op) const {
  if (op.issue == Issue::Sync)
    return {op.results.front()};
  std::vector<ValueId> results;
  for (const OpId done : dones(op.results.front()))
    results.push_back(program_.op(done).results.front());
  return results;
}

}  // namespace orrery
