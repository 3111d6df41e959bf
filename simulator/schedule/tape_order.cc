#include "simulator/schedule/tape_order.h"

#include <map>

#include "models/base/check.h"
#include "models/program/futures.h"
#include "models/program/rules.h"

namespace orrery {

StreamId stream_of(const Op& op) {
  return StreamId(op.hints.stream);
}

Tape tape_of(const Program& program, const Thread& thread) {
  Tape tape;
  const Futures futures(program, thread);
  for (const OpId id : thread.issue_order) {
    const Op& op = program.op(id);
    if (op.kind == OpKind::Done) {
      const OpId start = futures.start_of(id);
      tape.push_back({Instruction::Kind::Wait, id, start, stream_of(program.op(start))});
    } else if (rules(op.kind).family == Family::Collective) {
      tape.push_back({Instruction::Kind::Enter, id, id, stream_of(op)});
      if (op.issue == Issue::Sync)
        tape.push_back({Instruction::Kind::Wait, id, id, stream_of(op)});
    } else {
      tape.push_back({Instruction::Kind::Local, id, id, {}});
    }
  }
  return tape;
}

TapeOrder::TapeOrder(const Tape& tape) : tape_(&tape), links_(tape.size()) {
  std::map<StreamId, uint32_t> stream_numbers;
  std::map<OpId, uint32_t> enter_of_op;  // of started collectives
  for (uint32_t i = 0; i < size(); ++i) {
    const Instruction& instruction = tape[i];
    if (instruction.kind == Instruction::Kind::Enter) {
      const auto number = static_cast<uint32_t>(enters_.size());
      const auto [stream, is_new] = stream_numbers.emplace(instruction.stream, number);
      if (is_new)
        enters_.emplace_back();
      links_[i].stream = stream->second;
      links_[i].index = static_cast<uint32_t>(enters_[stream->second].size());
      enters_[stream->second].push_back(i);
      // A sync collective's own Wait comes next, and needs no search.
      if (i + 1 == size() || begins_op(i + 1))
        enter_of_op[instruction.collective] = i;
    } else if (instruction.kind == Instruction::Kind::Wait) {
      if (!begins_op(i)) {
        links_[i].enter = i - 1;
      } else {
        const auto enter = enter_of_op.find(instruction.collective);
        ORRERY_CHECK(enter != enter_of_op.end(), "a Wait comes after the Enter of its collective");
        links_[i].enter = enter->second;
      }
      std::optional<uint32_t>& first = links_[links_[i].enter].wait;
      if (!first)
        first = i;
    }
  }
}

std::vector<uint32_t> ends_of_use(const TapeOrder& tape) {
  std::vector<uint32_t> position(tape.size());  // of the instruction's op
  uint32_t ops = 0;
  for (uint32_t i = 0; i < tape.size(); ++i) {
    ops += tape.begins_op(i) ? 1 : 0;
    position[i] = ops - 1;
  }
  std::vector<uint32_t> ends(ops);
  for (uint32_t i = 0; i < tape.size(); ++i) {
    if (!tape.begins_op(i))
      continue;
    ends[position[i]] = position[i];
    if (tape[i].kind == Instruction::Kind::Enter) {
      const std::optional<uint32_t> wait = tape.wait_of(i);
      ends[position[i]] = wait ? position[*wait] : ops;
    }
  }
  return ends;
}

}  // namespace orrery
