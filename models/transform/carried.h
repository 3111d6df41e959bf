#pragma once

// The values that iterations of a loop hand to later ones.

#include <map>
#include <string>
#include <vector>

#include "models/program/program.h"

namespace orrery {

/// Of the values that an iteration of a loop makes and a later one reads, if the loop may leave out
/// iterations: what they are in it, as "l.h". It is the same for all iterations. A value may be
/// carried by several loops, around each other.
std::map<ValueId, std::vector<std::string>> carried_values(const Program& program);

}  // namespace orrery
