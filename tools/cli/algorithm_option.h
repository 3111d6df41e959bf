#pragma once

// --algorithm OP=ALGORITHM: how the collectives of one op are scheduled where they do not say it.

#include <map>
#include <string>
#include <vector>

#include "models/program/program.h"

namespace orrery {

/// Gives the algorithm to each op of that name, started or not, that names none. Returns what is
/// wrong with the settings that set no op, by the name of their op. Throws InputError for an op
/// that is no collective, an algorithm that does not serve it, and an op that is named twice.
std::map<std::string, std::string> set_algorithms(Program& program,
                                                  const std::vector<std::string>& settings);

/// Throws InputError, if there are any, with what set_algorithms returned.
void refuse_unused(const std::map<std::string, std::string>& unused);

}  // namespace orrery
