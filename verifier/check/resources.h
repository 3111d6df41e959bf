#pragma once

// These checks judge a run's memory, and that each step of each schedule ran once.

#include <string>
#include <utility>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "simulator/memory/profile.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/lowered.h"
#include "verifier/verdict.h"

namespace orrery {

/// Checks that a thread's devices hold at most `capacity` at every op (MEMORY.CAPACITY). A check
/// that fails names the first thread whose peak does not fit, the op and the device of the peak,
/// and what is live there.
Check memory_capacity(const Program& program, const MemoryProfile& memory, Bytes capacity);

/// Returns the digest of a walk that runs every half once in each run of its collective. Looks up
/// what is `known` of its schedules, and adds to it.
WalkDigest whole_digest(const Program& program, const Lowered& lowered, ScheduleDigests& known);

/// Checks that all executors, given by name, have the digest of the schedules (SCHEDULE.DIGEST).
Check digests_agree(const WalkDigest& whole,
                    const std::vector<std::pair<std::string, WalkDigest>>& executors);

}  // namespace orrery
