#include "simulator/schedule/tape.h"

#include <utility>

#include "models/base/check.h"
#include "models/program/rules.h"

namespace orrery {

StreamId stream_of(const Op& op) {
  return StreamId(op.hints.stream);
}

Tape::Tape(const Program& program, const Thread& thread,
           std::shared_ptr<const Iterations> iterations)
    : iterations_(std::move(iterations)) {
  std::vector<LoopAround> loops;                   // per instruction
  std::vector<std::vector<LoopAround>> of_enters;  // per stream and Enter
  std::map<StreamId, uint32_t> numbers;            // of streams
  const auto add = [&](Instruction instruction, LoopAround loop) {
    instructions_.push_back(instruction);
    loops.push_back(loop);
    on_stream_.emplace_back();
  };
  for (const OpId id : thread.issue_order) {
    const Op& op = program.op(id);
    const LoopAround loop = iterations_->loop_of(id);
    if (iterations_->runs(loop) == 0)
      continue;
    const auto number = static_cast<uint32_t>(instructions_.size());
    if (op.kind == OpKind::Done) {
      awaited_.emplace(number, op.operands.front());
      add({Instruction::Kind::Wait, id}, loop);
    } else if (rules(op.kind).family == Family::Collective) {
      const auto [stream, is_new] = numbers.emplace(stream_of(op), streams());
      if (is_new) {
        streams_.emplace_back();
        of_enters.emplace_back();
      }
      Stream& own = streams_[stream->second];
      add({Instruction::Kind::Enter, id, stream_of(op)}, loop);
      on_stream_.back() = {stream->second, static_cast<uint32_t>(own.enters.size())};
      own.enters.push_back(number);
      of_enters[stream->second].push_back(loop);
      if (op.issue == Issue::Sync)
        add({Instruction::Kind::Wait, id}, loop);
      else
        enter_of_start_.emplace(id, number);
    } else {
      add({Instruction::Kind::Local, id}, loop);
    }
  }
  order_ = LoopedOrder(*iterations_, loops);
  for (size_t s = 0; s < streams_.size(); ++s)
    streams_[s].order = LoopedOrder(*iterations_, of_enters[s]);
}

uint64_t Tape::enter_of(uint64_t wait) const {
  const LoopedOrder::Item at = order_.at(wait);
  const auto awaited = awaited_.find(at.item);
  if (awaited == awaited_.end())
    return wait - 1;  // a sync collective's own
  const ValueRun future =
      iterations_->source(awaited->second, {instructions_[at.item].op, at.iteration});
  const std::optional<OpId> start = iterations_->maker(future.value);
  ORRERY_CHECK(start.has_value(), "an op starts what a done ends");
  return position(enter_of_start_.at(*start), future.iteration);
}

std::vector<std::optional<uint32_t>> first_waits(const Tape& tape) {
  ORRERY_CHECK(tape.size() == tape.instructions().size(), "the tape has no loops");
  std::vector<std::optional<uint32_t>> first(tape.size());
  for (uint32_t i = 0; i < tape.size(); ++i)
    if (tape[i].kind == Instruction::Kind::Wait)
      if (std::optional<uint32_t>& wait = first[tape.enter_of(i)]; !wait)
        wait = i;
  return first;
}

std::vector<uint32_t> ends_of_use(const Tape& tape) {
  const std::vector<std::optional<uint32_t>> waits = first_waits(tape);
  std::vector<uint32_t> op_at(tape.size());  // the position of the instruction's op
  uint32_t ops = 0;
  for (uint32_t i = 0; i < tape.size(); ++i) {
    ops += tape.begins_op(i) ? 1 : 0;
    op_at[i] = ops - 1;
  }
  std::vector<uint32_t> ends(ops);
  for (uint32_t i = 0; i < tape.size(); ++i) {
    if (!tape.begins_op(i))
      continue;
    ends[op_at[i]] = op_at[i];
    if (tape[i].kind == Instruction::Kind::Enter)
      ends[op_at[i]] = waits[i] ? op_at[*waits[i]] : ops;
  }
  return ends;
}

}  // namespace orrery
