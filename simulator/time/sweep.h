#pragma once

// The sweep: time as a max-plus event graph. Where no link is ever asked for more than it has,
// every transfer takes a constant time, and each half begins at the latest of its causes: there is
// nothing to decide, so no queue is needed. It gives what the event engine gives, to the
// picosecond. That no link is asked for too much is known before (demand.h), or shown by the
// timeline (capacity.h).

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "simulator/event/event_log.h"
#include "simulator/network/demand.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/completion.h"

namespace orrery {

/// Why the sweep is not known to be exact before it runs; empty where it is: where no link can be
/// asked for more than its bandwidth (demand.h). The reason names the first link that is, what it
/// is asked for, and the bandwidth.
std::optional<std::string> sweep_refusal(const Demands& demands, const Fabric& fabric);

struct SweepOptions {
  /// When each device begins, by logical id; empty: all at 0.
  std::vector<Instant> device_start;
  EventLog* log = nullptr;  // gets every half that runs, collective by collective
  /// Where given: the timeline is checked against the links' capacities.
  const Demands* check_capacity = nullptr;
};

/// Takes one collective at a time, once the entries of all its members are known. Gives the reason
/// where it cannot be taken to its end, or where a link was asked for too much: no collective has
/// all its entries, or the steps of one wait for each other. Requires !sweep_refusal(), or
/// check_capacity. Memory grows with ranks x channels x window.
std::variant<Completion, std::string> sweep(const Program& program, const Lowered& lowered,
                                            Paths& paths, const SweepOptions& options = {});

// The same, with paths and demands of its own.
std::optional<std::string> sweep_refusal(const Lowered& lowered, const Fabric& fabric);
std::variant<Completion, std::string> sweep(const Program& program, const Lowered& lowered,
                                            const Fabric& fabric, const SweepOptions& options = {});

}  // namespace orrery
