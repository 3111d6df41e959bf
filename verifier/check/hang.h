#pragma once

// Whether the program ends. One walk without time decides for every timing; where it stops, the
// cycle of devices that wait for each other is the witness.

#include <string>
#include <vector>

#include "models/program/program.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/program_walk.h"
#include "verifier/report.h"

namespace orrery {

struct StaticWalk {
  Stop stop;
  Digest digest;  // of the halves that ran
};

/// Walks the whole program without time and without data.
StaticWalk static_walk(const Program& program, const Lowered& lowered);

/// The program ends (DEADLOCK.FREE). Otherwise the wait-for cycle, device by device, and the orders
/// of issue that conflict; or, where a collective that all have entered cannot go on, the cycle of
/// its steps.
Check deadlock_free(const Program& program, const Stop& stop);

/// The steps of one schedule that wait for each other, in words: "node 0 channel 0 step 2 cannot
/// send: its message would take the slot that node 1 channel 0 step 1 has not freed; ...".
/// `parked` is what a walk returned, not empty, with every node entered.
std::string stuck_text(const std::vector<Parked>& parked);

}  // namespace orrery
