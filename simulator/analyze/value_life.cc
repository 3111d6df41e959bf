#include "simulator/analyze/value_life.h"

#include <algorithm>

namespace orrery {

namespace {

BufferId buffer_of(const Program& program, ValueId value) {
  return program.value(value).buffer;
}

/// The thread's other values in the buffer.
std::vector<ValueId> others(const Program& program, const Thread& thread, ValueId value) {
  std::vector<ValueId> others;
  const auto add = [&](ValueId other) {
    if (other != value && buffer_of(program, other) == buffer_of(program, value))
      others.push_back(other);
  };
  for (const Argument& argument : program.arguments)
    add(argument.value);
  for (const OpId op : thread.issue_order)
    for (const ValueId result : program.op(op).results)
      add(result);
  return others;
}

}  // namespace

std::vector<ValueLife> value_lives(const Program& program, const Lowered& lowered,
                                   const MemoryPolicy& policy, ValueId value) {
  std::vector<ValueLife> lives;
  const BufferId buffer = buffer_of(program, value);
  const Lifetimes lifetimes(program, lowered, policy);
  for (size_t t = 0; t < program.threads.size(); ++t) {
    const Thread& thread = program.threads[t];
    const std::vector<Lifetime> all = lifetimes.of(ThreadId(t));
    const auto lifetime = std::find_if(all.begin(), all.end(),
                                       [&](const Lifetime& one) { return one.buffer == buffer; });
    if (lifetime == all.end())  // the thread does not hold it
      continue;
    const auto op_at = [&](int64_t position) {
      return thread.issue_order[static_cast<size_t>(position)];
    };
    ValueLife& life = lives.emplace_back();
    life.thread = ThreadId(t);
    life.size = lifetime->size;
    life.together = others(program, thread, value);
    if (lifetime->held.from != kBeforeFirst)
      life.from = op_at(lifetime->held.from);
    life.until = lifetime->until;
    // What takes it over begins just after its end.
    const int64_t to = lifetime->held.to + (life.until == HeldUntil::TakenOver ? 1 : 0);
    if (to < static_cast<int64_t>(thread.issue_order.size()))
      life.to = op_at(to);
  }
  return lives;
}

}  // namespace orrery
