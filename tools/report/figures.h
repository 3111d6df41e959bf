#pragma once

// Figures that reports work out for display: shares, as doubles.

#include <optional>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "verifier/report.h"

namespace orrery {

/// The device whose compute stream waits longest for collectives; among equals the lowest id.
struct Exposed {
  LogicalId device;
  Duration exposed;
  double share = 0;  // of the makespan
};

/// Empty without times, or with a makespan of 0.
std::optional<Exposed> most_exposed(const Report& report);

/// Bytes of the link over what it could carry in the makespan; empty as above.
std::optional<double> utilization(const Report& report, const LinkReport& link);

}  // namespace orrery
