#pragma once

// A StateBudget limits the memory that running collectives take (Limits::state). Most of it is
// their windows of steps, so it is known when a collective begins: ranks x channels x window. It
// also limits the steps of all collectives that are run (Limits::steps), since those in a loop may
// run often. Iterations that are skipped run none.

#include <cstdint>

#include "models/base/compiler.h"
#include "models/base/id.h"
#include "models/program/op.h"
#include "models/scenario/size_limits.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// The error thrown for a collective for which there is no room any more.
class TooMuchState : public BeyondLimit {
 public:
  using BeyondLimit::BeyondLimit;
};

/// The error thrown for the collective with which more steps are run than may be.
class TooManySteps : public BeyondLimit {
 public:
  using BeyondLimit::BeyondLimit;
};

class StateBudget {
 public:
  /// Allows `most` bytes, and so many steps.
  StateBudget(int64_t most, int64_t most_steps) : most_(most), most_steps_(most_steps) {}

  /// Counts the steps of a collective of the op, which begins. Throws TooManySteps.
  void count(OpId op, const Schedule& schedule) {
    steps_ += count_steps(schedule);
    if (steps_ > most_steps_) {
      Limits limits;
      limits.steps = most_steps_;
      throw TooManySteps(op, beyond(limits, &Limits::steps, "more"));
    }
  }

  /// Takes the bytes of a collective of the op, which begins, and counts its steps. Throws
  /// TooMuchState.
  void take(OpId op, Int128 bytes, const Schedule& schedule) {
    count(op, schedule);
    if (taken_ + bytes > most_) {
      Limits limits;
      limits.state = most_;
      throw TooMuchState(op, beyond(limits, &Limits::state, "more"));
    }
    taken_ += bytes;
  }

  /// Returns whether there is room for two descriptions of everything that is running. A
  /// description takes less memory than what it describes.
  bool has_room_for_copies() const { return taken_ <= most_ / 3; }

  /// Gives back the bytes of a collective that has ended.
  void give(Int128 bytes) { taken_ -= bytes; }

 private:
  int64_t most_;
  int64_t most_steps_;
  Int128 taken_ = 0;
  Int128 steps_ = 0;  // of all collectives that have begun
};

}  // namespace orrery
