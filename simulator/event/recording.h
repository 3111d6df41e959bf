#pragma once

// Recordings in memory: the halves of some collectives, for access by step, or everything in order.

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "simulator/event/event_log.h"
#include "simulator/schedule/causes.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/step_table.h"

namespace orrery {

/// When both halves of a step ran.
struct StepRecord : StepInstants {
  Instant receive_begin;
  Instant send_begin;
};

class Recording {
 public:
  /// Keeps the events of the collectives in `wanted`, 40 bytes a step.
  Recording(const Lowered& lowered, std::span<const CollectiveId> wanted);

  /// Sink of an EventLog.
  void add(std::span<const HalfEvent> events);

  /// Requires a wanted collective, and that the step ran.
  const StepRecord& at(CollectiveId collective, StepRef step) const;

 private:
  std::vector<std::optional<AllSteps<StepRecord>>> tables_;  // per collective
};

/// Everything, each record after its causes.
struct History {
  std::vector<HalfEvent> halves;
  std::vector<MomentEvent> moments;
};

/// Runs `timed(EventLog&)`; afterwards `history` holds exactly what that recorded.
template <class Timed>
void record_into(History& history, Timed&& timed) {
  history.halves.clear();
  EventLog log([&](std::span<const HalfEvent> halves) {
    history.halves.insert(history.halves.end(), halves.begin(), halves.end());
  });
  timed(log);
  log.flush();
  history.moments = std::move(log).moments();
}

}  // namespace orrery
