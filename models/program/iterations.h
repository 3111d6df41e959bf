#pragma once

// Which run of an op makes what another one reads, in a program with loops (loop.h). Iterations are
// counted, not written: nothing here grows with the trip counts.
//
// An op in a loop runs once in each iteration. The iteration of a run, or of a value in a loop,
// says how many there were before it. In nested loops the inner iterations are counted through all
// outer ones: it is (outer index * inner trips + inner index). Indices count from 0 here.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/id.h"
#include "models/program/program.h"

namespace orrery {

/// One run of an op. An op that is in no loop has one run, of iteration 0.
struct OpRun {
  OpId op;
  uint64_t iteration = 0;
  friend auto operator<=>(const OpRun&, const OpRun&) = default;
};

/// A value in one iteration of the loop that it is in.
struct ValueRun {
  ValueId value;
  uint64_t iteration = 0;
  friend auto operator<=>(const ValueRun&, const ValueRun&) = default;
};

/// The innermost loop around something, by index among Program::loops; empty: none.
using LoopAround = std::optional<uint32_t>;

class Iterations {
 public:
  /// Throws Overflow where an op runs 2^63 times or more.
  explicit Iterations(const Program& program);

  size_t loops() const { return loops_.size(); }
  uint64_t trips(uint32_t loop) const { return loops_[loop].trips; }
  LoopAround around(uint32_t loop) const { return loops_[loop].around; }
  LoopAround loop_of(OpId op) const { return loop_of_op_[op.index()]; }
  /// A param is in its loop; what a loop gives back is around the loop.
  LoopAround loop_of(ValueId value) const { return values_[value.index()].loop; }
  /// Whether `outer` is `inner`, or around it, or no loop.
  bool encloses(LoopAround outer, LoopAround inner) const;

  /// How often the body runs in the whole program.
  uint64_t runs(LoopAround loop) const { return loop ? loops_[*loop].runs : 1; }
  uint64_t runs(OpId op) const { return runs(loop_of(op)); }

  /// The iteration of `outer` in which this iteration of `inner` is. Requires that `outer` encloses
  /// `inner`.
  uint64_t outwards(uint64_t iteration, LoopAround inner, LoopAround outer) const;

  /// What a value is that is read in this iteration of the loop `from`: a value that an op makes,
  /// or an argument. Params, and what loops give back, stand for such values.
  ValueRun source(ValueId value, LoopAround from, uint64_t iteration) const;
  /// The same for what a run of an op reads.
  ValueRun source(ValueId operand, OpRun reader) const {
    return source(operand, loop_of(reader.op), reader.iteration);
  }

  /// The op that makes the value; empty for an argument, and for what stands for other values.
  std::optional<OpId> maker(ValueId value) const { return values_[value.index()].maker; }

  /// "l[3].m[40].y" of "l[].m[].y", which is in these loops.
  std::string name(std::string_view in_body, LoopAround loop, uint64_t iteration) const;

 private:
  enum class Stands : uint8_t { Itself, Param, Result, Exit };
  /// For what a value stands: a carry or an exit of a loop, by index.
  struct ValueInfo {
    LoopAround loop;
    std::optional<OpId> maker;
    Stands stands = Stands::Itself;
    uint32_t of_loop = 0;
    uint32_t index = 0;
  };
  struct LoopInfo {
    int64_t lower = 0;
    uint64_t trips = 0;
    uint64_t runs = 0;  // of the body
    LoopAround around;
    std::vector<Carry> carries;
    std::vector<Exit> exits;
  };

  std::vector<LoopInfo> loops_;
  std::vector<LoopAround> loop_of_op_;
  std::vector<ValueInfo> values_;
};

}  // namespace orrery
