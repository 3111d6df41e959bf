#pragma once

// These static checks of futures and storage use issue order alone, so they hold for every timing.

#include <optional>

#include "models/program/program.h"
#include "verifier/verdict.h"

namespace orrery {

/// Checks that every started collective is done (LEAK.FREE).
Check leak_free(const Program& program);

/// Checks that no future is done twice (FUTURE.DONE_ONCE).
Check done_once(const Program& program);

/// Checks that only a done reads a future, and that no future is an output (FUTURE.USE).
Check futures_used_by_done(const Program& program);

/// Returns the first race of the ops (RACE.FREE); empty if there is none. A collective is in flight
/// between its start and its done, or to the end of the program if it has no done. Meanwhile no op
/// may take over storage that the collective reads, or read storage that the collective takes over.
/// Collectives of one stream run one after another, and do not race.
std::optional<Check> storage_race(const Program& program);

/// Checks that no later op reads storage that an op has taken over, and that no output keeps it
/// (DONATION.USE). The op that took it may have ended or still be in flight.
Check donations_respected(const Program& program);

}  // namespace orrery
