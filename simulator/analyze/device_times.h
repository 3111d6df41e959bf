#pragma once

// What each device's streams did with the makespan.

#include <vector>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/program/program.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/completion.h"

namespace orrery {

struct StreamTime {
  StreamId stream;
  Duration busy;  // in its collectives, each from entry to end
  friend bool operator==(const StreamTime&, const StreamTime&) = default;
};

struct DeviceTimes {
  Duration computing;  // its compute stream ran local ops
  /// Its compute stream waited for collectives: from where it reached a sync collective or a done,
  /// launch included, to where it went on.
  Duration exposed;
  std::vector<StreamTime> streams;  // its communication streams, by id
  friend bool operator==(const DeviceTimes&, const DeviceTimes&) = default;
};

/// By logical id.
std::vector<DeviceTimes> device_times(const Program& program, const Lowered& lowered,
                                      const Completion& completion);

}  // namespace orrery
