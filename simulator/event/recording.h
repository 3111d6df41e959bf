#pragma once

// These recordings are kept in memory: the halves of some collectives, for access by step, or
// everything in order.

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/base/chunked_array.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "simulator/event/event_log.h"
#include "simulator/schedule/causes.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/step_table.h"

namespace orrery {

/// It says when both halves of a step ran.
struct StepRecord : StepInstants {
  Instant receive_begin;
  Instant send_begin;
};

class Recording {
 public:
  /// Keeps the events of the collectives in `wanted`, 40 bytes a step.
  Recording(const Lowered& lowered, std::span<const CollectiveId> wanted);

  /// Adds a batch of events. This function is the sink of an EventLog.
  void add(std::span<const HalfEvent> events);

  /// Returns the record of a step. Requires a wanted collective, and that the step ran.
  const StepRecord& at(CollectiveId collective, StepRef step) const;

 private:
  std::vector<std::optional<AllSteps<StepRecord>>> tables_;  // per collective
};

/// A half and how long it took. The struct is packed, since a History has one for each half that
/// ran.
struct HalfTook {
  StepRef step;
  uint32_t collective : 31;
  bool sends : 1;   // whether it is the send half
  Duration took;    // from the last cause to the retirement
  Duration flight;  // of the message that a send half sends: from its retirement to the arrival
};

/// Everything that was recorded, each record after its causes.
struct History {
  ChunkedArray<HalfTook> halves;
  ChunkedArray<MomentEvent> moments;

  /// Adds a batch of events. This function is the sink of an EventLog.
  void add(std::span<const HalfEvent> events);
};

/// Runs `timed(EventLog&)`. Afterwards `history` holds exactly the events that it recorded.
template <class Timed>
void record_into(History& history, Timed&& timed) {
  history = {};
  EventLog log([&](std::span<const HalfEvent> halves) { history.add(halves); });
  timed(log);
  log.flush();
  history.moments = std::move(log).moments();
}

}  // namespace orrery
