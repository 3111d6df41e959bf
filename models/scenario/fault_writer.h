#pragma once

// The "faults" of a written scenario.

#include <span>

#include "models/scenario/fault.h"
#include "models/scenario/layout.h"

namespace orrery {

JsonText faults_text(std::span<const Fault> faults, const Fabric& fabric);

}  // namespace orrery
