#pragma once

// What `orrery calibrate cuda` prints.

#include <span>
#include <string>

#include "tools/calibrate/gpu_fit.h"
#include "tools/report/style.h"

namespace orrery {

/// What was measured where; the fits with their errors; the launch of a graph.
std::string gpu_calibration_text(const cuda::GpuMeasurements& measured,
                                 std::span<const GpuFit> fits, const Style& style);

}  // namespace orrery
