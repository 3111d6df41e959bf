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

/// Returns the checks as lines of text, each in full. One that does not hold has its witness.
std::string checks_text(const std::vector<Check>& checks, const Style& style);

/// Returns the checks that fail or are undecided, each in full, with its witness. The text is "" if
/// all hold.
std::string checks_that_do_not_hold(const std::vector<Check>& checks, const Style& style);

/// Returns the checks that hold. A line that counts them says of how many of that name.
std::string checks_that_hold(const std::vector<Check>& checks, const Style& style,
                             ShownChecks shown);

}  // namespace orrery
