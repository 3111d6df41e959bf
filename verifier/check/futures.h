#pragma once

// Static checks of futures and storage, by issue order alone: they hold for every timing.

#include <vector>

#include "models/program/program.h"
#include "verifier/report.h"

namespace orrery {

/// Every started collective is done (LEAK.FREE).
Check leak_free(const Program& program);

/// No future is done twice (FUTURE.DONE_ONCE).
Check done_once(const Program& program);

/// Only a done reads a future, and no future is an output (FUTURE.USE).
Check futures_used_by_done(const Program& program);

/// Between a start and its done, no op takes over storage that the collective reads, and none uses
/// storage that was donated to it (RACE.FREE). A collective that is never done is in flight to the
/// end.
Check race_free(const Program& program);

/// No op reads, and no output keeps, storage that an earlier op took over, after that op has ended
/// (DONATION.USE). Use while that op is in flight is a race.
Check donations_respected(const Program& program);

}  // namespace orrery
