#pragma once

// A StateBudget limits the memory that running collectives take (Limits::state). Most of it is
// their windows of steps, so it is known when a collective begins: ranks x channels x window.

#include <cstdint>

#include "models/base/compiler.h"
#include "models/base/id.h"
#include "models/program/op.h"
#include "models/scenario/size_limits.h"

namespace orrery {

/// The error thrown for a collective for which there is no room any more.
class TooMuchState : public BeyondLimit {
 public:
  using BeyondLimit::BeyondLimit;
};

class StateBudget {
 public:
  /// Allows `most` bytes.
  explicit StateBudget(int64_t most) : most_(most) {}

  /// Takes the bytes of a collective of the op, which begins. Throws TooMuchState.
  void take(OpId op, Int128 bytes) {
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
  Int128 taken_ = 0;
};

}  // namespace orrery
