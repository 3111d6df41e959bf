#pragma once

// How much later each op could have ended without moving the makespan.

#include <optional>
#include <vector>

#include "models/base/quantity.h"
#include "models/program/program.h"
#include "simulator/event/recording.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/completion.h"

namespace orrery {

/// Per op: how much later it could end on one device alone without moving the makespan, everything
/// else taking the same time; the least over its devices. An op on the critical path has none.
/// Exact where the sweep times the program: one picosecond more moves the makespan by one. Where
/// links are shared, delayed messages might get other shares; this is ignored, and transfers keep
/// their times. Empty for an op that no device runs.
std::vector<std::optional<Duration>> slacks(const Program& program, const Lowered& lowered,
                                            const Completion& completion, const History& history);

}  // namespace orrery
