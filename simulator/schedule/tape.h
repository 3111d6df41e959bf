#pragma once

// A Tape has the instructions of a thread, which each device of the thread runs. The compute stream
// of a device passes the instructions in order. An Enter only issues a collective to a
// communication stream, so local ops and collectives overlap. A Wait holds the compute stream until
// the collective has ended on the device.
//
// A Moment is one event of an instruction on a device. This file alone says which moments must come
// before it (for_each_cause). The program walk, the clocks of the devices, the hang check, slack,
// the critical path and the GPU graph use that; memory and futures use ends_of_use(). Inside a
// collective causes.h applies.
//
// A tape has each instruction once. Position p has p instructions before it, counted as if all
// iterations of loops were written out; nothing is stored per iteration.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/program/iterations.h"
#include "models/program/program.h"
#include "simulator/schedule/looped_order.h"

namespace orrery {

/// Returns the communication stream of a collective.
StreamId stream_of(const Op& op);

/// An Instruction is one entry of a thread's tape. A started collective is an Enter and, at its
/// done, a Wait. A sync collective is an Enter and a Wait right after it. The compute stream runs
/// Local and Wait in order; an Enter does not block it.
struct Instruction {
  enum class Kind : uint8_t {
    Local,  // compute
    Enter,  // once the device's previous collective on `stream` has ended, enter after the launch
            // time
    Wait,   // until a collective has ended on this device
  };
  Kind kind = Kind::Local;
  OpId op;               // the op of the program that this is part of
  StreamId stream = {};  // of an Enter
};

class Tape {
 public:
  /// Takes the ops in the thread's issue order. Ops of loops that never run are left out.
  Tape(const Program& program, const Thread& thread, std::shared_ptr<const Iterations> iterations);

  /// Returns the number of positions.
  uint64_t size() const { return order_.size(); }
  const Instruction& operator[](uint64_t position) const {
    return instructions_[order_.at(position).item];
  }

  /// Returns each instruction once, in order.
  std::span<const Instruction> instructions() const { return instructions_; }
  LoopedOrder::Item item_at(uint64_t position) const { return order_.at(position); }
  uint32_t number_at(uint64_t position) const { return order_.at(position).item; }
  /// Returns the position of the instruction of this number in an iteration.
  uint64_t position(uint32_t number, uint64_t iteration = 0) const {
    return order_.index({number, iteration});
  }
  uint64_t iteration_at(uint64_t position) const { return order_.at(position).iteration; }
  OpRun run_at(uint64_t position) const {
    const LoopedOrder::Item at = order_.at(position);
    return {instructions_[at.item].op, at.iteration};
  }
  /// Returns the loops in which a position is, outer ones first.
  std::vector<LoopedOrder::LoopRun> loops_at(uint64_t position) const {
    return order_.loops_at(position);
  }
  /// Returns the first position after this one at which a loop begins an iteration other than its
  /// first; size() if there is none. Only loops that `counts` accepts are looked at.
  uint64_t next_iteration(uint64_t position, LoopedOrder::Counts counts) const {
    return order_.next_iteration(position, counts);
  }
  const Iterations& iterations() const { return *iterations_; }

  /// Returns whether the instruction is the first of its op. Those of one op follow each other.
  bool begins_op(uint64_t position) const { return number_begins_op(number_at(position)); }
  bool number_begins_op(uint32_t number) const {
    return number == 0 || instructions_[number - 1].op != instructions_[number].op;
  }

  /// Returns the Enter of the collective whose end the Wait awaits. Requires a Wait.
  uint64_t enter_of(uint64_t wait) const;

  /// Returns how many communication streams the tape uses. They are numbered by first use.
  uint32_t streams() const { return static_cast<uint32_t>(streams_.size()); }
  /// These return the stream of an Enter, and how many Enters of that stream come before it.
  uint32_t stream_at(uint64_t enter) const { return on_stream_[number_at(enter)].stream; }
  uint64_t index_on_stream(uint64_t enter) const { return place_on_stream(enter).index; }
  struct PlaceOnStream {
    uint32_t stream = 0;
    uint64_t index = 0;
  };
  PlaceOnStream place_on_stream(uint64_t enter) const {
    const LoopedOrder::Item at = order_.at(enter);
    const OnStream& on = on_stream_[at.item];
    return {on.stream, streams_[on.stream].order.index({on.number, at.iteration})};
  }
  /// These return how many Enters a stream has, and the position of the Enter of this index.
  uint64_t enters(uint32_t stream) const { return streams_[stream].order.size(); }
  uint64_t enter(uint32_t stream, uint64_t index) const {
    const LoopedOrder::Item at = streams_[stream].order.at(index);
    return position(streams_[stream].enters[at.item], at.iteration);
  }

 private:
  struct Stream {
    std::vector<uint32_t> enters;  // by number
    LoopedOrder order;             // of these
  };
  /// OnStream is the place of an Enter among those of its stream.
  struct OnStream {
    uint32_t stream = 0;
    uint32_t number = 0;
  };

  std::shared_ptr<const Iterations> iterations_;
  std::vector<Instruction> instructions_;
  LoopedOrder order_;
  std::vector<OnStream> on_stream_;          // per instruction
  std::map<uint32_t, ValueId> awaited_;      // per Wait of a done
  std::map<OpId, uint32_t> enter_of_start_;  // per started collective
  std::vector<Stream> streams_;
};

/// A MomentKind is an event of one instruction of a tape on one device.
enum class MomentKind : uint8_t {
  Passed,   // the compute stream has gone past it
  Entered,  // an Enter: the device has entered the collective
  Ended,    // an Enter: the collective has ended on the device
};

struct Moment {
  MomentKind kind = MomentKind::Passed;
  uint64_t position = 0;
  friend bool operator==(const Moment&, const Moment&) = default;
};

/// Calls `visit(Moment)` for each moment of the same device that must come before this one, until
/// it returns false. Returns whether all were visited. Ended has one more condition, inside the
/// collective: all steps of the device have retired (for_each_cause_of_end).
template <class Visit>
bool for_each_cause(const Tape& tape, Moment moment, Visit&& visit) {
  const uint64_t at = moment.position;
  switch (moment.kind) {
    case MomentKind::Passed:
      if (at > 0 && !visit(Moment{MomentKind::Passed, at - 1}))
        return false;
      return tape[at].kind != Instruction::Kind::Wait ||
             visit(Moment{MomentKind::Ended, tape.enter_of(at)});
    case MomentKind::Entered: {
      if (!visit(Moment{MomentKind::Passed, at}))
        return false;
      const auto [stream, index] = tape.place_on_stream(at);
      return index == 0 || visit(Moment{MomentKind::Ended, tape.enter(stream, index - 1)});
    }
    case MomentKind::Ended:
      return visit(Moment{MomentKind::Entered, at});
  }
  return true;
}

/// Returns the moment with which an op ends, given its first instruction: Ended for a collective,
/// Passed for any other op.
inline Moment end_of_op(const Tape& tape, uint64_t first) {
  const bool enters = tape[first].kind == Instruction::Kind::Enter;
  return {enters ? MomentKind::Ended : MomentKind::Passed, first};
}

/// Returns whether the op of the instruction ends with the moment.
inline bool ends_op(const Tape& tape, Moment moment) {
  return tape.begins_op(moment.position) && moment == end_of_op(tape, moment.position);
}

/// Returns, for each instruction, the first Wait for the end of the collective that it enters, if
/// any. Requires a tape without loops.
std::vector<std::optional<uint32_t>> first_waits(const Tape& tape);

/// Returns, for each op of the issue order, the last position there at which it uses its operands
/// and results. A collective uses them until the first op that waits for its end; if none does, the
/// result is the number of ops. Other ops use them at their own position. Requires a tape without
/// loops.
std::vector<uint32_t> ends_of_use(const Tape& tape);

}  // namespace orrery
