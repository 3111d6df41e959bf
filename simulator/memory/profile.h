#pragma once

// How much memory each device holds at each position of its thread's list. Issue order is
// allocation order, so the answer holds for every timing.

#include <optional>
#include <string>
#include <vector>

#include "models/program/program.h"
#include "models/scenario/scenario.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

enum class HeldAs : uint8_t { Argument, Output, Temporary, InFlight, Scratch };

/// One buffer (or one op's scratch) that is held at a position.
struct Held {
  std::string value;  // the first value of the buffer; for scratch the op's name
  Bytes size;         // rounded up to the alignment
  HeldAs kind = HeldAs::Temporary;
};

/// Of one thread: all its devices hold the same.
struct ThreadMemory {
  std::vector<Bytes> live;         // while each op of the issue order runs
  Bytes peak;                      // largest live, plus reserved
  std::optional<OpId> peak_at;     // the first op that attains it; empty: before the first op
  std::vector<Held> live_at_peak;  // largest first, then by name
  Bytes reserved;
  Bytes arena;  // high water of the best-fit placement
  /// Of the live set at the peak, per kind.
  Bytes arguments, outputs, temporaries, in_flight, scratch;
};

struct MemoryProfile {
  std::vector<ThreadMemory> threads;  // one per thread
};

/// Time is not among its inputs.
MemoryProfile profile(const Program& program, const Lowered& lowered, const MemoryPolicy& policy);

}  // namespace orrery
