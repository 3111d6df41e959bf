#pragma once

// The critical path: the chain of ops, each the cause of the next, that ends at the makespan.
//
// The folder reads one timed run. The run leaves a Completion (simulator/time/completion.h): for
// each op on each device, when its list reached it, when it entered and when it ended, and the
// member whose entry held up a collective. list_runs.h looks these up by list.
//
//   critical_path.h       goes back from the makespan: from each moment of a list to the cause that
//                         was met last, and from a collective to the member that held it up
//   why.h                 goes back from one op in the same way, and also through the steps of the
//                         collectives on the way, for which it records the run once more
//   slack.h               goes back through the whole History of the run (simulator/event), and
//                         passes the latest instant of each moment and half on to its causes
//   device_times.h        adds up what each stream of a device did
//   collective_figures.h  gives a collective's bandwidths, and how much of it computation hid
//
// All ask the functions for_each_cause (simulator/schedule) for the causes, as the executors do, so
// an explanation cannot differ from the timing.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/id.h"
#include "models/base/quantity.h"

namespace orrery {

struct Completion;
struct Lowered;
struct Program;

/// A stretch of the critical path: a local op on its device, or a collective. The stretch of a
/// collective begins when the member that held it up could enter (before its launch), and ends with
/// the collective on the device where the path continues. `device` is that first member.
///
/// In skipped iterations of a loop (simulator/time/loop_skips.h) the path repeats itself. An entry
/// stands there for as many stretches as its rounds say. The other entries of a round are next to
/// it: each starts where the one before ends, and has the same round.
struct PathEntry {
  /// A round comes `times` times, each time `every` later. That is how long it takes.
  struct Round {
    uint64_t times = 1;
    Duration every;
    friend bool operator==(const Round&, const Round&) = default;
  };

  OpId op;
  LogicalId device;
  Instant start;  // of the first stretch
  Instant end;
  uint64_t iteration = 0;          // of the first stretch (models/program/iterations.h)
  std::vector<Round> rounds = {};  // inner ones first: those of inner loops

  /// Returns how many stretches the entry stands for.
  uint64_t times() const;
  /// Returns when the last of them ends, over the `inner` first rounds.
  Instant last_end(size_t inner) const;
  Instant last_end() const { return last_end(rounds.size()); }
  /// Returns how long all of them take together.
  Duration takes() const { return (end - start) * static_cast<int64_t>(times()); }
  friend bool operator==(const PathEntry&, const PathEntry&) = default;
};

/// A path in loops goes back through so many instructions at most. Rounds that repeat count once.
inline constexpr uint64_t kMostPathSteps = uint64_t{1} << 18U;

/// Returns the path, first to last. It is contiguous: the first entry starts when its device
/// begins, each other one where the one before it ends, and the last ends at the makespan. Entries
/// of no time are left out. No op of the path has slack: where members of a collective enter by
/// different ops, `op` and `device` are those with which the stretch ends. If there are several
/// such chains, it is the one that ends on the device of the lowest id. If both the compute stream
/// and a communication stream held an entry up, it follows the compute stream. Returns nothing if
/// the path is longer than kMostPathSteps. Requires that all runs have spans (OpSpans::has_all).
std::optional<std::vector<PathEntry>> critical_path(const Program& program, const Lowered& lowered,
                                                    const Completion& completion);

/// Returns the chain that ends with `op` on `device` instead of at the makespan, including entries
/// of no time. A collective's entry ends on the device of the entry after it. Requires that the
/// device runs the op, and a program without loops. A done is not an entry: its chain is that of
/// its collective.
std::vector<PathEntry> path_to(const Program& program, const Lowered& lowered,
                               const Completion& completion, OpId op, LogicalId device);

}  // namespace orrery
