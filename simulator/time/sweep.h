#pragma once

// The sweep computes time as a max-plus event graph. If no link's demand ever exceeds its capacity,
// every transfer takes a constant time, and each half begins at the latest of its causes. So no
// queue is needed. The result equals the event engine's, to the picosecond. The condition is known
// before the sweep (demand.h), or checked on its timeline (capacity.h).
//
// The lists of the devices go on as far as they can (device_clocks.h). When all members of a
// collective have entered, it runs by itself from its first step to its last (collective_sweep.h),
// and its ends let the lists go on. A lockstep schedule runs row by row, without asking which step
// is ready. The halves of other schedules run in an order that their causes allow
// (schedule/walk.h). Only the steps of the window are remembered.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "models/scenario/size_limits.h"
#include "simulator/event/event_log.h"
#include "simulator/network/demand.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/completion.h"

namespace orrery {

/// Returns why the sweep is not known to be exact before it runs; nothing if it is. The sweep is
/// exact if no link's demand (demand.h) exceeds the link's bandwidth. The reason names the first
/// link whose demand does, the demand and the bandwidth.
std::optional<std::string> sweep_refusal(const Demands& demands, const Fabric& fabric);

struct SweepOptions {
  /// The devices begin at these instants, by logical id; if it is empty, all begin at 0.
  std::vector<Instant> device_start;
  EventLog* log = nullptr;  // gets every half that runs, collective by collective
  /// If it is not null, the timeline is checked against the links' capacities.
  const Demands* check_capacity = nullptr;
  /// If it is not null, the messages of a collective may share links with each other, but not with
  /// those of other collectives. The engine times such a collective alone, and the timeline is
  /// checked. Requires that there is no log, and no check of capacities.
  const Demands* apart = nullptr;
  int64_t most_state = Limits().state;  // bytes that a collective may take: its ranks x channels x
                                        // window
  WantedSpans wanted = {};
  bool only_times = false;      // as in TimeOptions
  AloneTimes* alone = nullptr;  // as in TimeOptions
};

/// Returns the memory that a schedule of this extent takes in the sweep, where no link can be asked
/// for too much. The sweep runs one collective at a time.
Int128 swept_state(const Extent& extent);

/// Runs one collective at a time, once the entries of all its members are known. Returns the reason
/// if it cannot finish. Either no collective has all its entries, or the steps of one wait for each
/// other. Or messages ask a link for more than it has. With check_capacity, iterations that may be
/// skipped are a reason too.
/// Collectives that are alike and whose ranks enter alike are timed once, if there is neither a log
/// nor check_capacity. Requires !sweep_refusal(), or check_capacity, or apart. Memory grows with
/// ranks x channels x window. Throws TooMuchState, TooManySteps and
/// TooManyRuns.
std::variant<Completion, std::string> sweep(const Program& program, const Lowered& lowered,
                                            Paths& paths, const SweepOptions& options = {});

// These overloads make their own paths and demands.
std::optional<std::string> sweep_refusal(const Lowered& lowered, const Fabric& fabric);
std::variant<Completion, std::string> sweep(const Program& program, const Lowered& lowered,
                                            const Fabric& fabric, const SweepOptions& options = {});

}  // namespace orrery
