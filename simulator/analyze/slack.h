#pragma once

// This says how much later each op could have ended without moving the makespan.

#include <optional>
#include <vector>

#include "models/base/quantity.h"
#include "models/program/program.h"
#include "simulator/event/recording.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/completion.h"

namespace orrery {

/// Returns the slack of each op: how much later it could end on one device alone without moving the
/// makespan, if everything else took the same time. The slack of an op is the least over its
/// devices, and empty for an op that no device runs. An op on the critical path has none. The slack
/// is exact if the sweep times the program: one picosecond more moves the makespan by one. If links
/// are shared, delayed messages might get other shares; this is ignored, and transfers keep their
/// times.
std::vector<std::optional<Duration>> slacks(const Program& program, const Lowered& lowered,
                                            const Completion& completion, const History& history);

}  // namespace orrery
