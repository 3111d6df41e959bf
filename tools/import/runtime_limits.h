#pragma once

// Whether a runtime takes an imported algorithm: its limits on steps, counts, thread blocks and
// channels.

#include "tools/import/msccl.h"
#include "tools/import/runtime.h"
#include "verifier/report.h"

namespace orrery {

/// RUNTIME.LIMITS: the first thing of each kind that is beyond a limit. Requires a runtime that has
/// limits.
Check runtime_limits(const MscclAlgorithm& algorithm, const Runtime& runtime);

}  // namespace orrery
