#pragma once

// The event engine simulates every message, with links shared max-min fairly. It runs any program,
// and defines the times of programs that the sweep refuses.
//
// A queue holds what is known to happen (event_queue.h): a half retires, a flow ends, a message
// arrives. The clock goes to its next instant. Everything at that instant is handled before the
// clock goes on:
//  - the lists of the devices go on (device_clocks.h) and enter collectives;
//  - each running collective (collective_engine.h) begins the halves whose causes are met
//    (schedule/causes.h);
//  - a send half over links that others use too becomes a flow of the network. Whenever flows come
//    or go, their rates are solved again (network/max_min.h).
// Links that can never have more demand than capacity (network/demand.h) are not shared: a message
// over such links alone takes a time that is known when it begins.

#include <cstdint>
#include <optional>
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

struct EngineOptions {
  /// The devices begin at these instants, by logical id; if it is empty, all begin at 0.
  std::vector<Instant> device_start;
  EventLog* log = nullptr;              // gets every half that runs
  int64_t most_state = Limits().state;  // bytes that all collectives at work may take
  WantedSpans wanted = {};

  // The following options change no result; tests check this. The seed permutes the order in which
  // the events of one instant are handled.
  std::optional<uint64_t> shuffle_seed;
  /// At these instants all rates are solved again and all transfers are brought up to date.
  std::vector<Instant> extra_updates;
  /// If set, every link is shared, even if its capacity covers the program's demand.
  bool share_all_links = false;
};

/// Simulates a program. First all events of an instant are handled: halves that have ended retire,
/// and halves that may begin do so, until none is left. Then the changed parts of the network are
/// solved once, and only flows with a new rate are rescheduled. A flow ends at now + ceil(remaining
/// / rate). A message whose links all cover their demand (demand.h) takes a constant time, and is
/// no flow. Returns nothing for a program that does not end. Throws TooMuchState,
/// TooManySteps and TooManyRuns.
std::optional<Completion> simulate_if_it_ends(const Program& program, const Lowered& lowered,
                                              Paths& paths, const Demands& demands,
                                              const EngineOptions& options = {});

/// Returns the memory that a run of the schedule takes in the engine, beside that of the other
/// collectives under way.
Int128 simulated_state(const Schedule& schedule);

/// Simulates a program that ends.
Completion simulate(const Program& program, const Lowered& lowered, Paths& paths,
                    const Demands& demands, const EngineOptions& options = {});

/// This overload makes its own paths and demands.
Completion simulate(const Program& program, const Lowered& lowered, const Fabric& fabric,
                    const EngineOptions& options = {});

}  // namespace orrery
