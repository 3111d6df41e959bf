#pragma once

// Reads a scenario's JSON text, or reports all its errors at once.

#include <string>
#include <string_view>

#include "models/scenario/bounds.h"
#include "models/scenario/long_loops.h"
#include "models/scenario/scenario.h"

namespace orrery {

/// `file_name` is for messages. Throws InputError with all errors, each with its position.
Scenario read_scenario(std::string file_name, std::string_view text, const Limits& limits = {},
                       LongLoops long_loops = LongLoops::LeftOut);

/// Reads the file. Throws InputError where it cannot be read, too.
Scenario load_scenario(const std::string& path, const Limits& limits = {},
                       LongLoops long_loops = LongLoops::LeftOut);

}  // namespace orrery
