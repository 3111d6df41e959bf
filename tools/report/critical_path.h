#pragma once

// The critical path by itself, op by op, and how far from it the other ops are.

#include <string>

#include "tools/report/style.h"
#include "verifier/report.h"

namespace orrery {

/// Requires a report with times.
std::string critical_path_text(const Report& report, const Style& style);

}  // namespace orrery
