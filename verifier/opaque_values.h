#pragma once

#include <map>
#include <string>

#include "models/program/program.h"

namespace orrery {

/// The values that depend on an opaque computation, each with the name of one.
std::map<ValueId, std::string> opaque_values(const Program& program);

}  // namespace orrery
