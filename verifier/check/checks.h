#pragma once

// This file has the checks that need no values: those of a program, its lowered schedules, its
// memory and its digests. Most functions return a Check (verdict.h), and three give what such a
// check looks for. The comments say in which .cc file they stand.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "simulator/memory/profile.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/program_walk.h"
#include "verifier/verdict.h"

namespace orrery {

// hang.cc: does the program end? No event is chosen among several, so one run decides for every
// timing. If a walk without time stops, the witness is the cycle of devices that wait for each
// other. The search starts at a device that cannot continue. It goes from a device to the one that
// it waits for, by the first missing cause, until a device comes up again. A program also cannot
// end if a message has lost its route to links that are cut.

/// Returns DEADLOCK.FREE of a program that ran to its end.
Check deadlock_free();

/// Checks whether the program ends (DEADLOCK.FREE), by where a walk stopped. If not, the check says
/// why:
///  - the wait-for cycle, device by device, and the conflicting orders of issue;
///  - or, if all devices entered a collective that cannot continue, the cycle of its steps;
///  - or, if a psend or precv waits for a partner that does not exist, the missing op, and the
///    pairs of the ops that it does not agree with;
///  - or, if another collective waits for members that never enter it, who waits, for whom, and
///    where those are instead.
Check deadlock_free(const Program& program, const Lowered& lowered, const Stop& stop);

/// Returns a cycle of channels of one schedule: each waits for the next, and the last for the
/// first. The search begins with the channel at position `from`. `parked` is the result of a walk.
/// Requires that it is not empty, and that every node on which these channels wait has been
/// entered.
std::vector<Parked> waiting_cycle(const std::vector<Parked>& parked, size_t from = 0);

/// Checks that every two devices that exchange a message have a route left (ROUTE.LEFT). `cut` has
/// the paths of the fabric of `healthy` without the cut links. A check that fails names the first
/// collective with a lost route, the two devices, and the cut links of their former route.
Check routes_left(const Program& program, const Lowered& lowered, Paths& healthy, Paths& cut);

// buffering.cc: does a program with psend and precv end if nothing is buffered, and how many
// messages must be buffered if it does not? The program is walked without time. Each psend waits
// until its precv is reached, whatever "entry" the ops have.

/// This is a message that was kept for a device that had not reached its precv.
struct Buffered {
  OpId send;
  LogicalId from;
  LogicalId to;
};

struct BufferNeed {
  /// The least k such that the program ends if each device may have k messages under way whose
  /// precv is not reached yet. It is empty if the program ends for no k. A psend for which there is
  /// no room waits for its precv, or for room.
  std::optional<uint32_t> messages;
  bool least = true;           // whether no choice of the sends that are kept needs fewer
  std::vector<Buffered> kept;  // in the order in which nothing else could go on
};

/// Returns how many messages must be buffered. Progress of one psend never makes another wait. So
/// buffering only where all is stuck gives the least number, unless started psends of one device
/// wait together. Then the first in issue order is buffered, and another choice might need fewer.
BufferNeed buffer_need(const Program& program, const Lowered& lowered);

/// Programs with loops are walked with all iterations if their devices run at most so many ops,
/// which takes some seconds.
inline constexpr uint64_t kMostWalkedRuns = uint64_t{1} << 23U;

/// Checks that no message must be buffered (SENDS.UNBUFFERED). Returns nothing for a program
/// without psend and precv. A check that fails has the number and the messages. `ends` says whether
/// the program ends with the buffers of its transport, here and below.
std::optional<Check> sends_unbuffered(const Program& program, const Lowered& lowered, bool ends);

/// Checks that at most `most` messages must be buffered (SENDS.BUFFERED), for the expectation `of`.
/// The message has the number in any case.
Check sends_buffered(const Program& program, const Lowered& lowered, bool ends, int64_t most,
                     const std::string& of);

// order.cc: do threads agree on the order of the collectives that they share? futures.cc: are
// futures and storage used as they may be? Both use the order of issue alone, so they hold for
// every timing.

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

// cores.cc: what goes on inside an mpmd_map, for all timings of its instances? An instance waits
// for ever, two accesses race, or a memory space is too small.
//
// An op a of one instance comes before an op b of another in all timings if b cannot be reached
// while its instance stops before a. The search for races asks just this, by walks without time
// (models/program/cores.h).

/// Returns DEADLOCK.FREE of the first mpmd_map in which an instance can wait for ever, or in which
/// this is not known. Returns nothing if each ends for all timings.
std::optional<Check> stuck_cores(const Program& program);

/// Returns RACE.FREE of the first mpmd_map in which several instances wait on one counter, or two
/// accesses of one element, of which one writes, are unordered. Returns nothing if there is none.
std::optional<Check> race_of_cores(const Program& program);

/// Checks that the scratch of every mpmd_map fits the memory spaces of the cores (SPACE.CAPACITY).
/// Returns nothing if no space has a size.
std::optional<Check> space_capacity(const Program& program, const DeviceFigures& device);

// resources.cc: does the memory of a run suffice, and did each step of each schedule run once?

/// Checks that a thread's devices hold at most `capacity` at every op (MEMORY.CAPACITY). A check
/// that fails names the first thread whose peak does not fit, the op and the device of the peak,
/// and what is live there.
Check memory_capacity(const Program& program, const MemoryProfile& memory, Bytes capacity);

/// Returns the digest of a walk that runs every half once in each run of its collective. Looks up
/// what is `known` of its schedules, and adds to it.
WalkDigest whole_digest(const Program& program, const Lowered& lowered, ScheduleDigests& known);

/// Checks that all executors, given by name, have the digest of the schedules (SCHEDULE.DIGEST).
Check digests_agree(const WalkDigest& whole,
                    const std::vector<std::pair<std::string, WalkDigest>>& executors);

}  // namespace orrery
