#include "simulator/analyze/value_life.h"

#include <algorithm>

#include "simulator/memory/lifetimes.h"

namespace orrery {

namespace {

using Until = ValueLife::Until;

BufferId buffer_of(const Program& program, ValueId value) {
  return program.value(value).buffer;
}

/// The lifetime of the buffer, if the thread holds it.
std::optional<size_t> lifetime_of(const std::vector<Lifetime>& lifetimes, BufferId buffer) {
  const auto found =
      std::find_if(lifetimes.begin(), lifetimes.end(),
                   [&](const Lifetime& lifetime) { return lifetime.buffer == buffer; });
  if (found == lifetimes.end())
    return std::nullopt;
  return static_cast<size_t>(found - lifetimes.begin());
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

/// Whether the op at the end of the lifetime reads the buffer, or ends a collective that uses it.
bool used_last(const Program& program, const Op& op, BufferId buffer, const Lifetime& lifetime) {
  const auto reads = [&](ValueId value) { return buffer_of(program, value) == buffer; };
  const auto flies = [&](const Span& span) { return span.has(lifetime.held.to); };
  return std::any_of(op.operands.begin(), op.operands.end(), reads) ||
         std::any_of(lifetime.in_flight.begin(), lifetime.in_flight.end(), flies);
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
    const std::optional<size_t> own = lifetime_of(all, buffer);
    if (!own)
      continue;
    const Lifetime& lifetime = all[*own];
    const auto op_at = [&](int64_t position) {
      return thread.issue_order[static_cast<size_t>(position)];
    };
    ValueLife& life = lives.emplace_back();
    life.thread = ThreadId(t);
    life.size = lifetime.size;
    life.together = others(program, thread, value);
    if (lifetime.held.from != kBeforeFirst)
      life.from = op_at(lifetime.held.from);
    const auto taker = std::find_if(all.begin(), all.end(),
                                    [&](const Lifetime& other) { return other.takes_over == own; });
    if (lifetime.held.to == static_cast<int64_t>(thread.issue_order.size())) {
      const bool output =
          std::any_of(program.outputs.begin(), program.outputs.end(),
                      [&](ValueId each) { return buffer_of(program, each) == buffer; });
      life.until = output                                      ? Until::EndAsOutput
                   : lifetime.role == Lifetime::Role::Argument ? Until::EndAsArgument
                                                               : Until::EndInFlight;
    } else if (taker != all.end()) {
      life.to = op_at(taker->held.from);
      life.until = Until::TakenOver;
    } else if (lifetime.held.to == kBeforeFirst) {
      life.until = Until::NeverUsed;
    } else {
      life.to = op_at(lifetime.held.to);
      life.until = lifetime.role == Lifetime::Role::Argument                    ? Until::Donation
                   : used_last(program, program.op(*life.to), buffer, lifetime) ? Until::LastUse
                                                                                : Until::NeverUsed;
    }
  }
  return lives;
}

}  // namespace orrery
