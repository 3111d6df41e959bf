#pragma once

// A comparison of two runs for people, and as JSON.

#include <string>

#include "tools/report/difference.h"
#include "tools/report/style.h"

namespace orrery {

std::string difference_text(const RunComparison& comparison, const RunRecord& a, const RunRecord& b,
                            const Style& style);

/// Its keys are a contract with readers of version 1, as are the report's.
std::string difference_json(const RunComparison& comparison, const RunRecord& a,
                            const RunRecord& b);

}  // namespace orrery
