#pragma once

// The iterations of a group of loops (models/program/loops.h) in a program that has them all
// written out: which part of a tape, and which collective, belongs to which iteration.

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/base/id.h"
#include "models/program/program.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// Where an instruction or a collective is. Those that correspond in two iterations differ only in
/// `iteration`.
struct LoopPosition {
  bool repeated = false;  // it is in one of the iterations
  int64_t iteration = 0;  // which one, if repeated
  uint32_t index = 0;     // if repeated, of its like in iteration 0; else its own
  friend auto operator<=>(const LoopPosition&, const LoopPosition&) = default;
};

class LoopIterations {
 public:
  /// The iterations of a thread: `length` instructions each, `count` times, from `begin` on.
  struct ThreadPart {
    ThreadId thread;
    uint32_t begin = 0;
    uint32_t length = 0;
    uint32_t count = 0;
  };

  /// The iterations from number `first` on of these loops, which have all theirs written. Iteration
  /// `first` is called 0 here. Empty unless they are alike in all that times depend on: the
  /// instructions and what they wait for, the local ops' durations, the collectives with their
  /// schedules and members.
  static std::optional<LoopIterations> find(const Program& program, const Lowered& lowered,
                                            const ProgramLists& lists,
                                            std::span<const size_t> loops, size_t first);

  /// One of each thread that has a loop of the group; all have the same count.
  std::span<const ThreadPart> parts() const { return parts_; }
  uint64_t count() const { return parts_.front().count; }

  LoopPosition position(ThreadId thread, uint32_t instruction) const;
  LoopPosition position(CollectiveId collective) const { return collectives_[collective.index()]; }

 private:
  bool same_instructions(const Lowered& lowered, const ProgramLists& lists) const;
  bool find_collectives(const Program& program, const Lowered& lowered, const ProgramLists& lists);

  std::vector<ThreadPart> parts_;
  std::vector<LoopPosition> collectives_;
};

}  // namespace orrery
