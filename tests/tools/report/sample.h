#pragma once

// Makes a small report by hand, for tests of rendering.

#include <vector>

#include "tools/report/json.h"
#include "verifier/report.h"

namespace orrery::test {

/// Returns a report of two devices, with one psum_scatter started before a computation and done
/// after it. The figures are round, not simulated: only their rendering is tested.
Report sample_report();

/// Returns the same report with a failing check.
Report failing_report();

/// Returns the same report as run on a GPU, with the scatter's steps measured.
Report report_on_gpu();

/// Returns the outputs under their own names.
std::vector<NamedValue> outputs(const Report& report);

}  // namespace orrery::test
