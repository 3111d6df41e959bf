#pragma once

// What `orrery calibrate` prints.

#include <span>
#include <string>
#include <vector>

#include "tools/calibrate/calibration.h"
#include "tools/report/style.h"

namespace orrery {

/// The figures before and after, the errors by collective and size, with those of the numbers of
/// ranks left out, and the calls that did not fit.
std::string calibration_text(const Calibration& calibration, const Style& style);

}  // namespace orrery
