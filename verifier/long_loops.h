#pragma once

// How a run treats loops that leave out iterations. If the program with all of them is not too
// large, it is run instead, so that every iteration can be queried.

#include <cstdint>
#include <string>
#include <vector>

#include "models/program/program.h"
#include "models/scenario/bounds.h"
#include "simulator/time/completion.h"

namespace orrery {

/// Ops over all devices, each as often as it runs; at most 2^63 - 1.
uint64_t places_with_all_iterations(const Program& program);

/// The message for a program whose ops, each as often as it runs, exceed the limits; else "".
std::string beyond_limits(const Program& program, const Limits& limits);

/// What a report says of iterations that were added up: a line for each loop of the scenario, for
/// the first of its copies in other loops; at most 8 lines, and one with the number of the other
/// loops.
std::vector<std::string> added_labels(const Program& program,
                                      const std::vector<AddedIterations>& added);

}  // namespace orrery
