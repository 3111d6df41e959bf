#pragma once

// A small report made by hand, for tests of rendering.

#include <vector>

#include "tools/report/json.h"
#include "verifier/report.h"

namespace orrery::test {

/// Two devices, one psum_scatter started before a computation and done after it. The figures are
/// round, not simulated: only their rendering is tested.
Report sample_report();

/// The same where a check fails.
Report failing_report();

/// The same as run on a GPU, with the scatter's steps measured.
Report report_on_gpu();

/// The outputs under their own names.
std::vector<NamedValue> outputs(const Report& report);

}  // namespace orrery::test
