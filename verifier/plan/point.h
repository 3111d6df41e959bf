#pragma once

// This works out the figures of one point of a plan (models/scenario/plan.h): what its devices hold
// at the peak of their memory, and how its time is spent. They are figures of run() (run.h), which
// is asked for nothing else.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/base/callable.h"
#include "models/base/quantity.h"
#include "models/scenario/plan.h"
#include "models/scenario/scenario.h"
#include "verifier/report.h"
#include "verifier/run.h"

namespace orrery {

/// The bytes of one kind that are held at the peak: "weights", "activations", "transport", ..
struct MemoryOfKind {
  std::string kind;
  Bytes bytes;
  friend bool operator==(const MemoryOfKind&, const MemoryOfKind&) = default;
};

/// The time of what computes longest: of a device, or on a device of several programs of one of
/// them; among equal ones of the first. The parts add up to the makespan.
struct TimeParts {
  Duration compute;  // local ops, without their launches
  Duration launch;   // of local ops
  Duration exposed;  // the compute stream waits for collectives, their launches included
  Duration idle;     // the rest
  friend bool operator==(const TimeParts&, const TimeParts&) = default;
};

struct PointTimes {
  Duration makespan;
  TimeParts parts;
  /// The share of the devices' peak flops that dot_general, attention and compute ops use, for
  /// display. `mfu` is without those that a backward pass computes again: ops of Pass::Again, and
  /// Cost::again of others. `hfu` is with them. They are absent if no such op has flops, or no peak
  /// rate is given.
  std::optional<double> mfu;
  std::optional<double> hfu;
};

struct PointFigures {
  uint32_t devices = 0;
  Bytes peak;                        // of the device that has the largest
  std::vector<MemoryOfKind> memory;  // of that device, the largest first; adds up to the peak
  std::optional<Bytes> capacity;     // of a device
  std::optional<PointTimes> times;   // absent if they are not wanted, or the program does not end
  std::string hangs;                 // why the program does not end; "" if it does
  std::vector<std::string> labels;   // what the figures assume
  std::vector<std::string> unmatched = {};  // patterns of kinds that match no argument
};

/// Works out the figures. Times are wanted if `times_if` says so of the others. Arguments are of
/// the first kind that has a pattern for their name, or else of that of the letters with which the
/// name begins: "w_*" for "w_up". Throws InputError as run() does.
PointFigures figures_of(std::shared_ptr<const Scenario> scenario, std::span<const PlanKind> kinds,
                        const RunOptions& options,
                        FunctionRef<bool(const PointFigures& without_times)> times_if);

}  // namespace orrery
