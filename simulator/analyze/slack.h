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

/// Per op: the least over its devices of the longest time by which its end on that device alone
/// could be put off, everything else lasting as long as it did, such that the program still ends at
/// the makespan. An op on the critical path has none. Where the sweep times the program, this is
/// exact: one picosecond more moves the makespan by one. Where links are shared, messages that are
/// put off might get other shares of them, which is not looked at: transfers keep their times.
/// Empty for an op that no device runs.
std::vector<std::optional<Duration>> slacks(const Program& program, const Lowered& lowered,
                                            const Completion& completion, const History& history);

}  // namespace orrery
