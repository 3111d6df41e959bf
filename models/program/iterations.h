#pragma once

// Iterations says which run of an op makes the value that another run reads, in a program with
// loops (program.h). Iterations are counted, not written, so nothing here grows with the trip
// counts.
//
// An op in a loop runs once in each iteration. The iteration of a run, or of a value in a loop, is
// the number of iterations before it. In nested loops the inner iterations are counted through all
// outer ones: the iteration is outer index * inner trips + inner index, where both indices count
// from 0.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/id.h"
#include "models/program/program.h"

namespace orrery {

/// An OpRun is one run of an op. An op that is in no loop has one run, in iteration 0.
struct OpRun {
  OpId op;
  uint64_t iteration = 0;
  friend auto operator<=>(const OpRun&, const OpRun&) = default;
};

/// A ValueRun is a value in one iteration of the loop that it is in.
struct ValueRun {
  ValueId value;
  uint64_t iteration = 0;
  friend auto operator<=>(const ValueRun&, const ValueRun&) = default;
};

/// A LoopAround is the innermost loop around an op, a value or a loop, by index among
/// Program::loops. It is empty if there is none.
using LoopAround = std::optional<uint32_t>;

/// A BodySource says where the body of a loop has a value, or the storage of a value, from.
struct BodySource {
  enum class Kind : uint8_t {
    Body,     // the iteration makes it
    Carry,    // a carry of the loop has it at the begin of the iteration
    Outside,  // it is there before the loop
  };
  Kind kind = Kind::Body;
  uint32_t carry = 0;  // which carry, by index
};

class Iterations {
 public:
  /// An op that would run 2^63 times or more counts as one that runs 2^63 - 1 times. Its thread has
  /// no tape (simulator/schedule/tape.h).
  explicit Iterations(const Program& program);

  size_t loops() const { return loops_.size(); }
  uint64_t trips(uint32_t loop) const { return loops_[loop].trips; }
  LoopAround around(uint32_t loop) const { return loops_[loop].around; }
  LoopAround loop_of(OpId op) const {
    return loop_of_op_.empty() ? LoopAround() : loop_of_op_[op.index()];
  }
  /// A param is in its loop. Results and exits of a loop are around it.
  LoopAround loop_of(ValueId value) const { return info(value).loop; }

  /// Returns how often the body runs in the whole program.
  uint64_t runs(LoopAround loop) const { return loop ? loops_[*loop].runs : 1; }
  uint64_t runs(OpId op) const { return runs(loop_of(op)); }

  /// Returns the iteration of `outer` in which this iteration of `inner` is. Requires that `outer`
  /// is `inner`, or around it, or no loop.
  uint64_t outwards(uint64_t iteration, LoopAround inner, LoopAround outer) const;

  /// Returns which value is read if `value` is read in this iteration of the loop `from`: a value
  /// that an op makes, or an argument. Params, results and exits of loops stand for such values.
  ValueRun source(ValueId value, LoopAround from, uint64_t iteration) const {
    return follow(value, from, iteration, {}, Of::Value).run;
  }
  /// Returns the same for an operand of a run.
  ValueRun source(ValueId operand, OpRun reader) const {
    return source(operand, loop_of(reader.op), reader.iteration);
  }

  enum class Of : uint8_t { Value, Storage };
  /// Returns where the body of this loop has `value` from, or the storage of `value`. The body may
  /// have it from a loop in it. Requires that the loop runs.
  BodySource in_body(uint32_t loop, ValueId value, Of of) const;

  /// Returns the op that makes the value. Arguments and values that stand for others have none.
  std::optional<OpId> maker(ValueId value) const { return makers_[value.index()]; }
  /// Returns whether the value belongs to a carry or an exit.
  bool stands_for_another(ValueId value) const { return info(value).stands != Stands::Itself; }
  /// Returns the ops that make the values for which `value` stands in any iteration, ascending.
  std::vector<OpId> makers(ValueId value) const;

  /// Returns the number that the run makes if its op is the index of a loop.
  std::optional<int64_t> index(OpRun run) const {
    const LoopAround loop = loop_of(run.op);
    return loop && loops_[*loop].index == run.op ? std::optional(index(*loop, run.iteration))
                                                 : std::nullopt;
  }

  /// Returns "l[3].m[40].y" for "l[].m[].y", which is in these loops.
  std::string name(std::string_view in_body, LoopAround loop, uint64_t iteration) const;

 private:
  enum class Stands : uint8_t { Itself, Param, Result, Exit };
  /// A ValueInfo says for what a value stands: itself, or a carry or an exit of a loop, by index.
  struct ValueInfo {
    LoopAround loop;
    Stands stands = Stands::Itself;
    uint32_t of_loop = 0;
    uint32_t index = 0;
    ValueId owner = {};  // the first value in its buffer
  };
  struct LoopInfo {
    int64_t lower = 0;
    uint64_t trips = 0;
    uint64_t runs = 0;  // of the body
    LoopAround around;
    std::optional<OpId> index;
    std::vector<Carry> carries;
    std::vector<Exit> exits;
  };

  int64_t index(uint32_t loop, uint64_t iteration) const {
    return loops_[loop].lower + static_cast<int64_t>(iteration % loops_[loop].trips);
  }
  const ValueInfo& info(ValueId value) const {
    static const ValueInfo in_no_loop;
    return values_.empty() ? in_no_loop : values_[value.index()];
  }
  bool is_in(LoopAround inner, uint32_t loop) const;
  /// A Found is the value for which another one stands, or the first value in its storage. In a
  /// search through the body of one loop, it may be a param of that loop, or a value of outside.
  struct Found {
    ValueRun run;
    bool outside = false;
  };
  /// Follows a value that is read in this iteration of the loop `in`. With `body`, goes no further
  /// than the body of that loop.
  Found follow(ValueId value, LoopAround in, uint64_t at, LoopAround body, Of of) const;

  std::vector<LoopInfo> loops_;
  std::vector<std::optional<OpId>> makers_;  // per value
  // Both are empty in a program without loops, which may be large.
  std::vector<LoopAround> loop_of_op_;
  std::vector<ValueInfo> values_;
};

/// Reaches says how long a value of a loop is read: in how many later iterations, and whether after
/// the loop. So a run of the program keeps few iterations of each value.
class Reaches {
 public:
  /// Both must outlive this object.
  Reaches(const Program& program, const Iterations& iterations);

  /// Returns whether anything may still read the value when its maker has reached iteration `now`.
  /// Requires that `now` is not before the value's own iteration. The result is true for few
  /// iterations of a loop, however many the loop has.
  bool is_read_from(ValueRun value, uint64_t now) const;

 private:
  /// A Reach says how far from its reader a value may be in one of its loops, in iterations. A
  /// chain of carries that leads to a value has each carry once, so no distance is above the number
  /// of carries.
  struct Reach {
    int64_t back = 0;          // before the reader's own iteration
    int64_t before_end = -1;   // before the last iteration, if it is read after the loop; else -1
    int64_t before_exit = -1;  // before the iteration of an exit; -1: no exit leads here

    bool include(const Reach& other);
    friend bool operator==(const Reach&, const Reach&) = default;
  };

  /// Extends the reaches of what the loop's carries and exits read. Returns whether any is further
  /// than was known.
  bool extend(uint32_t l);
  /// Notes that `read` is read wherever `reader` is. In the loop `own` it is read at the distance
  /// `in_own`, and in the loops around both values as far away as `reader`. Returns whether that is
  /// further than was known.
  bool extend(ValueId reader, ValueId read, LoopAround own, const Reach& in_own);
  static bool is_near_end(const Loop& loop, const Reach& reach, int64_t at);

  const Program& program_;
  const Iterations& iterations_;
  std::vector<std::vector<Reach>> of_;  // per value, per loop that it is in; inner ones first
};

}  // namespace orrery
