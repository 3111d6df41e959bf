#pragma once

// The commands that write calibrated clusters share these functions.

#include <optional>
#include <string>
#include <string_view>

namespace orrery {

/// Returns the date of fitted figures: the one asked for, or the day of the run in UTC. Refuses a
/// date that a file cannot hold.
std::string calibration_date(const std::optional<std::string>& asked);

/// Refuses a text that the written file cannot hold.
void require_label(std::string_view option, const std::string& text);

/// Refuses a file that cannot be written, before work that takes minutes.
void require_writable(const std::string& path);

}  // namespace orrery
