#pragma once

// Sums of numbers of few bits are exact in any order, so that values which would differ on other
// data are equal.

#include <span>

#include "models/program/program.h"
#include "simulator/values/values.h"

namespace orrery {

/// Whether floats are summed behind these values, and all their terms have so few bits that every
/// sum of them is exact: small whole numbers, or small multiples of 1/16. `computed` has the values
/// of all operands.
bool sums_are_exact(const Program& program, const DeviceValues& computed,
                    std::span<const ValueId> values);

}  // namespace orrery
