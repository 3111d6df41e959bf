#pragma once

// The results of a run's collectives against their definitions, on each op's actual inputs.

#include <optional>

#include "models/program/program.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/values.h"
#include "verifier/report.h"

namespace orrery {

/// Every group of the site, every member: the result equals the definition applied to the members'
/// actual operands, as exactly as oracle/compare.h asks (VALUES.ORACLE). Otherwise the first group,
/// member and element that is not. The result of a start is what its done gives; a start that is
/// never done has none to compare, and where that is so on all devices there is no check. Requires
/// a run that ended.
std::optional<Check> values_match_definition(const Program& program, const Lowered& lowered,
                                             SiteId site, const DeviceValues& values);

}  // namespace orrery
