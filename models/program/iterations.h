#pragma once

// Which runs of the ops of a program with regions (loop.h) the ops of a written program are.

#include <compare>
#include <cstdint>

#include "models/base/id.h"

namespace orrery {

/// One run of an op of a program with regions.
struct OpRun {
  OpId op;
  /// How many runs of the op come before, where all loops around it run in full: its index in the
  /// outermost loop, from 0, times the iterations of the next one, plus its index in that, and so
  /// on; modulo 2^64. 0 for an op that is in no loop.
  uint64_t iteration = 0;
  friend auto operator<=>(const OpRun&, const OpRun&) = default;
};

}  // namespace orrery
