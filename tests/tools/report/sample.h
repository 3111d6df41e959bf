#pragma once

// A small report made by hand, for what renders reports.

#include "verifier/report.h"

namespace orrery::test {

/// Two devices, one psum_scatter started before a computation and done after it. Its figures are
/// round, not simulated: what is tested is how they are written.
Report sample_report();

/// The same where a check fails.
Report failing_report();

}  // namespace orrery::test
