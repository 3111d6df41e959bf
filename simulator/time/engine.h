#pragma once

// The event engine: every message as it happens, links shared max-min fairly. It runs any program,
// and is the definition of time for those that the sweep does not take.

#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "models/scenario/bounds.h"
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

  // None of these changes a result; tests hold the engine to that.
  /// Permutes the order in which what happens at one instant is done.
  std::optional<uint64_t> shuffle_seed;
  /// Instants at which all rates are solved again and all work is brought up to date.
  std::vector<Instant> extra_updates;
  /// Shares out every link, also those that can give all that the program may ask of them.
  bool share_all_links = false;
};

/// Within one instant: all its events are taken; what has ended retires, what may begin begins,
/// until nothing more does; then the changed parts of the network are solved once, and only flows
/// with a new rate are rescheduled. A flow ends at now + ceil(work / rate). A message none of whose
/// links can be asked for more than it has (demand.h) takes a constant time, and is no flow.
/// Empty for a program that does not end. Throws TooMuchState.
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
