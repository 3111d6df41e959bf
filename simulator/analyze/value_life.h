#pragma once

// Why the storage of a value is held from where to where in a thread's list, by the rules of
// simulator/memory/lifetimes.h.

#include <optional>
#include <vector>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/program/program.h"
#include "models/scenario/scenario.h"
#include "simulator/memory/lifetimes.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

struct ValueLife {
  ThreadId thread;
  Bytes size;                // rounded up to the alignment
  std::optional<OpId> from;  // the op that makes it; empty: an argument
  std::optional<OpId> to;    // the op that HeldUntil names; empty: to the end of the program
  HeldUntil until = HeldUntil::LastUse;
  std::vector<ValueId> together;  // the other values of the thread in the same storage
};

/// One entry for each thread whose devices hold the value.
std::vector<ValueLife> value_lives(const Program& program, const Lowered& lowered,
                                   const MemoryPolicy& policy, ValueId value);

}  // namespace orrery
