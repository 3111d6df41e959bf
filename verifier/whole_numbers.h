#pragma once

// Sums of small whole numbers are exact in any order, so that values which would differ on other
// data are equal.

#include <span>

#include "models/scenario/scenario.h"

namespace orrery {

/// Whether the values are sums of floats, all made of arrays of whole numbers.
bool sums_whole_numbers(const Scenario& scenario, std::span<const ValueId> values);

}  // namespace orrery
