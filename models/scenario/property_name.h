#pragma once

// How a scenario writes the properties that it expects to hold.

#include <string_view>

#include "models/scenario/scenario.h"

namespace orrery {

/// "deadlock_free", "race_free", "no_leak", "proved".
std::string_view property_name(Property property);

}  // namespace orrery
