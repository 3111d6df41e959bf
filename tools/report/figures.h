#pragma once

// Shares computed for display, as doubles.

#include <optional>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "verifier/report.h"

namespace orrery {

/// The device whose compute stream waits longest for collectives; the lowest id on a tie.
struct Exposed {
  LogicalId device;
  Duration exposed;
  size_t lists = 1;  // with ops, that the device runs; `exposed` is the sum over them
  double share = 0;  // of the makespan, taken once for each list
};

/// Empty without times, or with a makespan of 0.
std::optional<Exposed> most_exposed(const Report& report);

/// Bytes that the link carried, over those it could carry in the makespan; empty as above.
std::optional<double> utilization(const Report& report, const LinkReport& link);

}  // namespace orrery
