#pragma once

// A small report made by hand, for what renders reports.

#include <memory>

#include "verifier/report.h"

namespace orrery::test {

struct Sample {
  std::unique_ptr<Scenario> scenario;  // the report points into it
  Report report;
};

/// Two devices, one psum_scatter started before a computation and done after it. Its figures are
/// round, not simulated: what is tested is how they are written.
Sample sample_report();

/// The same where a check fails.
Sample failing_report();

}  // namespace orrery::test
