#pragma once

// What a run makes of loops that leave out iterations. A program that is not too large with all of
// them is run as that program, so that everything can be asked of each iteration.

#include <cstdint>
#include <string>

#include "models/program/program.h"
#include "models/scenario/bounds.h"

namespace orrery {

/// Ops over all devices, each as often as it runs; at most 2^63 - 1.
uint64_t places_with_all_iterations(const Program& program);

/// What is said of a program whose ops, each as often as it runs, are beyond the limits; "" where
/// they are not.
std::string beyond_limits(const Program& program, const Limits& limits);

}  // namespace orrery
