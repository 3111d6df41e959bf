#pragma once

// Why the storage of a value is held from where to where in a thread's list, by the rules of
// simulator/memory/lifetimes.h.

#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/program/program.h"
#include "models/scenario/scenario.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

struct ValueLife {
  enum class Until : uint8_t {
    EndAsArgument,  // of the program: it was not donated
    EndAsOutput,    // of the program
    EndInFlight,    // of the program: a started collective that uses it is never done
    Donation,       // its last use: an argument that was donated
    LastUse,        // by `to`: an op that reads it, or the done of a collective that uses it
    TakenOver,      // by the op after it, `to`, whose result gets its storage
    NeverUsed,      // the op that makes it
  };
  ThreadId thread;
  Bytes size;                // rounded up to the alignment
  std::optional<OpId> from;  // the op that makes it; empty: an argument
  std::optional<OpId> to;    // empty: to the end of the program
  Until until = Until::LastUse;
  std::vector<ValueId> together;  // the other values of the thread in the same storage
};

/// One entry for each thread whose devices hold the value.
std::vector<ValueLife> value_lives(const Program& program, const Lowered& lowered,
                                   const MemoryPolicy& policy, ValueId value);

}  // namespace orrery
