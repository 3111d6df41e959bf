#pragma once

// These static checks use the order of issue alone, so they hold for every timing.
//  - Threads agree on the order of the collectives that they share (order.cc).
//  - Futures and storage are used as they may be (futures.cc).

#include <optional>

#include "models/program/program.h"
#include "simulator/schedule/lowered.h"
#include "verifier/verdict.h"

namespace orrery {

/// Checks that any two threads issue the collectives that they share on one stream in the same
/// order (ORDER.AGREED). The time is linear in the members of sites if all threads agree.
Check order_agreed(const Program& program, const Lowered& lowered);

/// Checks the same across streams (STREAMS.ORDERED): if two collectives share two devices, and may
/// be in flight together on one of them on two streams, both devices must issue them in one order.
/// Otherwise each device may be busy with the collective that the other one has not begun. NCCL
/// promises no progress then, and XLA's scheduler refuses such a pair. The check is undecided
/// if only three or more devices form such a cycle. Returns nothing if no thread has shared
/// collectives on several streams.
std::optional<Check> streams_ordered(const Program& program, const Lowered& lowered);

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
