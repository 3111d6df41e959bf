#pragma once

// This reads a scenario's JSON text, or reports all its errors at once.

#include <optional>
#include <string>
#include <string_view>

#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"

namespace orrery {

/// Reads a scenario. Messages name the text by `file_name`. If `cluster` is given, it replaces the
/// cluster of the text, which is not looked at. The loops of the program are regions
/// (models/program/loop.h), whose iterations are checked too. Throws InputError with all errors,
/// each with its position.
Scenario read_scenario(std::string file_name, std::string_view text, const Limits& limits = {},
                       const std::optional<Cluster>& cluster = {});

/// Reads the file. Throws InputError also if the file cannot be read.
Scenario load_scenario(const std::string& path, const Limits& limits = {},
                       const std::optional<Cluster>& cluster = {});

}  // namespace orrery
