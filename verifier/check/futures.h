#pragma once

// Static checks of futures and storage, by issue order alone: they hold for every timing.

#include <optional>

#include "models/program/program.h"
#include "verifier/verdict.h"

namespace orrery {

/// Every started collective is done (LEAK.FREE).
Check leak_free(const Program& program);

/// No future is done twice (FUTURE.DONE_ONCE).
Check done_once(const Program& program);

/// Only a done reads a future, and no future is an output (FUTURE.USE).
Check futures_used_by_done(const Program& program);

/// The first race of the ops (RACE.FREE); empty if there is none. A collective is in flight between
/// its start and its done, or to the end if it has none. Meanwhile no op may take over storage that
/// the collective reads, or read storage that the collective takes over. Collectives of one stream
/// run one after another, and do not race.
std::optional<Check> storage_race(const Program& program);

/// Once an op takes over storage, no later op reads it and no output keeps it (DONATION.USE),
/// whether the op that took it has ended or is still in flight.
Check donations_respected(const Program& program);

}  // namespace orrery
