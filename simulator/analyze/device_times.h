#pragma once

// This says how each device's streams spent the makespan. On a device of several lists each figure
// is the sum over the lists, which run side by side, so it may exceed the makespan.

#include <vector>

#include "models/base/id.h"
#include "models/base/quantity.h"

namespace orrery {

struct Completion;
struct Lowered;
struct Program;

struct StreamTime {
  StreamId stream;
  Duration busy;  // in collectives, each from entry to end
  friend bool operator==(const StreamTime&, const StreamTime&) = default;
};

struct DeviceTimes {
  Duration computing;  // the compute stream ran local ops
  /// The compute stream waited for collectives: from reaching a sync collective (launch included)
  /// or a done until it went on.
  Duration exposed;
  std::vector<StreamTime> streams;  // its communication streams, by id
  friend bool operator==(const DeviceTimes&, const DeviceTimes&) = default;
};

/// Returns the times by logical device id.
std::vector<DeviceTimes> device_times(const Program& program, const Lowered& lowered,
                                      const Completion& completion);

}  // namespace orrery
