#pragma once

// Why a program took as long as it did: the chain of ops, each the cause of the next, that ends at
// the makespan.

#include <vector>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/program/program.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/completion.h"

namespace orrery {

/// A stretch of the critical path. A local op on its device; or a collective, from the instant at
/// which the member that held it up could enter it (before its launch) to its end on the device
/// where the path goes on. `device` is that first member.
struct PathEntry {
  OpId op;
  LogicalId device;
  Instant start;
  Instant end;
  friend bool operator==(const PathEntry&, const PathEntry&) = default;
};

/// First to last, contiguous: each entry starts where the one before it ends, the first when its
/// device begins, and the last ends at the makespan. Entries that take no time are left out. Of
/// several such chains the one that ends on the device of the lowest id; where both the compute
/// stream and a communication stream held an entry up, it follows the compute stream.
std::vector<PathEntry> critical_path(const Program& program, const Lowered& lowered,
                                     const Completion& completion);

/// The chain that ends with `op` on `device` instead of at the makespan, with the entries that take
/// no time. A collective's entry ends on the device of the entry after it. Requires that the device
/// runs the op. A done is not an entry: the chain of what it waited for is its own.
std::vector<PathEntry> path_to(const Program& program, const Lowered& lowered,
                               const Completion& completion, OpId op, LogicalId device);

}  // namespace orrery
