#pragma once

// Static checks of futures and storage, by issue order alone: they hold for every timing.

#include <optional>

#include "models/program/program.h"
#include "verifier/report.h"

namespace orrery {

/// Every started collective is done (LEAK.FREE).
Check leak_free(const Program& program);

/// No future is done twice (FUTURE.DONE_ONCE).
Check done_once(const Program& program);

/// Only a done reads a future, and no future is an output (FUTURE.USE).
Check futures_used_by_done(const Program& program);

/// RACE.FREE of the ops: where, between a start and its done, an op takes over storage that the
/// collective reads, or reads what it takes over. Not between collectives of one stream. Empty if
/// there is none. A collective that is never done is in flight to the end.
std::optional<Check> storage_race(const Program& program);

/// No op reads, and no output keeps, storage that an op issued earlier takes over, whether that op
/// has ended or is in flight (DONATION.USE).
Check donations_respected(const Program& program);

}  // namespace orrery
