#pragma once

// The values that iterations of a loop hand to later ones.

#include <map>
#include <string>
#include <vector>

#include "models/program/program.h"

namespace orrery {

/// The values that an iteration of a loop makes and a later iteration reads. Each has its name
/// without the iteration, such as "l.h", which is the same for all iterations. Only of loops that
/// may leave out iterations. Nested loops may all carry one value, so a value may have several such
/// names.
std::map<ValueId, std::vector<std::string>> carried_values(const Program& program);

}  // namespace orrery
