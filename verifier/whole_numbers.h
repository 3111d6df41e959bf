#pragma once

// Sums of small whole numbers are exact in any order, so that values which would differ on other
// data are equal.

#include <span>

#include "models/program/program.h"
#include "simulator/values/values.h"

namespace orrery {

/// Whether floats are summed behind these values, and all their terms are whole numbers so small
/// that every sum of them is exact. `computed` has the values of all operands.
bool sums_whole_numbers(const Program& program, const DeviceValues& computed,
                        std::span<const ValueId> values);

}  // namespace orrery
