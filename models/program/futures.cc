#include "models/program/futures.h"

namespace orrery {

Futures::Futures(const Program& program) : program_(program) {
  for (const Thread& thread : program.threads)
    add(thread);
}

Futures::Futures(const Program& program, const Thread& thread) : program_(program) {
  add(thread);
}

void Futures::add(const Thread& thread) {
  for (const OpId id : thread.issue_order) {
    const Op& op = program_.op(id);
    if (op.issue == Issue::Start)
      futures_[op.results.front()].start = id;
    else if (op.kind == OpKind::Done)
      futures_[op.operands.front()].dones.push_back(id);
  }
}

OpId Futures::start_of(OpId done) const {
  return futures_.at(program_.op(done).operands.front()).start;
}

std::span<const OpId> Futures::dones(ValueId future) const {
  const auto found = futures_.find(future);
  return found == futures_.end() ? std::span<const OpId>() : found->second.dones;
}

std::vector<ValueId> Futures::results(const Op& op) const {
  if (op.issue == Issue::Sync)
    return {op.results.front()};
  std::vector<ValueId> results;
  for (const OpId done : dones(op.results.front()))
    results.push_back(program_.op(done).results.front());
  return results;
}

std::optional<ValueId> Futures::result(const Op& op) const {
  const std::vector<ValueId> all = results(op);
  return all.empty() ? std::nullopt : std::optional(all.back());
}

}  // namespace orrery
