#pragma once

// The event engine simulates every message, with links shared max-min fairly. It runs any program,
// and defines the time of those that the sweep refuses.
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
  /// When each device begins, by logical id; empty: all at 0.
  std::vector<Instant> device_start;
  EventLog* log = nullptr;              // gets every half that runs
  int64_t most_state = Limits().state;  // bytes that all collectives at work may take
  /// The runs of ops that get spans, ascending; null: all. Iterations without any may be skipped.
  const std::vector<OpRun>* kept = nullptr;
  int64_t most_runs = Limits().runs;  // with `kept`: of ops that are run one by one

  // None of these changes a result; tests check this. Permutes the order in which the events of one
  // instant are handled.
  std::optional<uint64_t> shuffle_seed;
  /// Instants at which all rates are solved again and all transfers are brought up to date.
  std::vector<Instant> extra_updates;
  /// Shares every link, including those whose capacity covers the program's demand.
  bool share_all_links = false;
};

/// Within one instant all its events are handled. Halves that have ended retire, and halves that
/// may begin do, until none is left. Then the changed parts of the network are solved once, and
/// only flows with a new rate are rescheduled. A flow ends at now + ceil(remaining / rate). A
/// message whose links all cover their demand (demand.h) takes a constant time, and is no flow.
/// Empty for a program that does not end. Throws TooMuchState and TooManyRuns.
std::optional<Completion> simulate_if_it_ends(const Program& program, const Lowered& lowered,
                                              Paths& paths, const Demands& demands,
                                              const EngineOptions& options = {});

/// Requires a program that ends.
Completion simulate(const Program& program, const Lowered& lowered, Paths& paths,
                    const Demands& demands, const EngineOptions& options = {});

/// The same, with paths and demands of its own.
Completion simulate(const Program& program, const Lowered& lowered, const Fabric& fabric,
                    const EngineOptions& options = {});

}  // namespace orrery
