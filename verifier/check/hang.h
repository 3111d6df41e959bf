#pragma once

// Whether the program ends. No cause is a choice, so one run decides for every timing. Where a walk
// without time stops, the cycle of devices that wait for each other is the witness.

#include <cstddef>
#include <vector>

#include "models/program/program.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/program_walk.h"
#include "verifier/report.h"

namespace orrery {

/// The program ends (DEADLOCK.FREE): the check for a program that ran to its end.
Check deadlock_free();

/// Whether the program ends (DEADLOCK.FREE), by where a walk stopped. If not: the wait-for cycle,
/// device by device, and the conflicting orders of issue. If all devices entered a collective that
/// cannot continue: the cycle of its steps, step by step. If a psend or precv waits for another end
/// that no op is: which one, and the pairs of the ops that it does not agree with.
Check deadlock_free(const Program& program, const Lowered& lowered, const Stop& stop);

/// The channels of one schedule that wait for each other: each for the next one, the last for the
/// first. `parked` is a walk's result, not empty, with every node entered that is waited for from
/// the channel at the position `from` on.
std::vector<Parked> waiting_cycle(const std::vector<Parked>& parked, size_t from = 0);

}  // namespace orrery
