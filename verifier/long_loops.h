#pragma once

// How a run treats loops that leave out iterations. If the program with all of them is not too
// large, it is run instead, so that every iteration can be queried.

#include <cstdint>
#include <string>

#include "models/program/program.h"
#include "models/scenario/bounds.h"

namespace orrery {

/// Ops over all devices, each as often as it runs; at most 2^63 - 1.
uint64_t places_with_all_iterations(const Program& program);

/// The message for a program whose ops, each as often as it runs, exceed the limits; else "".
std::string beyond_limits(const Program& program, const Limits& limits);

}  // namespace orrery
