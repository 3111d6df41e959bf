#pragma once

// RACE.FREE of a program: of its ops, and of the steps of its schedules.

#include "verifier/prove/prover.h"
#include "verifier/report.h"

namespace orrery {

/// No two accesses to the same storage, one of them a write, are unordered. Names the first race of
/// ops (storage_race), else of a schedule's steps (step_races.h). Schedules that the prover's
/// budget does not cover are named in the message.
Check race_free(const Program& program, const Lowered& lowered, Prover& prover);

}  // namespace orrery
