#pragma once

// The critical path: the chain of ops, each the cause of the next, that ends at the makespan.

#include <vector>

#include "models/base/id.h"
#include "models/base/quantity.h"

namespace orrery {

struct Completion;
struct Lowered;
struct Program;

/// A stretch of the critical path: a local op on its device, or a collective. A collective's
/// stretch begins when the member that held it up could enter (before its launch), and ends with
/// the collective on the device where the path continues. `device` is that first member.
struct PathEntry {
  OpId op;
  LogicalId device;
  Instant start;
  Instant end;
  friend bool operator==(const PathEntry&, const PathEntry&) = default;
};

/// First to last and contiguous: the first entry starts when its device begins, each other one
/// where the one before it ends, and the last ends at the makespan. Entries of no time are left
/// out. No op of the path has slack: where members of a collective enter by different ops, `op` and
/// `device` are those with which the stretch ends. Among several such chains it is the one that
/// ends on the device of the lowest id. Where both the compute stream and a communication stream
/// held an entry up, it follows the compute stream.
std::vector<PathEntry> critical_path(const Program& program, const Lowered& lowered,
                                     const Completion& completion);

/// The chain that ends with `op` on `device` instead of at the makespan, including entries of no
/// time. A collective's entry ends on the device of the entry after it. Requires that the device
/// runs the op. A done is not an entry: its chain is that of the collective it waited for.
std::vector<PathEntry> path_to(const Program& program, const Lowered& lowered,
                               const Completion& completion, OpId op, LogicalId device);

}  // namespace orrery
