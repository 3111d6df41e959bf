#pragma once

// When a device goes on, stated only here, in for_each_cause of a Moment. The program walk, the
// clocks of the devices, the hang check, slack, the critical path, memory and futures use it.
// Inside a collective causes.h applies.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simulator/schedule/lowered.h"

namespace orrery {

/// The communication stream of a collective.
StreamId stream_of(const Op& op);

/// The instructions that the compute stream of a thread's devices runs, from the thread's issue
/// order.
Tape tape_of(const Program& program, const Thread& thread);

/// The events of one instruction of a tape on one device.
enum class MomentKind : uint8_t {
  Passed,   // the compute stream has gone past it
  Entered,  // an Enter: the device has entered the collective
  Ended,    // an Enter: the collective has ended on the device
};

struct Moment {
  MomentKind kind = MomentKind::Passed;
  uint32_t instruction = 0;
  friend bool operator==(const Moment&, const Moment&) = default;
};

/// A tape, with the links between its instructions. Keeps a reference to the tape.
class TapeOrder {
 public:
  explicit TapeOrder(const Tape& tape);

  uint32_t size() const { return static_cast<uint32_t>(tape_->size()); }
  const Instruction& operator[](uint32_t instruction) const { return (*tape_)[instruction]; }

  /// Whether the instruction is the first of its op. Those of one op follow each other.
  bool begins_op(uint32_t instruction) const {
    return instruction == 0 || (*tape_)[instruction - 1].op != (*tape_)[instruction].op;
  }

  /// Requires a Wait. The Enter of the collective whose end it awaits.
  uint32_t enter_of(uint32_t wait) const { return links_[wait].enter; }
  /// Requires an Enter. The first Wait for the end of its collective, if any.
  std::optional<uint32_t> wait_of(uint32_t enter) const { return links_[enter].wait; }

  /// The communication streams that the tape uses, numbered in the order of their first use.
  uint32_t streams() const { return static_cast<uint32_t>(enters_.size()); }
  /// Requires an Enter. Its stream, and how many Enters of that stream come before it.
  uint32_t stream_of(uint32_t enter) const { return links_[enter].stream; }
  uint32_t index_on_stream(uint32_t enter) const { return links_[enter].index; }
  /// The Enters of a stream, ascending.
  std::span<const uint32_t> enters(uint32_t stream) const { return enters_[stream]; }

 private:
  struct Links {
    uint32_t enter = 0;            // Wait
    uint32_t stream = 0;           // Enter
    uint32_t index = 0;            // Enter: in enters_[stream]
    std::optional<uint32_t> wait;  // Enter: the first
  };

  const Tape* tape_;
  std::vector<Links> links_;                   // per instruction
  std::vector<std::vector<uint32_t>> enters_;  // per stream
};

/// Calls `visit(Moment)` for each moment of the same device that must come before this one, until
/// it returns false. Returns whether all were visited. Ended has one more condition, inside the
/// collective: all steps of the device have retired (for_each_cause_of_end).
template <class Visit>
bool for_each_cause(const TapeOrder& tape, Moment moment, Visit&& visit) {
  const uint32_t i = moment.instruction;
  switch (moment.kind) {
    case MomentKind::Passed:
      if (i > 0 && !visit(Moment{MomentKind::Passed, i - 1}))
        return false;
      return tape[i].kind != Instruction::Kind::Wait ||
             visit(Moment{MomentKind::Ended, tape.enter_of(i)});
    case MomentKind::Entered: {
      if (!visit(Moment{MomentKind::Passed, i}))
        return false;
      const uint32_t index = tape.index_on_stream(i);
      return index == 0 ||
             visit(Moment{MomentKind::Ended, tape.enters(tape.stream_of(i))[index - 1]});
    }
    case MomentKind::Ended:
      return visit(Moment{MomentKind::Entered, i});
  }
  return true;
}

/// The moment with which an op ends, given its first instruction: Ended for a collective, Passed
/// for any other op.
inline Moment end_of_op(const TapeOrder& tape, uint32_t first) {
  const bool enters = tape[first].kind == Instruction::Kind::Enter;
  return {enters ? MomentKind::Ended : MomentKind::Passed, first};
}

/// Whether the op of the instruction ends with the moment.
inline bool ends_op(const TapeOrder& tape, Moment moment) {
  return tape.begins_op(moment.instruction) && moment == end_of_op(tape, moment.instruction);
}

/// For each op of the issue order, until which position there it uses its operands and results: its
/// own; for a collective, that of the first op that waits for its end. If none does, the number of
/// ops.
std::vector<uint32_t> ends_of_use(const TapeOrder& tape);

}  // namespace orrery
