#pragma once

// --algorithm OP=ALGORITHM: how the collectives of one op are scheduled where they do not say it.

#include <string>
#include <vector>

#include "models/program/program.h"

namespace orrery {

/// Gives the algorithm to each op of that name, started or not, that names none. Throws InputError
/// for an op that is no collective, an algorithm that does not serve it, and an op that is named
/// twice.
void set_algorithms(Program& program, const std::vector<std::string>& settings);

}  // namespace orrery
