#pragma once

// Makes the schedules of sites: those of the algorithms, with their messages cut to slots where the
// scenario gives the slots of the transport.

#include <cstdint>
#include <memory>
#include <optional>

#include "models/array/work.h"
#include "models/scenario/bounds.h"
#include "models/scenario/scenario.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

struct MadeSchedule {
  /// Uncut if it would have more steps than the limit. It must not be run then.
  std::unique_ptr<const Schedule> schedule;
  uint64_t steps = 0;  // of all nodes, when cut; or some number above Limits::steps
  /// A channel would have 2^31 steps or more. Then it is not cut either.
  bool too_long = false;
};

class ScheduleMaker {
 public:
  ScheduleMaker(const std::optional<TransportBuffers>& transport, const Limits& limits)
      : transport_(transport), most_steps_(static_cast<uint64_t>(limits.steps)) {}

  MadeSchedule make(const Algorithm& algorithm, const ScheduleRequest& request,
                    WorkType work) const;

  /// How often the steps of `whole` run, so that each message fits a slot.
  int64_t iterations(const Schedule& whole, WorkType work) const;

  /// The most elements of one message.
  std::optional<int64_t> largest_message(WorkType work) const;

 private:
  std::optional<TransportBuffers> transport_;
  uint64_t most_steps_;
};

}  // namespace orrery
