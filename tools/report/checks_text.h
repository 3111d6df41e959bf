#pragma once

// Shows the checks of a report as text.

#include <cstdint>
#include <string>
#include <vector>

#include "tools/report/style.h"
#include "verifier/report.h"

namespace orrery {

/// Says whether checks that hold are shown one by one, or one line a name with their count.
enum class ShownChecks : uint8_t { Counted, All };

/// Returns the checks as lines of text. One that does not hold is always shown in full, with its
/// witness.
std::string checks_text(const std::vector<Check>& checks, const Style& style,
                        ShownChecks shown = ShownChecks::All);

}  // namespace orrery
